package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// remoteServer is an MCP server at an address. It writes nothing: it notes the calls
// that it is asked for.
type remoteServer struct {
	*httptest.Server
	mu    sync.Mutex
	calls []string
}

func newRemoteServer(t *testing.T) *remoteServer {
	r := &remoteServer{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *remoteServer) port() int { return r.Listener.Addr().(*net.TCPAddr).Port }

// seen are the calls so far.
func (r *remoteServer) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.calls, "\n")
}

func (r *remoteServer) ServeHTTP(w http.ResponseWriter, ask *http.Request) {
	body, err := io.ReadAll(ask.Body)
	switch {
	case ask.Header.Get("X-Key") != mcpValue:
		http.Error(w, "no key", http.StatusForbidden)
		return
	case ask.Method != http.MethodPost || err != nil:
		http.Error(w, "no stream", http.StatusMethodNotAllowed)
		return
	case bytes.Contains(body, []byte(`"tools/call"`)):
		r.mu.Lock()
		r.calls = append(r.calls, string(body))
		r.mu.Unlock()
		body = bytes.ReplaceAll(body, []byte(`"tools/call"`), []byte(`"ping"`)) // the answer is empty, and nothing is written
	}
	var answer bytes.Buffer
	if err := testmodel.ServeMCP(bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte(" "))), &answer); err != nil || answer.Len() == 0 {
		w.WriteHeader(http.StatusAccepted) // a notification
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer.Bytes())
}

// A server at an address is reached with its headers, if the policy lets the cell
// reach it; and the guard is asked about its tools like about all others.
func TestAgentsServerByAddress(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, testmodel.Script{})
			if a, err := clients.Of(name); err != nil || a.NoServers != "" {
				s.servers = s.write("home/mcp.json", `{"mcpServers":{"files":{"command":"/bin/true"}}}`)
				if o := s.run([]int{3}); !strings.Contains(o.err, a.NoServers) || len(s.model.Requests()) > 0 {
					t.Errorf("that it takes no servers is not said:\n%s", o.err)
				}
				return
			}
			outside := filepath.Join(s.repo, "by-mcp.txt")
			s.model.Play(playing(t, name, []deed{{kind: mcpTool, path: "mcp.txt", text: "in"}, {kind: mcpTool, path: outside, text: "out"},
				{kind: shellTool, command: `cat /proc/[0-9]*/cmdline | tr '\0' ' ' >src/lines.txt`}}, ""))
			server := newRemoteServer(t)
			s.ports = append(s.ports, server.port())
			s.servers = s.write("home/mcp.json", fmt.Sprintf(`{"mcpServers":{%q:{"type":"http","url":%q,"headers":{"X-Key":%q}}}}`, testmodel.MCPServer,
				server.URL+"/mcp", mcpValue))
			s.run([]int{0})
			seen, results := server.seen(), s.model.Results()
			if !strings.Contains(seen, `"mcp.txt"`) || strings.Contains(seen, "by-mcp.txt") {
				t.Errorf("the server saw %s\nresults: %+v", seen, results)
			}
			if call, _ := spoken(name, deed{kind: mcpTool}); !strings.Contains(s.result(call.Tool, 1).Text, "BLOCKED: ") {
				t.Errorf("it was not refused: %+v", results)
			}
			if lines := s.landedFile("src/lines.txt"); !strings.Contains(lines, string(name)) || strings.Contains(lines, "'key' of") {
				t.Errorf("the command lines are %q", lines)
			}
			if strings.Contains(s.journal(), "'key' of") {
				t.Error("the journal has a value of the server")
			}
		})
	}
}

// Where a client takes servers from its own arguments too, those of both are there.
func TestAgentsOwnServers(t *testing.T) {
	t.Parallel()
	for _, name := range []client.Name{"claude", "codex"} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			own, _ := spoken(name, deed{kind: mcpTool, path: "mcp.txt", text: "own"})
			theirs, _ := spoken(name, deed{kind: mcpTool, path: "remote.txt", text: "given"})
			theirs.Tool = strings.Replace(theirs.Tool, testmodel.MCPServer, "remote", 1)
			s := agentSite(t, name, testmodel.Script{Turns: []testmodel.Turn{testmodel.Do(own), testmodel.Do(theirs), testmodel.Say(lastWords)}})
			s.mcp()
			s.ownMCP()
			server := newRemoteServer(t)
			s.ports = append(s.ports, server.port())
			s.servers = s.write("home/mcp.json", fmt.Sprintf(`{"mcpServers":{"remote":{"url":%q,"headers":{"X-Key":%q}}}}`, server.URL+"/mcp", mcpValue))
			s.run([]int{0})
			if got := s.landedFile("mcp.txt"); got != "own" || !strings.Contains(server.seen(), `"remote.txt"`) {
				t.Errorf("mcp.txt is %q, and the server saw %s\nresults: %+v", got, server.seen(), s.model.Results())
			}
		})
	}
}
