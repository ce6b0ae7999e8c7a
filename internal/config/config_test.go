package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"cordon/internal/agent/facts"
	"cordon/internal/testschema"
)

var update = flag.Bool("update", false, "write schema.json and the table of docs/config.md")

const full = `version: 1
identity: {name: Ada Lovelace, email: ada@example.com}
client: ""
signing: off
land:
  as: rebase
  author: operator
  coauthor: "{name} ({client}) <{id}@agents.example.com>"
  hooks: run
  then: [git, push, origin, "${CORDON_COMMIT}:refs/heads/$CORDON_TARGET"]
rights:
  filesystem: {deny_read: [~/private], deny_write: [infra, ../**]}
  network: {allowed_domains: ["@npm", "*.example.com:8443", 10.0.0.0/8], host_ports: [5432]}
  secrets: [NPM_TOKEN]
  limits: {time: 2h, memory: 8GiB, processes: 100, disk: none}
  isolation: strict
  gate: {land: review, attempts: 2}
notify:
  terminal: false
  desktop: true
  command: [/usr/bin/logger, -t, cordon]
  webhook: {url: "https://hooks.example.com/x?y=1", secret: webhook.key}
  merged: true
  text: true
`

var good = []string{
	full, "{}", "version: 1", "fleet: {at_most: [" + facts.All()[0].Name + "=4], results: 0}", "fleet: {at_most: [openai=2, google=1]}", "fleet: {acceptance: home}", "fleet: {acceptance: node}", "land: {then: []}", "land: {coauthor: ''}", "notify: {webhook: {url: '', secret: ''}}",
	"notify: {webhook: {url: 'http://127.0.0.1:8080/hook', secret: k}}", "notify: {webhook: {url: 'http://[::1]/', secret: k}}", "signing: 'off'",
	"client: " + facts.All()[0].Name, "rights: {network: {allowed_domains: [any], host_ports: [any]}, secrets: [any], limits: {time: none, processes: none}}",
	"rights: {network: {allowed_domains: [], host_ports: []}, secrets: []}", "land: {as: policy}",
	"land: {then: [gh, '--title=$CORDON_SUBJECT', '${CORDON_SUBJECT}', 'x for $CORDON_TARGET']}",
	"land: {then: [sh, -c, 'echo \"$CORDON_SUBJECT\" | tr a b']}", "land: {then: [nice, bash, -lc, 'echo \"$0\"', $CORDON_SUBJECT]}",
}

var mistakes = []struct{ text, want string }{
	{"", "c:1:1: the configuration is empty (delete the file to use the defaults, or write version: 1)"},
	{"version: 2", "c:1:10: expected version 1, not the number 2 (write version: 1)"},
	{"lnad: {as: squash}", `c:1:1: unknown key "lnad" (did you mean land?)`},
	{"then: [a]", `c:1:1: unknown key "then" (then belongs under land)`},
	{"land:\n  as: sqush", `c:2:7: expected policy, squash, history or rebase, not the text "sqush" (did you mean squash?)`},
	{"rights: {network: {allowed_domains: ['https://a.com/']}}", `c:1:38: "https://a.com/" is a URL, not a host (write the host alone, such as api.example.com)`},
	{"rights: {network: {host_ports: [any, 80]}}", `c:1:33: expected a port, not the text "any" (write a number from 1 to 65535)`},
	{"rights: {limits: {memory: auto}}", `c:1:27: "auto" is not a size (write one whole number and one unit, such as 512MiB or 2GB, or none)`},
	{"rights: {write_roots: []}", `c:1:10: unknown key "write_roots" (the keys here are filesystem, network, secrets, limits, isolation, cell, agent, gate)`},
	{"rights: {gate: {land: never}}", `c:1:23: expected auto, careful or review, not the text "never"`},
	{"land: {author: me}", `c:1:16: expected agent or operator, not the text "me"`},
	{"land: {hooks: true}", `c:1:15: expected skip or run, not the boolean true`},
	{"signing: on", `c:1:10: expected auto or off, not the text "on"`},
	{"land: {then: git push}", `c:1:14: expected a list, not the text "git push" (write the program and each argument as an entry of its own; no shell reads them)`},
	{"land: {then: [git push]}", `c:1:15: "git push" has a blank in it (write the program and each argument as an entry of its own; no shell reads them)`},
	{"land: {then: [./push]}", `c:1:15: "./push" is a relative path (write a name that is looked up in PATH, or an absolute path)`},
	{"land: {then: ['']}", `c:1:15: "" is not a program (the first entry is its name or its absolute path)`},
	{"land: {then: [git, 5]}", `c:1:20: expected text, not the number 5 (quote it: "5")`},
	{"land: {then: [git, push, $CORDON_TARGETS]}", `c:1:26: "CORDON_TARGETS" is not a variable here (the variables are CORDON_ID, CORDON_TARGET, CORDON_COMMIT, CORDON_PREVIOUS, CORDON_REPOSITORY, CORDON_SUBJECT)`},
	{"land: {then: [ssh, host, 'echo $CORDON_SUBJECT']}", `c:1:26: CORDON_SUBJECT holds words of the agent, and a program may take them for commands in ` +
		`"echo $CORDON_SUBJECT" (make $CORDON_SUBJECT an argument of its own, or read it from the environment)`},
	{"land: {then: [sh, -c, $CORDON_SUBJECT]}", `c:1:23: CORDON_SUBJECT holds words of the agent, and a program may take them for commands in ` +
		`"$CORDON_SUBJECT" (make $CORDON_SUBJECT an argument of its own, or read it from the environment)`},
	{"notify: {command: [osascript, -e, 'display notification \"${CORDON_MESSAGE}\"']}", `c:1:35: CORDON_MESSAGE holds words of the agent, and a program may ` +
		`take them for commands in "display notification \"${CORDON_MESSAGE}\"" (make $CORDON_MESSAGE an argument of its own, or read it from the environment)`},
	{"land: {coauthor: agent}", `c:1:18: "agent" is not a name and an address (write "{name} <{email}>", or "" for no trailer)`},
	{"land: {coauthor: '{who} <a@b>'}", `c:1:18: "{who} <a@b>" has an unknown placeholder (the placeholders are {name}, {email}, {client} and {id})`},
	{"identity: {name: 'a <b>'}", `c:1:18: "a <b>" cannot stand in a commit (leave out <, >, line breaks and blanks at either end)`},
	{"fleet: {at_most: [" + facts.All()[0].Name + "]}", `c:1:19: "` + facts.All()[0].Name + `" is not CLIENT=NUMBER or PROVIDER=NUMBER (name each once, with a number from 1)`},
	{"fleet: {at_most: [anthropic=6, antropic=6]}", `c:1:32: "antropic" is neither an agent client nor a provider that cordon knows (did you mean anthropic?)`},
	{"fleet: {at_most: [acme=6]}", `c:1:19: "acme" is neither an agent client nor a provider that cordon knows (the clients are ` + clientNames() +
		`; the providers are also anthropic, openai, google, openrouter)`},
	{"client: vim", `c:1:9: "vim" is not an agent client that cordon knows (the clients are ` + clientNames() + `)`},
	{"notify: {webhook: {url: 'http://example.com', secret: k}}", `c:1:25: "http://example.com" would be sent unencrypted (write https://, or http:// for this machine alone: 127.0.0.1, [::1] or localhost)`},
	{"notify: {webhook: {url: example.com, secret: k}}", `c:1:25: "example.com" is not a URL (write https://HOST/PATH)`},
	{"notify: {webhook: {url: 'https://a:b@example.com/', secret: k}}", `c:1:25: the URL has a user, a password or a fragment (write https://HOST/PATH; the request is signed with notify.webhook.secret)`},
	{"notify: {webhook: {secret: ../k}}", `c:1:28: "../k" is not the name of a file (put the file next to config.yaml, where no worker can read it, and write its name alone)`},
	{"notify:\n  webhook:\n    url: https://example.com/", `c:3:1: notify.webhook has no secret (write a random text into a file next to config.yaml, and its name here: receivers check the signature with it)`},
}

// inexpressible are the mistakes that a JSON Schema does not see.
var inexpressible = map[string]bool{
	"land: {coauthor: '{who} <a@b>'}":                                                  true,
	"notify:\n  webhook:\n    url: https://example.com/":                               true,
	"land: {then: [git, push, $CORDON_TARGETS]}":                                       true,
	"land: {then: [ssh, host, 'echo $CORDON_SUBJECT']}":                                true,
	"land: {then: [sh, -c, $CORDON_SUBJECT]}":                                          true,
	"notify: {command: [osascript, -e, 'display notification \"${CORDON_MESSAGE}\"']}": true,
	"fleet: {at_most: [anthropic=6, antropic=6]}":                                      true,
	"fleet: {at_most: [acme=6]}":                                                       true,
	"signing: on":                                                                      false,
	"notify: {webhook: {url: 'https://a:b@example.com/', secret: k}}":                  false,
}

// TestBounds: a name of fleet.at_most that a client and a provider have is the client's.
func TestBounds(t *testing.T) {
	c, _, err := Parse("c", []byte("fleet: {at_most: [claude=4, anthropic=6, opencode=2]}"))
	if err != nil {
		t.Fatal(err)
	}
	clients, providers := c.Fleet.Bounds()
	if !maps.Equal(clients, map[string]int{"claude": 4, "opencode": 2}) || !maps.Equal(providers, map[string]int{"anthropic": 6}) {
		t.Errorf("%v, %v", clients, providers)
	}
}

func clientNames() string {
	var names []string
	for _, c := range facts.All() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func TestParse(t *testing.T) {
	c, given, err := Parse("c", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if c.Land.As != Rebase || c.Identity.Email != "ada@example.com" || len(c.Land.Then) != 4 || given["land.as"] != 6 || given["notify.webhook.url"] != 22 {
		t.Errorf("%+v %v", c, given)
	}
	if got := c.Land.CoAuthor.For(Agent{Name: "worker", Client: "x", Worker: "calm-otter"}); got != "worker (x) <calm-otter@agents.example.com>" {
		t.Error(got)
	}
	for _, text := range good {
		c, _, err := Parse("c", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if again, _, err := Parse("c", c.YAML()); err != nil || !bytes.Equal(again.YAML(), c.YAML()) {
			t.Errorf("the canonical form of %s reads differently: %v", text, err)
		}
	}
	for _, m := range mistakes {
		if c, _, err := Parse("c", []byte(m.text)); err == nil || err.Error() != m.want || c.Version != 0 {
			t.Errorf("%s:\ngot  %v\nwant %s", m.text, err, m.want)
		}
	}
}

func TestSettings(t *testing.T) {
	c, given, err := Parse("c", []byte("land:\n  then: [git, push]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range Settings(c, given) {
		if s.Line > 0 {
			lines = append(lines, s.Key+"="+s.Value)
		}
	}
	if got := strings.Join(lines, " "); got != `land.then=["git", "push"]` {
		t.Error(got)
	}
}

// TestSchemaIsGenerated fails when schema.json is out of date. With -update it writes it.
func TestSchemaIsGenerated(t *testing.T) {
	values, err := os.ReadFile(filepath.Join("testdata", "schema_values.json"))
	if err != nil {
		t.Fatal(err)
	}
	values = bytes.Replace(values, []byte(`"@CLIENTS"`), []byte(`"`+strings.ReplaceAll(clientNames(), ", ", `", "`)+`"`), 1)
	want, err := testschema.Generate(`"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:cordon:config:1","title":"cordon configuration",`+
		`"description":"What the operator decided for all repositories. A missing key has its default."`, fieldTable(), Default(), values)
	if err != nil {
		t.Fatal(err)
	}
	current(t, "schema.json", want)
}

// TestConfigPage fails when the table of docs/config.md is out of date.
func TestConfigPage(t *testing.T) {
	const page, begin, end = "../../docs/config.md", "<!-- generated: keys -->\n", "<!-- end: keys -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("%s has no part between %q and %q", page, begin, end)
	}
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	var rows func(prefix string, fields []field)
	rows = func(prefix string, fields []field) {
		for _, f := range fields {
			if f.Fields != nil {
				rows(prefix+f.Key+".", f.Fields)
				continue
			}
			b.WriteString("| `" + prefix + f.Key + "` | `" + f.Show(Default()).Line() + "` | " + strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(f.Doc) + " |\n")
		}
	}
	rows("", fieldTable())
	current(t, page, []byte(head+begin+b.String()+end+tail))
}

func current(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run go test ./internal/config -update", file)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSchemaAgrees(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	accepts := func(text string) bool {
		var v any
		if yaml.Unmarshal([]byte(text), &v) != nil {
			return false
		}
		data, err := json.Marshal(v)
		if err != nil {
			return false
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		return err == nil && s.Validate(value) == nil
	}
	for _, text := range good {
		if !accepts(text) {
			t.Errorf("the schema refuses %s", text)
		}
	}
	for _, m := range mistakes {
		if accepts(m.text) != inexpressible[m.text] {
			t.Errorf("the schema accepts: %v, for %q", accepts(m.text), m.text)
		}
	}
}

func TestWithClient(t *testing.T) {
	c := Config{Client: "x"}
	for _, one := range []struct{ given, want string }{
		{"fix the build", "x|--|fix the build"}, {"word", "word"}, {" word ", " word "}, {"y|--|do it", "y|--|do it"}, {"y|do it", "y|do it"},
	} {
		if got := strings.Join(c.WithClient(strings.Split(one.given, "|")), "|"); got != one.want {
			t.Errorf("%s: %s, want %s", one.given, got, one.want)
		}
	}
	if got := (Config{}).WithClient([]string{"fix the build"}); len(got) != 1 {
		t.Error(got)
	}
}
