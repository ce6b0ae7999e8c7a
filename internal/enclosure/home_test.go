package enclosure

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/cell"
	"cordon/internal/policy"
)

// What is shown of a home: tools and caches, wherever a link, a variable or PATH keeps them, and nothing that only lies beside them.
func TestHomeShowsTools(t *testing.T) {
	base := makeFiles(t, "tree/f", "home/notes/n", "home/.bashrc", "home/.unknown/token", "home/.tool-versions", "home/.cache/x",
		"data/cargo/credentials.toml", "home/go/src/app/main.go", "home/go/pkg/mod/x", "home/go/bin/x",
		"home/work/bin/mine", "home/work/share/x", "home/work/app/.git/HEAD", "home/venv/bin/python", "home/src/.git/HEAD", "home/src/lib/x",
		"home/opt/tool/bin/run", "home/opt/tool/lib/x", "home/development/flutter/bin/flutter", "home/.local/share/one/v1/bin/x",
		"home/.local/share/one/v1/lib/x", "home/.local/share/two/v2/x", "home/script", "home/.local/bin/own", "home/.app/bin/x", "home/.app/token",
		"home/.gnupg/bin/x", "home/jdks/jdk-21/bin/java",
		"home/jdks/jdk-21/lib/x", "home/dox/bin/x", "home/dox/share/x", "home/sdk9/bin/x", "home/sdk9/lib/x", "home/ca.pem", "home/library/x")
	home := filepath.Join(base, "home")
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(filepath.Join(base, to), filepath.Join(home, at)); err != nil {
			t.Fatal(err)
		}
	}
	link("data/cargo", ".cargo")
	link("home/.local/share/one/v1/bin/x", ".local/bin/one")
	link("home/.local/share/two/v2/x", ".local/bin/two")
	link("home/script", ".local/bin/three")
	link("home/src/lib/x", ".local/bin/four")
	link("home/.gnupg/bin/x", ".local/bin/five")
	for _, name := range []string{
		".local/share/one/v1/bin/x", ".local/share/two/v2/x", "script", "src/lib/x", ".gnupg/bin/x", "opt/tool/bin/run", "jdks/jdk-21/bin/java",
	} {
		if err := os.Chmod(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link("home/jdks/jdk-21", "jdks/current")
	link("home/jdks/current/bin/java", ".local/bin/java")
	link("home/notes", ".local/bin/directory")
	var list []string
	for _, name := range []string{".local/bin", "work/bin", "opt/tool/bin", "development/flutter/bin", ".app/bin", ".gnupg/bin", "dox/bin", "sdk9/bin", "."} {
		list = append(list, filepath.Join(home, name))
	}
	for name, value := range map[string]string{
		"PATH": strings.Join(append(list, "/usr/bin", "relative"), ":"), "GOPATH": home + "/go", "VIRTUAL_ENV": home + "/venv", "PYTHONPATH": home + "/work:" + home + "/library",
		"NODE_EXTRA_CA_CERTS": home + "/ca.pem", "LD_LIBRARY_PATH": home, "CARGO_HOME": "", "MY_NOTES_HOME": home + "/notes",
	} {
		t.Setenv(name, value)
	}
	o := orderOf(t, enclosure(t, base, nil))
	want := []string{
		".app/bin", ".cache", ".cargo", ".local/bin", ".local/share/one/v1", ".local/share/two/v2", ".tool-versions", "ca.pem", "development/flutter", "dox/bin",
		"go/bin", "go/pkg", "jdks/current", "library", "opt/tool", "script", "sdk9", "src/lib/x", "venv", "work/bin",
	}
	if got := shownIn(o, home); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, name := range []string{".cargo/credentials.toml", "../data/cargo/credentials.toml"} {
		if !slices.Contains(o.Hide, filepath.Join(home, name)) {
			t.Errorf("%s is not hidden: %q", name, o.Hide)
		}
	}
	for _, hide := range o.Hide {
		if strings.HasPrefix(hide, home+"/.ssh") {
			t.Errorf("%s is hidden where there is nothing", hide)
		}
	}
}

// shownIn lists what an order shows of a home.
func shownIn(o cell.Order, home string) (list []string) {
	for _, c := range o.Over {
		list = append(list, strings.TrimPrefix(c.At, home+"/"))
	}
	for _, b := range o.Bind {
		if rel, ok := strings.CutPrefix(b.At, home+"/"); ok && !b.Write {
			list = append(list, rel)
		}
	}
	slices.Sort(list)
	return list
}

// deny_read holds for tools, and what read_roots names is shown whatever it is.
func TestHomeFollowsThePolicy(t *testing.T) {
	base := makeFiles(t, "tree/f", "home/.cargo/x", "home/.cache/x", "home/notes/n", "home/notes/private/n", "home/file")
	o := orderOf(t, enclosure(t, base, func(p *policy.Policy) {
		p.Filesystem.DenyRead = append(p.Filesystem.DenyRead, "~/.cargo", "~/notes/private")
		p.Filesystem.ReadRoots = []string{"/", "~/notes", "~/file", "~/.ssh"}
	}))
	var got []string
	for _, c := range o.Over {
		got = append(got, strings.TrimPrefix(c.At, o.Home+"/"))
	}
	if slices.Sort(got); !slices.Equal(got, []string{".cache", "notes"}) || !slices.Contains(o.Hide, o.Home+"/notes/private") {
		t.Errorf("%q, hidden %q", got, o.Hide)
	}
	if len(o.Bind) == 0 || o.Bind[len(o.Bind)-1].At != o.Home+"/file" {
		t.Errorf("%+v", o.Bind)
	}
	o = orderOf(t, enclosure(t, base, func(p *policy.Policy) { p.Filesystem.ReadRoots = []string{"/usr"} }))
	if len(o.Over) != 0 {
		t.Errorf("where the machine is not read: %+v", o.Over)
	}
}

// Links that a command could have made show nothing of the home but what lies where they do: the kernel takes ".." behind a
// link elsewhere, and a virtual environment may have become a link.
func TestHomeIsNotOpenedByLinks(t *testing.T) {
	base := makeFiles(t, "tree/f", "home/other/.env", "home/other/run", "home/documents/d", "home/documents/bin/x", "home/app/.git/HEAD", "home/app/lib/a/k",
		"srv/proj/.git/HEAD", "srv/proj/.git/refs/x", "srv/proj/.git/objects/x", "srv/proj/.bin/own",
		"home/.dots/.git/HEAD", "home/.dots/.git/refs/x", "home/.dots/.git/objects/x", "home/.dots/bin/own",
		"home/app/bin/own", "home/app/run", "home/plain/x", "home/venvs/v/bin/python", "home/venvs/v/pyvenv.cfg", "home/.config/x", "home/bin/own")
	home := filepath.Join(base, "home")
	for _, l := range [][2]string{
		{"lib/a", "app/l"}, {"../l/../../other", "app/bin/tool"}, {"../../other/run", "app/bin/far"}, {"../run", "app/bin/near"},
		{"../documents", "app/.venv"}, {"../documents", "plain/.venv"}, {"../venvs/v", "plain/v"}, {"other/run", "bin/mine"}, {".config", "conf"},
		{home + "/documents", "../srv/proj/tools"}, {home + "/app/other", "../srv/proj/.bin/far"}, {"../../app/other", ".dots/bin/far"},
	} {
		at := filepath.Join(home, l[1])
		if l[1] == "bin/mine" { // the operator's own
			l[0] = filepath.Join(home, l[0])
		}
		if err := os.Symlink(l[0], at); err != nil {
			t.Fatal(err)
		}
	}
	for _, repository := range []string{"../srv/proj", ".dots"} {
		if err := os.WriteFile(filepath.Join(home, repository, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"app/other", "app/run", "other/run"} {
		at := filepath.Join(home, name)
		if err := errors.Join(os.WriteFile(at, []byte("#!"), 0o755), os.Chmod(at, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"PATH": strings.Join([]string{home + "/app/bin", home + "/app/.venv/bin", home + "/plain/.venv/bin", home + "/plain/v/bin", home + "/bin",
			base + "/srv/proj/tools", base + "/srv/proj/.bin", home + "/.dots/bin", home + "/.dots/bin"}, ":"),
		"VIRTUAL_ENV": home + "/plain/.venv", "CONDA_PREFIX": home + "/app/.venv", "NVM_DIR": home + "/.config", "PYENV_ROOT": home + "/conf",
		"GOPATH": "", "CARGO_HOME": "",
	} {
		t.Setenv(name, value)
	}
	o := orderOf(t, enclosure(t, base, nil))
	if want := []string{".dots/bin", "app/bin", "app/run", "bin", "other/run", "plain/v"}; !slices.Equal(shownIn(o, home), want) {
		t.Errorf("got  %q\nwant %q", shownIn(o, home), want)
	}
}

// The homes of people are hidden wherever they lie, and where links lead.
func TestHomesOfPeople(t *testing.T) {
	base := makeFiles(t, "var/home/ann/x", "nfs/bob/x", "srv/app/x", "home/eve/x")
	if err := os.Symlink("var/home", filepath.Join(base, "linked")); err != nil {
		t.Fatal(err)
	}
	users := strings.ReplaceAll("root:x:0:0::/root:/bin/sh\nann:x:1000:1000::B/var/home/ann:/bin/sh\nbob:x:1001:1001::B/nfs/bob:/bin/sh\n"+
		"app:x:998:998::B/srv/app:/bin/sh\nservice:x:1002:1002::B/srv/app:/bin/sh\ngone:x:1003:1003::B/gone:/bin/sh\nodd\n", "B", base)
	want := []string{base + "/home", base + "/nfs/bob", base + "/var/home"}
	if got := homesOf(users, base+"/linked", base+"/home", base+"/none"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What is hidden stays hidden however links lead to it: through a tool's directory, through the home, through a variable.
func TestHomeLinksShowNoSecret(t *testing.T) {
	for name, c := range map[string]struct {
		links [][2]string // from, to
		home  string
		cargo string // CARGO_HOME
		shown string
		want  []string
	}{
		"a secret in a linked cache": {[][2]string{{"home/.cache", "home/big/cache"}, {"home/.ssh", "home/.cache/x/ssh"}}, "home", "", ".cache", []string{"home/.cache/x/ssh"}},
		"a linked home":              {[][2]string{{"alias", "home"}, {"home/.cargo", "data/cargo"}}, "alias", "", ".cargo", []string{"home/.cargo/credentials.toml"}},
		"a linked variable":          {[][2]string{{"home/c", "data/cargo"}}, "home", "home/c", "c", []string{"home/c/credentials.toml", "data/cargo/credentials.toml"}},
	} {
		t.Run(name, func(t *testing.T) {
			base := makeFiles(t, "tree/f", "home/big/cache/x/ssh/id", "data/cargo/credentials.toml")
			for _, l := range c.links {
				if err := os.Symlink(filepath.Join(base, l[1]), filepath.Join(base, l[0])); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("CARGO_HOME", "")
			if c.cargo != "" {
				t.Setenv("CARGO_HOME", filepath.Join(base, c.cargo))
			}
			e := enclosure(t, base, nil)
			e.Home = filepath.Join(base, c.home)
			var err error
			if e.Rules, err = policy.Compile(e.Policy, policy.Location{Worktree: e.Write[0], Home: e.Home}); err != nil {
				t.Fatal(err)
			}
			o := orderOf(t, e)
			at := filepath.Join(base, "home", c.shown)
			if !slices.ContainsFunc(o.Over, func(c cell.Over) bool { return c.At == at }) {
				t.Errorf("the control: %s is not shown", at)
			}
			for _, secret := range c.want {
				if !slices.Contains(o.Hide, filepath.Join(base, secret)) {
					t.Errorf("%s is not hidden: %q", secret, o.Hide)
				}
			}
		})
	}
}

// A file that is typed is shown, and not if deny_read is about it or about what leads there.
func TestTypedFilesAreShown(t *testing.T) {
	base := makeFiles(t, "tree/f", "home/script", "home/.netrc", "home/vault/id")
	home := filepath.Join(base, "home")
	if err := os.Symlink(filepath.Join(home, "vault"), filepath.Join(home, ".ssh")); err != nil {
		t.Fatal(err)
	}
	e := enclosure(t, base, nil)
	o := orderOf(t, e)
	before := len(o.Bind)
	ShowTyped(&o, e.Rules, e.Home, []string{"sh", home + "/script", home + "/.netrc", home + "/vault/id", home + "/.ssh/id", home, "script"})
	if len(o.Bind) != before+1 || o.Bind[before].At != home+"/script" {
		t.Errorf("%+v", o.Bind[before:])
	}
}
