package agent_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"cordon/internal/client"

	. "cordon/internal/agent"
	"cordon/internal/agent/clients"
)

// twoServers are a program and an address.
const twoServers = `{"mcpServers": {
	"web": {"type": "http", "url": "https://mcp.example.com/v1?x=1&y", "headers": {"Authorization": "Bearer k-1", "X-A": "a\"b"}},
	"my-files_2": {"command": "/opt/bin/files", "args": ["--root", "a b", "\"q\""], "env": {"KEY": "v=1 \\ 'x'", "A": ""}}
}}`

func TestParseServers(t *testing.T) {
	got, err := ParseServers([]byte(twoServers))
	want := []Server{
		{Name: "my-files_2", Command: "/opt/bin/files", Args: []string{"--root", "a b", `"q"`}, Env: map[string]string{"KEY": `v=1 \ 'x'`, "A": ""}},
		{Name: "web", URL: "https://mcp.example.com/v1?x=1&y", Headers: map[string]string{"Authorization": "Bearer k-1", "X-A": `a"b`}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	one := func(name, server string) string { return `{"mcpServers":{"` + name + `":` + server + `}}` }
	for text, why := range map[string]string{
		"":                             "not an object",
		`[]`:                           "not an object",
		one("a", `{"command":`):        "not an object",
		twoServers + "{}":              "not an object",
		`{"mcpServers":{}}`:            "no server",
		`{"mcpServers":[]}`:            "not an object",
		`{"servers":{}}`:               `only key is "mcpServers"`,
		`{"mcpServers":{},"x":1}`:      `only key is "mcpServers"`,
		`{"mcpservers":{"a":null}}`:    `only key is "mcpServers"`,
		one("", `{"command":"x"}`):     "a name is",
		one("a b", `{"command":"x"}`):  "a name is",
		one("a.b", `{"command":"x"}`):  "a name is",
		one("a__b", `{"command":"x"}`): "a name is",
		one("a_", `{"command":"x"}`):   "a name is",
		one("é", `{"command":"x"}`):    "a name is",
		`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`: "twice",
		one("a", `{"command":"x","command":"y"}`):                  "twice",
		one("a", `{"command":"x","env":{"A":"1","A":"2"}}`):        "twice",
		one("a", `null`):                                           "not an object",
		one("a", `{}`):                                             `no "command"`,
		one("a", `{"command":" "}`):                                `no "command"`,
		one("a", `{"args":["x"]}`):                                 `no "command"`,
		one("a", `{"Command":"x"}`):                                "not known",
		one("a", `{"command":"x","cwd":"/"}`):                      "not known",
		one("a", `{"command":"x","trust":true}`):                   "not known",
		one("a", `{"command":["x"]}`):                              "not text",
		one("a", `{"command":null}`):                               "not text",
		one("a", `{"command":"x\u0000y"}`):                         "not text",
		one("a", `{"command":"x","args":"y"}`):                     "not a list",
		one("a", `{"command":"x","args":[1]}`):                     "not text",
		one("a", `{"command":"x","args":[null]}`):                  "not text",
		one("a", `{"command":"x","env":{"A":1}}`):                  "not text",
		one("a", `{"command":"x","env":{"A=B":"1"}}`):              "not the name of a variable",
		one("a", `{"command":"x","env":[]}`):                       "not an object",
		one("a", `{"command":"x","url":"http://h"}`):               "or",
		one("a", `{"command":"x","headers":{}}`):                   "or",
		one("a", `{"url":"http://h","env":{}}`):                    "or",
		one("a", `{"command":"x","type":"http"}`):                  `"type"`,
		one("a", `{"url":"http://h","type":"sse"}`):                `"type"`,
		one("a", `{"url":"ftp://h"}`):                              "http or https",
		one("a", `{"url":"file:///etc/passwd"}`):                   "http or https",
		one("a", `{"url":"http://"}`):                              "http or https",
		one("a", `{"url":"h/x"}`):                                  "http or https",
		one("a", `{"headers":{}}`):                                 "http or https",
		one("a", `{"url":"http://h","headers":{"A":"x\r\nB: y"}}`): "not a header",
		one("a", `{"url":"http://h","headers":{"A b":"x"}}`):       "not a header",
	} {
		if got, err := ParseServers([]byte(text)); err == nil || got != nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %+v, %v; want %s", text, got, err, why)
		}
	}
}

// TestServerKits: each client is given the same servers by its own means.
func TestServerKits(t *testing.T) {
	servers, err := ParseServers([]byte(twoServers))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range clients.Names() {
		o := order(n)
		o.Managed, o.Version, o.Servers = true, Version{1, 2, 3}, servers
		o.Briefing, o.Rules = "", Rules{Tree: "/w/tree", Write: []string{"."}}
		if a, err := clients.Of(n); err != nil || a.NoServers != "" {
			if _, refused := a.Kit(o); refused == nil || !strings.Contains(refused.Error(), a.NoServers) {
				t.Errorf("%s: %v, %v", n, refused, err)
			}
			continue
		}
		goldenKit(t, string(n)+"_servers", o)
	}
}

// TestServerReplaced: a server of the machine's that has the name of one of the
// operator's is not mixed with it, and the others stay.
func TestServerReplaced(t *testing.T) {
	for n, row := range map[client.Name]struct{ key, file string }{"gemini": {"mcpServers", "gemini.json"}, "opencode": {"mcp", "opencode.json"}} {
		a, err := clients.Of(n)
		if err != nil {
			t.Fatal(err)
		}
		o := order(n)
		o.Managed, o.Servers = true, []Server{{Name: "a", URL: "http://own"}}
		o.Machine = map[string][]byte{a.Managed[0]: []byte(`{"` + row.key + `":{"a":{"command":"theirs"},"b":{"command":"b"}}}`)}
		k, err := a.Kit(o)
		if err != nil {
			t.Fatal(err)
		}
		var settings map[string]any
		if err := json.Unmarshal([]byte(textOf(k, row.file)), &settings); err != nil {
			t.Fatal(err)
		}
		if Inside(settings, row.key, "a", "command") != nil || Inside(settings, row.key, "b", "command") != "b" {
			t.Errorf("%s: %v", n, settings[row.key])
		}
	}
}

// TestServerSecrets: where a client reads a file, what a server is given is on no
// command line.
func TestServerSecrets(t *testing.T) {
	for _, n := range clients.Names() {
		if n == "codex" {
			continue // it has no other way
		}
		a, err := clients.Of(n)
		if err != nil {
			t.Fatal(err)
		}
		if a.NoServers != "" {
			continue
		}
		o := order(n)
		o.Servers = []Server{{Name: "a", Command: "x", Env: map[string]string{"K": "a-secret"}}}
		k, err := a.Kit(o)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(k.Argv, " "), "a-secret") || !strings.Contains(string(printed(k)), "a-secret") {
			t.Errorf("%s", printed(k))
		}
	}
}
