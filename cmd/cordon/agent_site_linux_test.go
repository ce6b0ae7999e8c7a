package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/testground"
	"cordon/internal/testmodel"
)

func init() {
	programs[mcpProgram] = func() {
		if got := os.Args[1:]; !slices.Equal(got, []string{mcpArg}) || os.Getenv(mcpVariable) != mcpValue {
			fmt.Fprintf(os.Stderr, "the server was given %q, and %s=%s\n", got, mcpVariable, os.Getenv(mcpVariable))
			os.Exit(1)
		}
		if err := testmodel.ServeMCP(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// mcpProgram is the MCP server of the tests: this binary by another name. It works
// only with what its configuration has for it.
const (
	mcpProgram  = "mcp-files"
	mcpArg      = "--an argument"
	mcpVariable = "MCP_FILES_KEY"
	mcpValue    = "a 'key' of the operator's"
)

// changeClients are the clients of .ci/run: one for each of the four wire protocols (claude: Anthropic's, codex: OpenAI's
// responses, gemini: Google's, pi: OpenAI's chat), and for both ways in which a guard is called (a command: the first
// three; code inside the client: pi). Copilot, OpenCode and Qwen repeat these, and run in .ci/full.
var changeClients = []client.Name{"claude", "codex", "gemini", "pi"}

// tested are the clients for a test of what a client does.
func tested() []client.Name {
	if testground.Wanted() == testground.Change {
		return changeClients
	}
	return clients.Names()
}

// quickClients are the clients that start fast.
var quickClients = []client.Name{"codex", "claude"}

// shared are the clients for a test of what cordon does the same way for all of them.
func shared() []client.Name {
	if testground.Wanted() == testground.Full {
		return clients.Names()
	}
	return quickClients
}

// staged is a site with a real client on its PATH and a scripted model for it.
type staged struct {
	*site
	client  client.Name
	model   *testmodel.Model
	args    []string // of the client's, as the operator gives them
	names   []string // of the variables that the client gets
	policy  []string // more lines of the policy's
	ports   []int    // of the machine, that a cell reaches
	server  string   // the MCP server, as most clients name one
	servers string   // the file that names it to cordon
	Prompt  string
	bin     string // where the programs of the clients are
}

// agentSite makes a site for a client that plays a script.
func agentSite(t *testing.T, name client.Name, script testmodel.Script) *staged {
	t.Helper()
	s := &staged{site: siteIn(t, awayFromTemp(t)), client: name, model: testmodel.New(t, script), Prompt: "do what the script says"}
	s.ports = []int{s.model.Port()}
	s.bin = s.placed(string(name))
	s.set("PATH", s.bin+":"+os.Getenv("PATH"))
	for name := range signIns { // the operator of the site has no other account
		s.env = slices.DeleteFunc(s.env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	s.point(points[name])
	return s
}

// awayFromTemp is a directory that ends with the test and that is not below a
// directory for temporary files: several clients treat those as everybody's, and
// Gemini reads no settings there.
func awayFromTemp(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sites := filepath.Join(cache, "cordon-test", "sites")
	if err := os.MkdirAll(sites, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(sites, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("what a client left: %v", err)
		}
	})
	return dir
}

// set gives a variable to the operator.
func (s *staged) set(name, value string) { s.env = append(s.env, name+"="+value) }

// point gives the client the address of the model, the way its operator would.
func (s *staged) point(to point) {
	for name, value := range to.env {
		s.set(name, strings.ReplaceAll(value, "URL", s.model.URL()))
		s.names = append(s.names, name)
	}
	for _, arg := range to.args {
		s.args = append(s.args, strings.ReplaceAll(arg, "URL", s.model.URL()))
	}
	for file, text := range to.files {
		s.write("home/"+file, strings.ReplaceAll(text, "URL", s.model.URL()))
	}
}

// patching chooses a model with which the client has a tool for patches; false where
// it never has.
func (s *staged) patching() bool {
	to, ok := patchPoints[s.client]
	if ok {
		s.args = nil
		s.point(to)
	}
	return ok
}

// mcp gives the client the MCP server of the tests in every run of cordon's.
func (s *staged) mcp() {
	s.t.Helper()
	if _, has := spoken(s.client, deed{kind: mcpTool}); !has {
		return
	}
	program := filepath.Join(s.home, "bin", mcpProgram)
	s.copyTest(program)
	s.server = fmt.Sprintf(`%q:{"command":%q,"args":[%q],"env":{%q:%q}}`, testmodel.MCPServer, program, mcpArg, mcpVariable, mcpValue)
	s.servers = s.write("home/mcp.json", `{"mcpServers":{`+s.server+`}}`)
}

// ownMCP gives the client the server in its own way, for a run without cordon or as a
// command like any other. Gemini has it from its settings.
func (s *staged) ownMCP() {
	s.t.Helper()
	program := filepath.Join(s.home, "bin", mcpProgram)
	switch s.client {
	case "claude":
		s.args = append(s.args, "--mcp-config", `{"mcpServers":{`+s.server+`}}`)
	case "codex":
		s.args = append(s.args, "-c", fmt.Sprintf(`mcp_servers.%s={command=%q,args=[%q],env={%s=%q}}`, testmodel.MCPServer, program, mcpArg, mcpVariable, mcpValue))
	case "copilot":
		s.args = append(s.args, "--additional-mcp-config", `{"mcpServers":{`+strings.TrimSuffix(s.server, "}")+`,"tools":["*"]}}}`)
	case "gemini":
		s.write("home/.gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"mcpServers":{`+s.server+`}}`)
	case "opencode":
		s.point(point{env: map[string]string{"OPENCODE_CONFIG": s.write("home/opencode.json",
			fmt.Sprintf(`{"mcp":{%q:{"type":"local","command":[%q,%q],"environment":{%q:%q},"enabled":true}}}`, testmodel.MCPServer, program, mcpArg,
				mcpVariable, mcpValue))}})
	}
}

// copyTest puts this binary into the home of the site, where a cell shows it.
func (s *staged) copyTest(to string) {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.copyProgram(self, to)
}

// copyProgram copies a program, by another process as the function of that name does.
func (s *staged) copyProgram(from, to string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// runArgs are those of cordon for a run of the client, with the flags of cordon's
// before its name.
func (s *staged) runArgs(flags ...string) []string {
	s.t.Helper()
	s.share(s.names...)
	ports := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.ports), " ", ", "), "[]")
	text := fmt.Sprintf("version: 1\nsecrets: [%s]\nnetwork:\n  host_ports: [%s]\n", strings.Join(s.names, ", "), ports)
	args := []string{"run", "--merge", "--policy", s.site.write("policy.yaml", text+strings.Join(s.policy, "\n")+"\n")}
	if s.servers != "" {
		args = append(args, "--mcp", s.servers)
	}
	args = append(append(args, flags...), string(s.client))
	return append(append(args, s.args...), "--", s.Prompt)
}

// run runs the client in a cell to its end, and wants one of the exit codes.
func (s *staged) run(codes []int, flags ...string) outcome {
	s.t.Helper()
	return s.cordon(codes, s.runArgs(flags...)...)
}

// bare runs the client without cordon, in the operator's own checkout: the positive
// control of what cordon refuses.
func (s *staged) bare() outcome {
	s.t.Helper()
	if _, err := os.Stat(filepath.Join(s.home, ".gemini/settings.json")); err != nil {
		s.write("home/.gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
	}
	if s.server != "" {
		s.ownMCP()
	}
	argv := slices.Concat(bareArgs[s.client].before, s.args, bareArgs[s.client].after, []string{s.Prompt})
	cmd := exec.Command(filepath.Join(installed(s.t), string(s.client)), argv...)
	cmd.Dir = s.repo
	cmd.Env = slices.Concat(s.env, bareArgs[s.client].env, []string{"PWD=" + s.repo}) // OpenCode goes by it
	o := s.try(cmd)
	if o.code != 0 {
		s.t.Fatalf("%s by itself ended with %d (signal %v)\n%s%s", s.client, o.code, o.signal, o.out, o.err)
	}
	return o
}

// result is what came of the n-th call of a tool, from 0.
func (s *staged) result(tool string, n int) testmodel.Result {
	s.t.Helper()
	all := s.model.Results()
	for _, r := range all {
		if r.Tool == tool {
			if n--; n < 0 {
				return r
			}
		}
	}
	s.t.Fatalf("the client told of no such call of %s; it told %+v", tool, all)
	return testmodel.Result{}
}

// told reports whether every request of the main conversation, or of the sub-agent
// with a key, says something: in the instructions, or in the user's name.
func (s *staged) told(sub, text string) bool {
	n := 0
	for _, r := range s.model.Requests() {
		if r.Turn < 0 || r.Sub != sub {
			continue // a title, a choice of a model, another conversation
		}
		if n++; !strings.Contains(r.System+r.User, text) {
			return false
		}
	}
	return n > 0
}

// landedFile is a file on the operator's branch; "" when it is not there.
func (s *staged) landedFile(name string) string {
	s.t.Helper()
	if s.git("ls-tree", "--name-only", "main", "--", name) == "" {
		return ""
	}
	return s.git("show", "main:"+name)
}
