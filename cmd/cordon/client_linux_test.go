package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/policy"
	"cordon/internal/reach"
	"cordon/internal/testmodel"
)

// A real client in a cell talks to a model server on a port of this machine that its
// lease names, works, and reaches nothing else.
func TestRealClient(t *testing.T) {
	need(t, "curl")
	s := siteIn(t, awayFromTemp(t))
	program := filepath.Join(s.placed("claude"), "claude")
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") }))
	defer closed.Close()
	script := "printf 'by the client\\n' >src/new.txt; curl -sS -m 60 " + closed.URL + "; echo curl=$?; curl -sS -m 60 https://telemetry.example/; echo curl=$?"
	if out, err := exec.Command("curl", "-sS", closed.URL).Output(); err != nil || string(out) != "reached" {
		t.Fatalf("outside of a cell it is not reached either: %s %v", out, err)
	}
	call, _ := spoken("claude", deed{kind: shellTool, command: script})
	model := testmodel.New(t, testmodel.Script{Turns: []testmodel.Turn{testmodel.Do(call), testmodel.Say(lastWords)}})
	s.write("policy.yaml", fmt.Sprintf("version: 1\nsecrets: [ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, IS_SANDBOX, "+
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC, DISABLE_AUTOUPDATER]\nnetwork:\n  host_ports: [%d]\n", model.Port()))
	s.env = append(s.env, "ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL="+model.URL(), "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	s.share("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "IS_SANDBOX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER")
	o := s.cordon([]int{0}, "run", "--merge", "--policy", s.place("policy.yaml"), "--",
		program, "-p", "make the file", "--setting-sources", "", "--strict-mcp-config", "--dangerously-skip-permissions")
	if !strings.Contains(o.out+o.err, lastWords) {
		t.Errorf("the model's last words are missing:\n%s%s", o.out, o.err)
	}
	if got := s.git("show", "main:src/new.txt"); got != "by the client" {
		t.Errorf("landed %q", got)
	}
	results := model.Results()
	if len(results) != 1 {
		t.Fatalf("the client told of %+v", results)
	}
	result := results[0].Text
	if strings.Contains(result, "reached") || strings.Count(result, "curl=") != 2 || strings.Contains(result, "curl=0") {
		t.Errorf("what the client's shell saw: %s", result)
	}
	for _, want := range []string{fmt.Sprint(model.Port()), "telemetry.example"} {
		if log := s.cordon([]int{0}, "logs", "--net", s.workers()[0].Worker).out; !strings.Contains(log, want) {
			t.Errorf("%s is not in the log:\n%s", want, log)
		}
	}
}

// firstOf is the host that a preset is mainly for.
func firstOf(preset string) string {
	p, ok := policy.PresetNamed(preset)
	if !ok {
		panic("there is no preset " + preset)
	}
	return p.Domains[0].Domain
}

// The presets are enough for what they are for, where the registry can be reached:
// npm ci of a small real project inside a cell.
func TestNpmPreset(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not here")
	}
	s := newSite(t)
	s.write("repo/package.json", `{"name":"small","version":"1.0.0","dependencies":{"is-number":"7.0.0"}}`)
	lock := exec.Command("npm", append([]string{"install", "--package-lock-only"}, testmodel.Npm...)...)
	lock.Dir, lock.Env = s.repo, append(os.Environ(), "npm_config_cache="+s.place("cache"))
	if out, err := lock.CombinedOutput(); err != nil {
		t.Skipf("the registry cannot be reached from here: %v\n%s", err, out)
	}
	s.git("add", ".")
	s.git("commit", "-q", "-m", "a project")
	install := "npm ci " + strings.Join(testmodel.Npm, " ")
	s.write("policy.yaml", "version: 1\nnetwork:\n  allowed_domains: ["+strings.Join(append([]string{`"@npm"`}, s.networksOf(firstOf("@npm"))...), ", ")+"]\n")
	s.cordon([]int{0}, "run", "--merge", "--policy", s.place("policy.yaml"), "--", "sh", "-c", install+" && cp node_modules/is-number/package.json src/proof.json")
	if got := s.git("show", "main:src/proof.json"); !strings.Contains(got, `"is-number"`) {
		t.Errorf("landed %q", got)
	}
	s.write("policy.yaml", "version: 1\nnetwork:\n  allowed_domains: [registry.example.com]\n")
	o := s.cordon([]int{6}, "run", "--merge", "--policy", s.place("policy.yaml"), "--", "sh", "-c", install+" --fetch-retries=0")
	if !strings.Contains(o.out+o.err, firstOf("@npm")) {
		t.Errorf("what was refused is not said:\n%s%s", o.out, o.err)
	}
}

// networksOf are the addresses of a name that are not public, as a policy names
// them: registries are mirrored in private networks.
func (s *site) networksOf(name string) []string {
	addrs, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip", name)
	if err != nil {
		s.t.Skipf("%s has no address here: %v", name, err)
	}
	var list []string
	for _, a := range addrs {
		if !reach.Public(a.Unmap()) {
			list = append(list, a.Unmap().String())
		}
	}
	return list
}
