package enclosure

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cordon/internal/cell"
	"cordon/internal/paths"
	"cordon/internal/policy"
)

// makeFiles makes files below a directory without links in its way.
func makeFiles(t *testing.T, files ...string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		f = filepath.Join(base, f)
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// enclosure is the default policy's for a tree below base.
func enclosure(t *testing.T, base string, change func(*policy.Policy)) Enclosure {
	t.Helper()
	p := policy.Default()
	p.Limits = p.Limits.For(policy.Machine{Memory: 4 << 30, Disk: 4 << 30})
	if change != nil {
		change(&p)
	}
	e := Enclosure{Policy: p, Home: filepath.Join(base, "home"), Write: []string{filepath.Join(base, "tree")}, State: []string{filepath.Join(base, "state")}}
	var err error
	if e.Rules, err = policy.Compile(p, policy.Location{Worktree: e.Write[0], Home: e.Home}); err != nil {
		t.Fatal(err)
	}
	return e
}

func orderOf(t *testing.T, e Enclosure) cell.Order {
	t.Helper()
	o, err := e.Order()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestDefaultHidesSecrets(t *testing.T) {
	base := makeFiles(t, "home/.ssh/id", "home/plain", "tree/f", "state/journal")
	o := orderOf(t, enclosure(t, base, readsHome))
	for _, name := range []string{"home/.ssh", "home/.aws", "home/.gnupg", "home/.netrc", "home/.docker", "home/.kube", "home/.config/gh", "state"} {
		if p := filepath.Join(base, name); !paths.WithinAny(p, o.Hide) {
			t.Errorf("%s is not hidden, there or not", name)
		}
	}
	for _, name := range []string{"home", "home/plain", "tree", "tree/f"} {
		if p := filepath.Join(base, name); paths.WithinAny(p, o.Hide) {
			t.Errorf("%s is hidden", name)
		}
	}
	if !slices.Contains(o.Read, "/") || o.Capture || o.Home != filepath.Join(base, "home") || !slices.IsSorted(o.Hide) {
		t.Errorf("%+v", o)
	}
}

func readsHome(p *policy.Policy) { p.Filesystem.ReadRoots = []string{"/", "~"} }

// A secret that is a link is hidden at both ends.
func TestHiddenLinksLeadNowhere(t *testing.T) {
	base := makeFiles(t, "vault/keys/id", "home/x", "tree/f")
	if err := os.Symlink(filepath.Join(base, "vault/keys"), filepath.Join(base, "home/.ssh")); err != nil {
		t.Fatal(err)
	}
	if o := orderOf(t, enclosure(t, base, nil)); !slices.Contains(o.Hide, filepath.Join(base, "vault/keys")) {
		t.Errorf("where it leads is not hidden: %v", o.Hide)
	}
	o := orderOf(t, enclosure(t, base, readsHome))
	for _, name := range []string{"home/.ssh", "vault/keys"} {
		if !slices.Contains(o.Hide, filepath.Join(base, name)) {
			t.Errorf("%s is not hidden: %v", name, o.Hide)
		}
	}
	// A home that is a link is where it leads.
	if err := os.Symlink(filepath.Join(base, "home"), filepath.Join(base, "alias")); err != nil {
		t.Fatal(err)
	}
	e := enclosure(t, base, nil)
	e.Home = filepath.Join(base, "alias")
	if o := orderOf(t, e); o.Home != filepath.Join(base, "home") {
		t.Errorf("home is %s", o.Home)
	}
}

// The host's checkout is hidden but for what read_roots names.
func TestHostIsHiddenUnlessNamed(t *testing.T) {
	base := makeFiles(t, "host/src/a", "host/docs/d", "host/.git/HEAD", "home/x", "tree/f")
	host, docs := filepath.Join(base, "host"), filepath.Join(base, "host/docs")
	e := enclosure(t, base, nil)
	e.Host, e.Secret = []string{host, filepath.Join(host, ".git")}, []string{filepath.Join(host, ".git/HEAD")}
	o := orderOf(t, e)
	if !slices.Contains(o.Hide, host) || !slices.Contains(o.Canaries, filepath.Join(host, ".git/HEAD")) {
		t.Errorf("hidden %v, canaries %v", o.Hide, o.Canaries)
	}
	e = enclosure(t, base, func(p *policy.Policy) { p.Filesystem.ReadRoots = []string{"/", docs} })
	e.Host = []string{host}
	if o = orderOf(t, e); !slices.Contains(o.Bind, cell.Bind{From: docs, At: docs}) || !slices.Contains(o.Hide, host) {
		t.Errorf("binds %v, hidden %v", o.Bind, o.Hide)
	}
	e = enclosure(t, base, func(p *policy.Policy) { p.Filesystem.ReadRoots = []string{"/", host} })
	e.Host = []string{host}
	if o = orderOf(t, e); slices.Contains(o.Hide, host) {
		t.Errorf("it was named and is hidden: %v", o.Hide)
	}
	// What is bound over a hidden file is not what must not be read.
	e = enclosure(t, base, nil)
	e.Host, e.Secret = []string{filepath.Join(host, ".git")}, []string{filepath.Join(host, ".git/HEAD")}
	e.Bind = []cell.Bind{{From: filepath.Join(base, "state"), At: filepath.Join(host, ".git"), Write: true}}
	if o = orderOf(t, e); paths.WithinAny(filepath.Join(host, ".git/HEAD"), o.Canaries) {
		t.Errorf("canaries %v", o.Canaries)
	}
}

func TestOrderTakesThePolicysLimits(t *testing.T) {
	base := makeFiles(t, "home/x", "tree/f")
	o := orderOf(t, enclosure(t, base, func(p *policy.Policy) {
		p.Limits.Processes, p.Limits.Files = 7, 8
		p.Filesystem.Outside = policy.Capture
	}))
	if o.Limits.Processes != 7 || o.Limits.Files != 8 || !o.Capture {
		t.Errorf("%+v", o.Limits)
	}
}

func TestGlobsBecomePaths(t *testing.T) {
	base := makeFiles(t, "a/x.pem", "a/y.pem", "a/z", "b/[odd]")
	for glob, want := range map[string][]string{
		base + "/a/*.pem":     {base + "/a/x.pem", base + "/a/y.pem"},
		base + "/a/**":        {base + "/a"},
		base + "/gone/z":      {base + "/gone"}, // absent as a whole
		base + "/gone/*":      nil,
		base + `/b/\[odd\]`:   {base + "/b/[odd]"},
		base + "/a/{x,y}.pem": {base + "/a/x.pem", base + "/a/y.pem"},
	} {
		if got, err := matches([]string{glob}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", glob, got, err)
		}
	}
}
