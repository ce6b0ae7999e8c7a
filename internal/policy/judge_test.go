package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

var tree = Location{Worktree: "/home/op/state/wt-1", Home: "/home/op"}

// rulesOf compiles a policy with only the given file system part, which goes
// through Parse first, as it does in cordon.
func rulesOf(t testing.TB, at Location, fs Filesystem) Rules {
	t.Helper()
	p := Default()
	p.Filesystem = fs
	p, err := Parse("test", p.YAML())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compile(p, at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func roots(entries ...string) Filesystem { return Filesystem{WriteRoots: entries} }

func TestJudge(t *testing.T) {
	deny := func(entries ...string) Filesystem { return Filesystem{WriteRoots: []string{"."}, DenyWrite: entries} }
	for _, c := range []struct {
		fs   Filesystem
		path string
		want Class
		rule string
	}{
		// Roots.
		{roots("."), "any/where", Landing, `write_roots "."`},
		{roots("src"), "src", Landing, `write_roots "src"`},
		{roots("src/"), "src/a/b.go", Landing, `write_roots "src"`},
		{roots("s1"), "s10", Violation, "outside write_roots"},
		{roots("s1"), "s10/a", Violation, "outside write_roots"},
		{roots("s1"), "a/s1", Violation, "outside write_roots"},
		{roots("src/a"), "src", Violation, "outside write_roots"},
		{roots("src"), "Src/a", Violation, "outside write_roots"},
		{roots(), "a", Violation, "outside write_roots"},
		{roots("src/*.go"), "src/a.go", Landing, `write_roots "src/*.go"`},
		{roots("src/*.go"), "src/b/a.go", Violation, "outside write_roots"},
		{roots("src/**/*.go"), "src/a.go", Landing, `write_roots "src/**/*.go"`},
		{roots("src/**/*.go"), "src/b/c/a.go", Landing, `write_roots "src/**/*.go"`},
		{roots("src/**/*.go"), "src/b/c/a.md", Violation, "outside write_roots"},
		{roots("a/**/b/**/c"), "a/x/b/b/y/c/z", Landing, `write_roots "a/**/b/**/c"`},
		{roots("a/**/b/**/c"), "a/x/c/y/b", Violation, "outside write_roots"},
		{roots("a[!b]c"), "a/c", Violation, "outside write_roots"},
		{roots("a[!b]c"), "axc", Landing, `write_roots "a[!b]c"`},
		{roots("a?c"), "a/c", Violation, "outside write_roots"},
		{roots("{a,b}/c"), "b/c/d", Landing, `write_roots "{a,b}/c"`},
		{roots("/home/op/state/wt-1/src"), "src/a", Landing, `write_roots "src"`},
		{roots("/home/op/state/wt-1"), "a", Landing, `write_roots "."`},
		{roots("?"), "\xff", Landing, `write_roots "?"`},
		{roots("."), "a\nb\xff", Landing, `write_roots "."`},

		// Not a path in the tree.
		{roots("."), "", Violation, "not a path inside the worktree"},
		{roots("."), ".", Violation, "not a path inside the worktree"},
		{roots("."), "..", Violation, "not a path inside the worktree"},
		{roots("."), "a/../b", Violation, "not a path inside the worktree"},
		{roots("."), "a/./b", Violation, "not a path inside the worktree"},
		{roots("."), "/a", Violation, "not a path inside the worktree"},
		{roots("."), "a//b", Violation, "not a path inside the worktree"},
		{roots("."), "a/", Violation, "not a path inside the worktree"},
		{roots("."), "a\x00b", Violation, "not a path inside the worktree"},

		// Denies.
		{deny(".work/stages/**"), ".work/stages/a", Violation, `deny_write ".work/stages/**"`},
		{deny(".work/stages/**"), ".work/stages", Violation, `deny_write ".work/stages/**"`},
		{deny(".work/stages/**"), ".work/other", Landing, `write_roots "."`},
		{deny(".work"), ".work/deep/x", Violation, `deny_write ".work"`},
		{deny("**/*.pem"), "a/b/k.pem", Violation, `deny_write "**/*.pem"`},
		{deny("a[!b]c"), "a/c", Landing, `write_roots "."`},
		{deny("../../**", "../**", "..", "../../.."), "src/a", Landing, `write_roots "."`},
		{deny("../.worktrees/**"), "src/a", Landing, `write_roots "."`},
		{deny("../wt-1/**", "../wt-1/src", "../*/src"), "src/a", Landing, `write_roots "."`},
		{deny("~/**", "/", "/**", "/home", "~/state/*", "~/state/*/**"), "src/a", Landing, `write_roots "."`},
		{deny("~/state/wt-1/src"), "src/a", Violation, `deny_write "~/state/wt-1/src"`},
		{deny("/home/op/state/wt-1/src/**"), "src/a", Violation, `deny_write "/home/op/state/wt-1/src/**"`},
		{deny("~/**/*.pem"), "a/k.pem", Violation, `deny_write "~/**/*.pem"`},
		{deny("/home/*/state/*/src"), "src/a", Violation, `deny_write "/home/*/state/*/src"`},
		{deny("**"), "a", Violation, `deny_write "**"`},
		{deny("."), "a", Violation, `deny_write "."`},
		{roots(".", "sub/.claude"), ".claude/x", Violation, "built-in: .claude " + startsAgent},
		{roots(".", "sub/.claude"), "sub/.claude/x", Landing, `write_roots "."`},
		{Filesystem{WriteRoots: []string{".claude"}, DenyWrite: []string{".claude"}}, ".claude/x", Violation, `deny_write ".claude"`},

		// Scratch.
		{Filesystem{WriteRoots: []string{"."}, Scratch: []string{"target"}}, "target/x", Scratch, `scratch "target"`},
		{Filesystem{Scratch: []string{"target"}}, "target/x", Scratch, `scratch "target"`},
		{Filesystem{Scratch: []string{"target"}, DenyWrite: []string{"target/x"}}, "target/x", Violation, `deny_write "target/x"`},
		{Filesystem{Scratch: []string{"~/state/wt-1/target", "/home/op/state/wt-1/target"}}, "target/x", Violation, "outside write_roots"},
		{Filesystem{WriteRoots: []string{"."}, Scratch: []string{"**"}}, ".envrc", Violation, `built-in: .envrc runs on the operator's machine when a shell enters the directory`},
		{Filesystem{WriteRoots: []string{"."}, Scratch: []string{"**/.envrc"}}, "a/.envrc", Scratch, `scratch "**/.envrc"`},
		{Filesystem{WriteRoots: []string{".claude"}, Scratch: []string{"**/tmp"}}, ".claude/tmp/x", Scratch, `scratch "**/tmp"`},
	} {
		got := rulesOf(t, tree, c.fs).Judge(c.path)
		if got != (Verdict{c.want, c.rule}) {
			t.Errorf("%+v\n  Judge(%q) = %s by %s, want %s by %s", c.fs, c.path, got.Class, got.Rule, c.want, c.rule)
		}
	}
}

func TestNaming(t *testing.T) {
	for _, c := range []struct {
		root, path string
		want       Class
	}{
		{".", ".claude/settings.json", Violation},
		{"**", ".claude/settings.json", Violation},
		{".cl*", ".claude/settings.json", Violation},
		{"{.claude,x}", ".claude/settings.json", Violation},
		{"[.]claude", ".claude/settings.json", Violation},
		{"*/commands", ".claude/commands", Violation},
		{".claude", ".claude/settings.json", Landing},
		{".claude", ".claude", Landing},
		{".claude/commands", ".claude/commands/x.md", Landing},
		{".claude/commands", ".claude/settings.json", Violation},
		{".claude", "sub/.claude/x", Violation},
		{"**/.claude", "sub/.claude/x", Landing},
		{"sub/.claude", "sub/.claude/x", Landing},
		{"**/.envrc", "a/b/.envrc", Landing},
		{"**/.envrc", ".envrc", Landing},
		{".vscode", ".vscode/tasks.json", Violation},
		{".vscode", ".vscode/extensions.json", Landing},
		{".vscode/*", ".vscode/tasks.json", Violation},
		{".vscode/**/tasks.json", ".vscode/tasks.json", Violation},
		{".vscode/tasks.json", ".vscode/tasks.json", Landing},
		{".claude", ".claude/.envrc", Violation},
		{".claude/.envrc", ".claude/.envrc", Landing},
		{"*.code-workspace", "a.code-workspace", Landing},
		{"a.code-workspace", "a.code-workspace", Landing},
		{"a.*", "a.code-workspace", Violation},
		{"a*.code-workspace", "ab.code-workspace", Violation},
		{"lefthook.yml", "lefthook.yml", Landing},
		{".CLAUDE", ".CLAUDE/x", Landing},
		{".claude", ".CLAUDE/x", Violation},
		{".gitmodules", ".gitmodules", Landing},
		{"cordon.yaml", "cordon.yaml", Landing},
		{".gi[t]", ".git/config", Violation},
		{"**", "a/.git/config", Violation},
		{"git~1", "git~1/config", Violation},
	} {
		if got := rulesOf(t, tree, roots(c.root)).Judge(c.path); got.Class != c.want {
			t.Errorf("root %q: Judge(%q) = %s by %s, want %s", c.root, c.path, got.Class, got.Rule, c.want)
		}
	}
}

// TestProtectedTable takes every row through Judge: denied at any depth and in
// any case, lifted when named (with .git as the exception), and a neighbour
// with nearly the same name is free.
func TestProtectedTable(t *testing.T) {
	whole := rulesOf(t, tree, roots("."))
	for _, row := range Protected() {
		name := strings.NewReplacer("{yml,yaml,toml,json,jsonc}", "yml", "{yaml,yml}", "yaml", "{js,cjs,mjs,json}", "js", "*", "x").Replace(row.Name)
		for _, path := range []string{name, "a/b/" + name, name + "/below", strings.ToUpper(name), strings.ToUpper(name[:2]) + name[2:]} {
			got := whole.Judge(path)
			if got.Class != Violation || !strings.HasPrefix(got.Rule, "built-in: ") {
				t.Errorf("%q: %s by %s", path, got.Class, got.Rule)
			}
		}
		if got := whole.Judge("x" + name + "y"); !strings.Contains(row.Name, "*") && got.Class != Landing {
			t.Errorf("neighbour %q: %s by %s", "x"+name+"y", got.Class, got.Rule)
		}
		if row.Reason == "" || row.Group == "" {
			t.Errorf("%s has no reason or group", row.Name)
		}
		if !row.Never {
			if got := rulesOf(t, tree, roots(name)).Judge(name); got.Class != Landing {
				t.Errorf("%q is named and does not land: %s", name, got.Rule)
			}
		}
	}
}

func TestProtectedDisguises(t *testing.T) {
	whole := rulesOf(t, tree, roots("."))
	for _, path := range []string{".g\u200cit/config", ".GIT/x", "a/.Git", ".envrc\u200d", ".vſcode/tasks.json", ".\ufeffclaude/x"} {
		if got := whole.Judge(path); got.Class != Violation {
			t.Errorf("%q: %s by %s", path, got.Class, got.Rule)
		}
	}
}

func TestJudgeFold(t *testing.T) {
	folding := tree
	folding.Fold = true
	fs := Filesystem{WriteRoots: []string{"Src", "caf\u00e9", "[A-F]x", "stra\u00dfe", "kelvin", "\u01f0", "x?y"}, DenyWrite: []string{"src/Secret"}}
	for _, c := range []struct {
		path        string
		folds, none Class
	}{
		{"Src/a", Landing, Landing},
		{"sRC/a", Landing, Violation},
		{"SRC/SECRET/x", Violation, Violation},
		{"Src/Secret", Violation, Violation}, // a deny folds always
		{"Src/Secre", Landing, Landing},
		{"cafe\u0301/x", Landing, Violation},
		{"CAFE\u0301", Landing, Violation},
		{"bX", Landing, Violation},
		{"STRA\u00dfE", Landing, Violation},
		{"\u212aelvin", Landing, Violation},
		{"J\u030c", Landing, Violation}, // has no single character for its capital
		{"xe\u0301y", Landing, Violation},
		{"\xffsrc", Violation, Violation},
	} {
		if got := rulesOf(t, folding, fs).Judge(c.path); got.Class != c.folds {
			t.Errorf("folding: %q is %s by %s, want %s", c.path, got.Class, got.Rule, c.folds)
		}
		if got := rulesOf(t, tree, fs).Judge(c.path); got.Class != c.none {
			t.Errorf("not folding: %q is %s by %s, want %s", c.path, got.Class, got.Rule, c.none)
		}
	}
}

func TestJudgeLink(t *testing.T) {
	fs := Filesystem{WriteRoots: []string{".", ".vscode/tasks.json"}, DenyWrite: []string{"a/b/c", "d/**/e", "**/*.pem", "../up/**"}, Scratch: []string{"tmp"}}
	r := rulesOf(t, tree, fs)
	for path, want := range map[string]Class{
		"link": Landing, "a/x": Landing, "a/b/x": Landing, "vscode": Landing, "tmp/.vscode": Scratch,
		"a": Violation, "a/b": Violation, "a/b/c": Violation, "d": Violation,
		"gitattributes": Landing, ".gitattributes": Violation, "sub/.GitAttributes": Violation, "a/.gitignore ": Violation, "GITATT~1": Violation,
		".vscode": Violation, "sub/.VSCode": Violation, ".github": Violation, "..": Violation,
	} {
		if got := r.JudgeLink(path); got.Class != want {
			t.Errorf("JudgeLink(%q) = %s by %s, want %s", path, got.Class, got.Rule, want)
		}
	}
	if got := r.Judge("sub/.gitattributes"); got.Class != Landing {
		t.Errorf("positive control: a plain file of attributes is %s by %s", got.Class, got.Rule)
	}
	if got := r.Judge("a/b"); got.Class != Landing {
		t.Errorf("positive control: a directory above a deny is %s by %s", got.Class, got.Rule)
	}
}

func TestZeroRulesRefuse(t *testing.T) {
	for _, path := range []string{"a", "", "src/a.go"} {
		if got := (Rules{}).Judge(path); got != (Verdict{Violation, "no policy was compiled"}) {
			t.Errorf("zero Rules let %q be %s", path, got.Class)
		}
		if got := (Rules{}).JudgeLink(path); got.Class != Violation {
			t.Errorf("zero Rules let the link %q be %s", path, got.Class)
		}
	}
	if !(Class("")).IsViolation() || (Class("")).Lands() || (Class("new")).Lands() || !(Class("new")).IsViolation() {
		t.Error("an unknown class is not a violation")
	}
}

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		fs   Filesystem
		at   Location
		want string
	}{
		{roots("/etc"), tree, `write_roots: "/etc" is outside the worktree (write a path relative to the worktree)`},
		{roots("/"), tree, `write_roots: "/" is outside the worktree (write a path relative to the worktree)`},
		{roots("/home/op/state/wt-10/a"), tree, `write_roots: "/home/op/state/wt-10/a" is outside the worktree (write a path relative to the worktree)`},
		{roots("/home/*/state/wt-1/a"), tree, `write_roots: "/home/*/state/wt-1/a" is outside the worktree (write a path relative to the worktree)`},
		{roots("/home/op/state/wt-1/.git"), tree, `write_roots: ".git" is inside .git (git's own files can never be written by a worker)`},
		{roots("../x"), tree, `write_roots: "../x" leaves the worktree with .. (write a path inside the worktree)`},
		{Filesystem{DenyRead: []string{"~/.ssh"}}, Location{Worktree: "/w"}, `deny_read: "~/.ssh" needs a home directory, and none is known (write an absolute path)`},
		{Filesystem{DenyRead: []string{"@default"}}, Location{Worktree: "/w"}, `deny_read: "@default" needs a home directory, and none is known (write the list out)`},
		{Filesystem{DenyRead: []string{"@else"}}, tree, `deny_read: "@else" begins with @ (write @default for the built-in list, or [@] for a @ that belongs to the name)`},
		{Filesystem{DenyWrite: []string{"[a"}}, tree, `deny_write: "[a" is not a valid glob (close every [ and {; a {a,b} group cannot hold a /)`},
		{roots("."), Location{}, `the worktree "" is not an absolute clean path`},
		{roots("."), Location{Worktree: "rel"}, `the worktree "rel" is not an absolute clean path`},
		{roots("."), Location{Worktree: "/a/../b"}, `the worktree "/a/../b" is not an absolute clean path`},
		{roots("."), Location{Worktree: "/"}, `the worktree is the root of the file system`},
		{roots("."), Location{Worktree: "/w", Home: "h"}, `the home directory "h" is not an absolute clean path`},
	} {
		r, err := Compile(Policy{Filesystem: c.fs}, c.at)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v at %+v:\n got %v\nwant %s", c.fs, c.at, err, c.want)
		}
		if !reflect.DeepEqual(r, Rules{}) {
			t.Errorf("rules came with the error %v", err)
		}
	}
}

func TestExpansion(t *testing.T) {
	odd := Location{Worktree: "/srv/a[1]{x}/w*?", Home: `/home/o\p`}
	r := rulesOf(t, odd, Filesystem{
		WriteRoots: []string{"./b/", "a"},
		ReadRoots:  []string{"/", "~", "lib/*"},
		DenyWrite:  []string{"x/**", "../../**", "../../../../..", "~/.ssh/**", "/srv/**", "/srv/a[1]{x}/w*?/in"},
		DenyRead:   []string{"../.worktrees/**"},
		Scratch:    []string{"target", "/tmp/*"},
	})
	type row struct {
		pattern string
		outside bool
	}
	var got []row
	for _, d := range slices.Concat(r.DenyWrite(), r.DenyRead()) {
		got = append(got, row{d.Pattern, d.Outside})
	}
	want := []row{
		{`/srv/a\[1\]\{x\}/w\*\?/x/**`, false},
		{`/srv/**`, true},
		{`/`, true},
		{`/home/o\\p/.ssh/**`, false},
		{`/srv/**`, true},
		{`/srv/a\[1\]\{x\}/w\*\?/in`, false},
		{`/srv/a\[1\]\{x\}/.worktrees/**`, true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	if got := r.ReadRoots(); !slices.Equal(got, []string{"/", `/home/o\\p`, `/srv/a\[1\]\{x\}/w\*\?/lib/*`}) {
		t.Errorf("read roots %q", got)
	}
	if got := r.ScratchRoots(); !slices.Equal(got, []string{`/srv/a\[1\]\{x\}/w\*\?/target`, "/tmp/*"}) {
		t.Errorf("scratch roots %q", got)
	}
	if got := r.Roots(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("roots %q", got)
	}
	for path, want := range map[string]Class{"x/y": Violation, "in/y": Violation, "a/y": Landing} {
		if got := r.Judge(path); got.Class != want {
			t.Errorf("%s is %s by %s", path, got.Class, got.Rule)
		}
	}
}

func TestDenyCovers(t *testing.T) {
	r := rulesOf(t, tree, Filesystem{DenyWrite: []string{"../../**", "~/.ssh/**", "src"}})
	up, ssh, src := r.DenyWrite()[0], r.DenyWrite()[1], r.DenyWrite()[2]
	for _, c := range []struct {
		deny Deny
		path string
		want bool
	}{
		{up, "/home/op/other", true},
		{up, "/home/op/state/wt-10/x", true},
		{up, "/home/op/state/wt-1/x", false},
		{up, "/home/op/state/wt-1", false},
		{up, "/etc", false},
		{ssh, "/home/op/.ssh/id", true},
		{ssh, "/home/op/.ssh", true},
		{ssh, "/home/op/.sshd", false},
		{src, "/home/op/state/wt-1/src/a", true},
		{src, "/home/op/state/wt-1/lib", false},
		{ssh, "relative", true},
		{ssh, "/a/../b", true},
		{Deny{}, "/a", true},
	} {
		if got := c.deny.Covers(c.path); got != c.want {
			t.Errorf("%s covers %s: %v, want %v", c.deny, c.path, got, c.want)
		}
	}
}

// A link above the end of a ** deny brings its own end along.
func TestJudgeLinkAboveDoubleStar(t *testing.T) {
	p := Default()
	p.Filesystem.DenyWrite = []string{"**/prod/deploy.sh", "infra/**/live/keys/**", "**/*.pem"}
	r, err := Compile(p, Location{Worktree: "/w/tree", Home: "/home/x"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Class{
		"app/prod":            Violation,
		"prod":                Violation,
		"app/product":         Landing,
		"infra/eu/live":       Violation,
		"infra/live":          Violation,
		"other/live":          Landing,
		"app/link":            Landing, // *.pem says nothing about what is above it
		"infra/eu/live/other": Landing,
	} {
		if got := r.JudgeLink(path); got.Class != want {
			t.Errorf("JudgeLink(%q) = %s by %s, want %s", path, got.Class, got.Rule, want)
		}
	}
}

// An ignored path is judged without the built-in names, but not without .git and
// not without the policy's own denies.
func TestJudgeIgnored(t *testing.T) {
	p := Default()
	p.Filesystem.WriteRoots = []string{"src", ".claude"}
	p.Filesystem.DenyWrite = []string{"src/secret"}
	r, err := Compile(p, Location{Worktree: "/w/tree", Home: "/home/x"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Class{
		"src/.envrc":        Landing,
		"src/.idea/x":       Landing,
		"src/.git/config":   Violation,
		"src/git~1/config":  Violation,
		"src/secret/.envrc": Violation,
		"docs/.envrc":       Violation, // outside the write roots
		"src/plain":         Landing,
		"../x":              Violation,
	} {
		if got := r.JudgeIgnored(path); got.Class != want {
			t.Errorf("JudgeIgnored(%q) = %s by %s, want %s", path, got.Class, got.Rule, want)
		}
	}
	if got := (Rules{}).JudgeIgnored("src"); got.Class != Violation {
		t.Errorf("zero Rules let an ignored path be %s", got.Class)
	}
}
