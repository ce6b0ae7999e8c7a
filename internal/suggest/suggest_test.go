package suggest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/audit"
	"cordon/internal/egress/record"
	"cordon/internal/git"
	"cordon/internal/policy"
)

func refused(entries ...string) record.Tally {
	var t record.Tally
	for _, e := range entries {
		t.Tried = append(t.Tried, record.Tried{Verdict: record.Refused, Name: e, Allow: e, Count: 2})
	}
	return t
}

func outside(paths ...string) []audit.Finding {
	var list []audit.Finding
	for _, p := range paths {
		list = append(list, audit.Finding{Change: audit.Change{Path: audit.Path(p), Kind: audit.Modified}, Class: audit.Violation, Rule: outsideRule})
	}
	return list
}

func landed(paths ...string) []audit.Finding {
	var list []audit.Finding
	for _, p := range paths {
		entry := git.Entry{Mode: git.Regular, OID: "x"}
		list = append(list, audit.Finding{Change: audit.Change{Path: audit.Path(p), Kind: audit.Modified, New: entry}, Class: audit.Landing})
	}
	return list
}

func ignored(paths ...string) []audit.Finding {
	list := outside(paths...)
	for i := range list {
		list[i].Ignored, list[i].Kind = true, audit.Added
	}
	return list
}

func values(lines []Line) string {
	var list []string
	for _, l := range lines {
		mark := "+"
		if l.Remove {
			mark = "-"
		}
		list = append(list, mark+l.Key+"="+l.Value)
	}
	return strings.Join(list, " ")
}

func TestFrom(t *testing.T) {
	src := policy.Default()
	src.Filesystem.WriteRoots = []string{"src"}
	open := src
	open.Network.AllowedDomains = []string{"@npm", "a.example.com"}
	open.Network.HostPorts = []int{5432}
	for name, c := range map[string]struct {
		policy policy.Policy
		runs   []Run
		want   string
	}{
		"nothing":            {src, []Run{{ID: "a"}}, ""},
		"presets":            {src, []Run{{ID: "a", Worker: refused("registry.npmjs.org", "a.example.com")}}, "+network.allowed_domains=@npm +network.allowed_domains=a.example.com"},
		"allowed meanwhile":  {open, []Run{{ID: "a", Worker: refused("registry.npmjs.org", "a.example.com", ":5432")}}, ""},
		"ports":              {src, []Run{{ID: "a", Worker: refused(":5432", ":6379")}}, "+network.host_ports=5432 +network.host_ports=6379"},
		"keys of a machine":  {src, []Run{{ID: "a", Worker: refused("169.254.169.254")}}, ""},
		"one file":           {src, []Run{{ID: "a", Findings: outside("docs/guide.md")}}, "+filesystem.write_roots=docs/guide.md"},
		"two in one place":   {src, []Run{{ID: "a", Findings: outside("docs/a.md", "docs/b.md")}}, "+filesystem.write_roots=docs"},
		"over two runs":      {src, []Run{{ID: "a", Findings: outside("docs/a.md")}, {ID: "b", Findings: outside("docs/b.md")}}, "+filesystem.write_roots=docs"},
		"many places":        {src, []Run{{ID: "a", Findings: outside("x/1/a", "x/2/a", "x/3/a", "x/4/a", "x/5/a", "x/6/a")}}, "+filesystem.write_roots=x"},
		"at the top":         {src, []Run{{ID: "a", Findings: outside("a", "b")}}, "+filesystem.write_roots=a +filesystem.write_roots=b"},
		"odd names":          {src, []Run{{ID: "a", Findings: outside("d/*", "d/x\ny", "!z")}}, ""},
		"protected":          {src, []Run{{ID: "a", Findings: []audit.Finding{{Change: audit.Change{Path: ".git/x", Kind: audit.Added}, Class: audit.Violation, Rule: "built-in: .git"}}}}, ""},
		"never lands":        {src, []Run{{ID: "a", Findings: []audit.Finding{{Change: audit.Change{Path: "d/x", Kind: audit.LinkOut}, Class: audit.Violation, Rule: outsideRule}}}}, ""},
		"output":             {src, []Run{{ID: "a", Findings: ignored("build/a.o", "build/sub/b.o", "lib/build/c.o"), Tracked: map[string]bool{"lib": true}}}, "+filesystem.scratch=build +filesystem.scratch=lib/build"},
		"modules":            {src, []Run{{ID: "a", Findings: ignored("web/node_modules/x/i.js"), Tracked: map[string]bool{"web": true}}}, "+filesystem.scratch=**/node_modules"},
		"narrower":           {policy.Default(), []Run{{ID: "a", Findings: landed("src/a")}, {ID: "b", Findings: landed("src/b")}, {ID: "c", Findings: landed("docs/c")}}, "-filesystem.write_roots=. +filesystem.write_roots=docs +filesystem.write_roots=src"},
		"too few runs":       {policy.Default(), []Run{{ID: "a", Findings: landed("src/a")}, {ID: "b", Findings: landed("src/b")}}, ""},
		"file at the top":    {policy.Default(), []Run{{ID: "a", Findings: landed("src/a")}, {ID: "b", Findings: landed("go.mod")}, {ID: "c", Findings: landed("src/c")}}, ""},
		"quarantined counts": {policy.Default(), []Run{{ID: "a", Findings: landed("src/a"), Quarantined: true}, {ID: "b", Findings: landed("src/b")}, {ID: "c", Findings: landed("src/c")}}, ""},
	} {
		lines := From(c.policy, c.runs)
		if got := values(lines); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		for _, l := range lines {
			if l.Reason == "" || len(l.Runs) == 0 {
				t.Errorf("%s: %+v has no reason", name, l)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	runs := []Run{
		{ID: "a", Setup: refused("registry.npmjs.org")},
		{ID: "b", Worker: refused("registry.npmjs.org", "b.example.com"), Quarantined: true},
	}
	lines := From(policy.Default(), runs)
	if len(lines) != 2 || lines[0].Reason != "setup of a was refused registry.npmjs.org 2 times (it also opens registry.yarnpkg.com), and 1 more" ||
		lines[1].Reason != "b was refused it 2 times (in quarantine)" {
		t.Errorf("got %+v", lines)
	}
	if got := Quarantined(lines, runs); !slices.Equal(got, []string{"b"}) {
		t.Errorf("quarantined: %q", got)
	}
}

// TestEdit: whatever form a policy has, what is added holds, the rest stays, and git takes
// the diff.
// A preset opens all of its domains, and the reason names them. One domain of several presets
// is suggested alone.
func TestPresetReason(t *testing.T) {
	var p policy.Policy
	p.Filesystem.WriteRoots = []string{"src"}
	lines := From(p, []Run{{ID: "a", Worker: refused("proxy.golang.org", "storage.googleapis.com", "api.github.com")}})
	if len(lines) != 2 || lines[0].Value != "@go" || lines[1].Value != "api.github.com" ||
		lines[0].Reason != "a was refused proxy.golang.org 2 times, storage.googleapis.com 2 times (it also opens sum.golang.org)" {
		t.Errorf("%+v", lines)
	}
}

func TestEdit(t *testing.T) {
	lines := []Line{
		{Key: roots, Value: ".", Remove: true, Reason: "r"}, {Key: roots, Value: "docs", Reason: "a changed it"},
		{Key: domains, Value: "@npm", Reason: "a was refused it"}, {Key: ports, Value: "5432", Reason: "a was refused it"},
	}
	for name, text := range map[string]string{
		"nothing":  "",
		"version":  "version: 1\n",
		"comments": "# mine\nversion: 1 # one\n\n# roots\nfilesystem:\n  # here\n  write_roots:\n    - \".\" # all\n    - src\n  scratch: [tmp] # private\nacceptance: [\"true\"]\n",
		"flow":     "version: 1\nfilesystem:\n  write_roots: [\".\", src]\nnetwork:\n  host_ports: [80]\n  allowed_domains: []\n",
		"braces":   "version: 1\n# roots\nfilesystem: {write_roots: [\".\", src], scratch: [tmp]} # mine\n# net\nnetwork: {host_ports: [80]}\nacceptance: [\"true\"]\n",
		"wide":     "version: 1\nfilesystem: {\n  write_roots: [src], # mine\n  scratch: [tmp]\n}\n\n# after\nsetup: [\"true\"]\n",
		"long":     "version: 1\nfilesystem:\n  write_roots: [\".\",\n    src]\nsetup: [\"true\"]\n",
	} {
		after, err := Edit([]byte(text), lines)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p, err := policy.Parse("x", after)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, after)
			continue
		}
		if slices.Contains(p.Filesystem.WriteRoots, ".") || !slices.Contains(p.Filesystem.WriteRoots, "docs") ||
			!slices.Contains(p.Network.AllowedDomains, "@npm") || !slices.Contains(p.Network.HostPorts, 5432) {
			t.Errorf("%s: got\n%s", name, after)
		}
		if strings.Contains(text, "src") != slices.Contains(p.Filesystem.WriteRoots, "src") || strings.Count(string(after), "#") < strings.Count(text, "#") {
			t.Errorf("%s: something was lost\n%s", name, after)
		}
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "cordon.yaml"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		apply := exec.Command("git", "apply", "-")
		apply.Dir, apply.Stdin = dir, strings.NewReader(Diff("cordon.yaml", text, string(after), text != ""))
		if out, err := apply.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", name, err, out)
			continue
		}
		if got, err := os.ReadFile(filepath.Join(dir, "cordon.yaml")); err != nil || string(got) != string(after) {
			t.Errorf("%s: the diff gives %v\n%s\nwant\n%s", name, err, got, after)
		}
	}
	for _, text := range []string{"version: 1\nfilesystem: [src]\n", "- a\n", "version: 1\nfilesystem:\n  write_roots: src\n"} {
		if got, err := Edit([]byte(text), lines); err == nil {
			t.Errorf("%q was edited to\n%s", text, got)
		}
	}
}
