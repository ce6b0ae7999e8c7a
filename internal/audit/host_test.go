package audit

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// host is a repository of an operator's with one commit and a checkout.
func host(t *testing.T) git.Host {
	t.Helper()
	bin, err := git.Find(t.Context())
	must(t, err)
	top := filepath.Join(t.TempDir(), "host")
	must(t, os.Mkdir(top, 0o755))
	repo, err := git.Init(t.Context(), bin, top, git.InitOptions{Format: git.SHA1, Branch: "main"})
	must(t, err)
	blob, err := repo.PutBlob(t.Context(), strings.NewReader("a"))
	must(t, err)
	tree, err := repo.PutTree(t.Context(), []git.File{{Path: "a", Entry: git.Entry{Mode: git.Regular, OID: blob}}})
	must(t, err)
	commit, err := repo.CommitTree(t.Context(), tree, nil, "base", git.Person{Name: "me", Email: "me@example.com"})
	must(t, err)
	must(t, repo.SetRefs(t.Context(), []git.Ref{{Name: "refs/heads/main", OID: commit}}, "base"))
	plant(t, top, map[string]string{"a": "a"})
	h, err := git.Discover(t.Context(), bin, top)
	must(t, err)
	return h
}

// baseline is a state as it is read back when the worker has ended.
func baseline(t *testing.T, h git.Host) *HostState {
	t.Helper()
	s, err := CaptureHost(t.Context(), h, Deep)
	must(t, err)
	text, err := json.Marshal(s)
	must(t, err)
	var back HostState
	must(t, json.Unmarshal(text, &back))
	return &back
}

func compare(t *testing.T, h git.Host, before *HostState, x Expected) []Finding {
	t.Helper()
	after, err := CaptureHost(t.Context(), h, Deep)
	must(t, err)
	return CompareHost(t.Context(), h.Repo, before, after, x)
}

// Nothing changed is nothing found, whatever bytes are in the names.
func TestTripwireKnowsItsOwnBaseline(t *testing.T) {
	h := host(t)
	plant(t, h.Dir, map[string]string{"hooks/h\xff": "1", "hooks/l": "->to\xff", "refs/heads/r\xff": ""})
	main, err := h.Ref(t.Context(), "refs/heads/main")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(h.Dir, "refs/heads/r\xff"), []byte(main+"\n"), 0o644))
	plant(t, h.Top, map[string]string{"u\xff": "1", "dirty\nname": "->x\xff"})
	before := baseline(t, h)
	if found := compare(t, h, before, Expected{}); len(found) > 0 {
		t.Fatalf("found %+v", found)
	}
	// The control: each of them is watched.
	plant(t, h.Dir, map[string]string{"hooks/h\xfe": "1"})
	must(t, os.WriteFile(filepath.Join(h.Top, "u\xff"), []byte("2"), 0o644))
	if found := compare(t, h, before, Expected{}); len(found) != 2 {
		t.Errorf("found %+v", found)
	}
}

func TestTripwireWatches(t *testing.T) {
	for name, c := range map[string]struct {
		act   func(t *testing.T, h git.Host)
		path  string // of the finding; "" for none
		grave bool
	}{
		"a hook":            {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"hooks/post-merge": "x"}) }, ".git/hooks/post-merge", true},
		"attributes":        {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"info/attributes": "x"}) }, ".git/info/attributes", true},
		"grafts":            {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"info/grafts": "x"}) }, ".git/info/grafts", true},
		"a shallow file":    {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"shallow": ""}) }, ".git/shallow", true},
		"alternates":        {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"objects/info/alternates": ""}) }, ".git/objects/info/alternates", true},
		"a submodule":       {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"modules/a/b/config": "x"}) }, ".git/modules/a/b/config", true},
		"behind a link":     {func(t *testing.T, h git.Host) { plant(t, h.Top, map[string]string{".git/shared/pre-push": "x"}) }, ".git/hooks/linked/pre-push", true},
		"hooks of its path": {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"tracked/pre-push": "x"}) }, "/tracked/pre-push", true},
		"an included file": {func(t *testing.T, h git.Host) {
			plant(t, h.Top, map[string]string{"../outside.conf": "[core]\n\tpager = x\n"})
		}, "/outside.conf", true},
		"a rebase": {func(t *testing.T, h git.Host) {
			plant(t, h.Dir, map[string]string{"rebase-merge/git-rebase-todo": "exec evil"})
		}, ".git/rebase-merge/git-rebase-todo", false},
		"a stash":    {func(t *testing.T, h git.Host) { plant(t, h.Dir, map[string]string{"logs/refs/stash": "x"}) }, ".git/logs/refs/stash", false},
		"a new file": {func(t *testing.T, h git.Host) { plant(t, h.Top, map[string]string{"new": "x"}) }, "/new", false},
		"what gc writes": {func(t *testing.T, h git.Host) {
			plant(t, h.Dir, map[string]string{"info/refs": "x", "objects/info/packs": "x"})
		}, "", false},
	} {
		h := host(t)
		plant(t, h.Dir, map[string]string{"modules/a/b/HEAD": "ref: refs/heads/x\n", "shared/": "", "tracked/": "", "hooks/linked": "->../shared"})
		config, err := os.ReadFile(filepath.Join(h.Dir, "config"))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(h.Dir, "config"), append(config, "[core]\n\thooksPath = .git/tracked\n[include]\n\tpath = "+
			"../../outside.conf\n"...), 0o644))
		before := baseline(t, h)
		c.act(t, h)
		for _, works := range []bool{false, true} {
			found := compare(t, h, before, Expected{OperatorWorks: works})
			if c.path == "" {
				if len(found) > 0 {
					t.Errorf("%s: found %+v", name, found)
				}
				continue
			}
			if len(found) != 1 || !strings.HasSuffix(string(found[0].Path), c.path) {
				t.Errorf("%s: found %+v", name, found)
				continue
			}
			if want := !works || c.grave; (found[0].Class == Violation) != want {
				t.Errorf("%s is %s while the operator works: %v", name, found[0].Class, works)
			}
		}
	}
}

// A change of the configuration names the keys, never the values.
func TestTripwireNamesSettings(t *testing.T) {
	h := host(t)
	config, err := os.ReadFile(filepath.Join(h.Dir, "config"))
	must(t, err)
	set := func(lines string) {
		must(t, os.WriteFile(filepath.Join(h.Dir, "config"), append(slices.Clone(config), lines...), 0o644))
	}
	set("[user]\n\tname = a\n[alias]\n\tx = y\n")
	before := baseline(t, h)
	for lines, want := range map[string]string{
		"[user]\n\tname = b\n[core]\n\tfsmonitor = secret\n":                               "alias.x vanished, core.fsmonitor appeared, user.name changed",
		"[user]\n\tname = a\n\tname = b\n[alias]\n\tx = y\n":                               "user.name changed",
		"[user]\n\tname = a\n[alias]\n\tx = y\n# a comment\n":                              "changed",
		"[user]\n\tname = a\n[alias]\n\tx = y\n[a \"\u202e\"]\n\tb = c\n":                  `"a.\u202e.b" appeared`,
		"[user]\n\tname = a\n[alias]\n\tx = y\na = 1\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\n": "alias.a appeared, alias.b appeared, alias.c appeared, alias.d appeared, alias.e appeared, and 1 more",
	} {
		set(lines)
		if found := compare(t, h, before, Expected{}); len(found) != 1 || found[0].Detail != want {
			t.Errorf("%q: found %+v, want %s", lines, found, want)
		}
	}
}

// A host that git would wait for, or that points elsewhere, is an error before
// git is asked.
func TestCaptureHostRefuses(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a ref is a pipe": func(t *testing.T, dir string) { must(t, unix.Mkfifo(filepath.Join(dir, "refs/heads/p"), 0o600)) },
		"the index":       func(t *testing.T, dir string) { must(t, unix.Mkfifo(filepath.Join(dir, "index"), 0o600)) },
		"the packed refs": func(t *testing.T, dir string) { must(t, unix.Mkfifo(filepath.Join(dir, "packed-refs"), 0o600)) },
		"a worktree's HEAD": func(t *testing.T, dir string) {
			worktree(t, dir)
			must(t, unix.Mkfifo(filepath.Join(dir, "worktrees/w/HEAD"), 0o600))
		},
		"a worktree of another repository": func(t *testing.T, dir string) {
			worktree(t, dir)
			plant(t, dir, map[string]string{"worktrees/w/HEAD": "ref: refs/heads/x\n"})
			must(t, os.WriteFile(filepath.Join(dir, "worktrees/w/commondir"), []byte("/elsewhere\n"), 0o644))
		},
	} {
		h := host(t)
		if _, err := CaptureHost(t.Context(), h, Deep); err != nil {
			t.Fatalf("the control fails: %v", err)
		}
		spoil(t, h.Dir)
		if _, err := CaptureHost(t.Context(), h, Deep); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func worktree(t *testing.T, dir string) {
	plant(t, dir, map[string]string{"worktrees/w/commondir": "../..\n", "worktrees/w/gitdir": filepath.Join(filepath.Dir(dir), "w/.git") + "\n"})
}

// Refs of cordon's own are accounted for only with the values that cordon gave them. Nothing excuses
// another value, and nobody says that git obeys it.
func TestTripwireKnowsCordonsRefs(t *testing.T) {
	tw := &tripwire{x: Expected{Given: map[string][]git.OID{"refs/cordon/pins/busy-bee": {oidA, ""}, "refs/cordon/results/busy-bee": {oidA}}}}
	for _, c := range []struct {
		name, after string
		ours        bool
	}{
		{"refs/cordon/pins/busy-bee", oidA, true},
		{"refs/cordon/pins/busy-bee", "", true},
		{"refs/cordon/pins/busy-bee", oidB, false},
		{"refs/cordon/pins/busy-bee", "refs/heads/main", false}, // a symbolic ref
		{"refs/cordon/pins/busy-bee/x", oidA, false},
		{"refs/cordon/results/busy-bee", oidA, true},
		{"refs/cordon/results/busy-bee", "", false},
		{"refs/cordon/results/idle-ibex", oidA, false},
		{"refs/heads/busy-bee", oidA, false},
	} {
		if got := tw.ours(c.name, c.after); got != c.ours {
			t.Errorf("%s at %q is cordon's: %v", c.name, c.after, got)
		}
	}
	h := host(t)
	before := baseline(t, h)
	main, err := h.Ref(t.Context(), "refs/heads/main")
	must(t, err)
	must(t, h.SetRefs(t.Context(), []git.Ref{{Name: "refs/cordon/stray", OID: main}}, "t"))
	for name, c := range map[string]struct {
		x     Expected
		class Class
		rule  string
	}{
		"no cell":         {Expected{}, Violation, byUnknown},
		"announced":       {Expected{OperatorWorks: true}, Violation, byUnknown},
		"a cell":          {Expected{Confined: true}, Note, byOthers},
		"a way around it": {Expected{Confined: true, Ports: true}, Violation, "only cordon writes it, and " + byPorts},
	} {
		found := compare(t, h, before, c.x)
		if len(found) != 1 || found[0].Class != c.class || found[0].Rule != c.rule {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// An index can be made to say of any content that it is what it should be.
func TestTripwireReadsWhatGitStatusDoesNotShow(t *testing.T) {
	h := host(t)
	file := filepath.Join(h.Top, "tracked.txt")
	plant(t, h.Top, map[string]string{"tracked.txt": "good\n"})
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", h.Top, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("add", "tracked.txt")
	run("commit", "-qm", "tracked")
	before := baseline(t, h)
	if found := compare(t, h, before, Expected{}); len(found) > 0 {
		t.Fatalf("the control finds %+v", found)
	}
	attributes := filepath.Join(t.TempDir(), "attributes")
	must(t, os.WriteFile(attributes, []byte("tracked.txt filter=x\n"), 0o644))
	must(t, os.WriteFile(file, []byte("evil\n"), 0o644))
	past := time.Now().Add(-time.Hour) // git looks again at what is as young as its index
	must(t, os.Chtimes(file, past, past))
	run("-c", "core.attributesFile="+attributes, "-c", "filter.x.clean=echo good", "add", "tracked.txt")
	if out, err := exec.Command("git", "-C", h.Top, "status", "--porcelain", "-uno").Output(); err != nil || len(out) > 0 {
		t.Fatalf("the trick does not work: git status shows %q, %v", out, err)
	}
	found := compare(t, h, before, Expected{OperatorWorks: true})
	if len(found) != 1 || string(found[0].Path) != file || found[0].Class != Violation {
		t.Errorf("found %+v", found)
	}
}
