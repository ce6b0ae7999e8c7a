package plan

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cordon/internal/paths"
)

var update = flag.Bool("update", false, "write the golden plans anew")

// machine is a small host: what Find would have seen there.
func machine() Host {
	h := Host{
		Mounts: []MountPoint{{At: "/", Type: "ext4"}, {At: "/proc", Type: "proc"}, {At: "/sys", Type: "sysfs"}, {At: "/dev", Type: "devtmpfs"},
			{At: "/run", Type: "tmpfs"}, {At: "/dev/shm", Type: "tmpfs"}},
		Kinds: map[string]Kind{},
		Lists: map[string][]Entry{
			"/": {
				{"bin", Symbolic, "usr/bin"}, {"dev", Directory, ""}, {"etc", Directory, ""}, {"home", Directory, ""}, {"initrd.img", File, ""},
				{"proc", Directory, ""}, {"root", Directory, ""}, {"run", Directory, ""}, {"srv", Directory, ""}, {"sys", Directory, ""},
				{"tmp", Directory, ""}, {"usr", Directory, ""}, {"var", Directory, ""},
			},
			"/run": {{"lock", Directory, ""}, {"shm", Symbolic, "/dev/shm"}},
		},
		Git: "/usr/bin/git",
	}
	for _, e := range h.Lists["/"] {
		h.Kinds["/"+e.Name] = e.Kind
	}
	for _, dir := range []string{"/", "/var/tmp", "/home/op", "/home/op/app", "/home/op/app/.git", "/state/trees/w", "/state/trees/w/.git",
		"/state", "/state/layers/w"} {
		h.Kinds[dir] = Directory
	}
	return h
}

// workers is the order for a worker's private tree.
func workers() Order {
	return Order{
		Argv: []string{"agent", "-p", "two words"}, Dir: "/state/trees/w", Env: []string{"PATH=/usr/bin", "HOME=/home/op"}, Home: "/home/op",
		Write: []string{"/state/trees/w"}, Pinned: []string{"/state/trees/w/.git"}, Read: []string{"/"},
		Bind:   []Bind{{From: "/home/op/app/.git/objects", At: "/state/odb"}},
		Hide:   []string{"/state", "/home/op/.ssh", "/home/op/app", "/home/op/app/.git", "/root"},
		Layers: "/state/layers/w", Commit: "/state/trees/w", Objects: "/state/trees/w/.git/objects", Canaries: []string{"/state/journal", "/gone"},
		Limits: Limits{Memory: 1 << 30, Disk: 2 << 30, Processes: 100, Files: 1000},
	}
}

// networked gives an order a network, and the file that says who answers for names:
// where the host has it, where it has none, and where the cell has a directory of
// its own.
func networked(o *Order, h *Host, anywhere bool) {
	o.Net = &Net{Ports: []uint16{443, 80, 443}, Host: []uint16{5432, 3128, 9}, Anywhere: anywhere}
	o.Env = append(o.Env, "HTTPS_PROXY=http://proxy.example", "no_proxy=x", "NOT_A_PROXY=1")
	for _, at := range []string{"/etc/resolv.conf", "/etc/nsswitch.conf", "/run/systemd/resolve/stub-resolv.conf"} {
		o.Bind = append(o.Bind, Bind{From: "/state/net/resolv.conf", At: at})
	}
	h.Kinds["/state/net/resolv.conf"], h.Kinds["/etc/nsswitch.conf"] = File, File
	h.Lists["/etc"] = []Entry{{"hosts", File, ""}, {"nsswitch.conf", File, ""}, {"ssl", Directory, ""}, {"localtime", Symbolic, "/usr/share/zoneinfo/UTC"}}
	for _, e := range h.Lists["/etc"] {
		h.Kinds["/etc/"+e.Name] = e.Kind
	}
}

// plans are the orders of the golden files.
func plans() map[string]func() (Order, Host, []Layer) {
	type result = func() (Order, Host, []Layer)
	change := func(f func(*Order, *Host), without ...Layer) result {
		return func() (Order, Host, []Layer) {
			o, h := workers(), machine()
			f(&o, &h)
			return o, h, without
		}
	}
	return map[string]result{
		"worker": change(func(*Order, *Host) {}),
		"plain": func() (Order, Host, []Layer) {
			return Order{Argv: []string{"true"}, Dir: "/srv/x", Write: []string{"/srv/x"}}, machine(), nil
		},
		"tree in home": change(func(o *Order, h *Host) {
			// cordon's state lies in the home: all of it is hidden but the tree.
			place := "/home/op/.local/state/cordon"
			o.Write, o.Dir, o.Pinned = []string{place + "/trees/w"}, place+"/trees/w", []string{place + "/trees/w/.git"}
			o.Hide = []string{place, "/home/op/.ssh", "/home/op/.netrc"}
			o.Bind = []Bind{{From: "/srv/app/.git/objects", At: place + "/odb"}}
			h.Kinds[place], h.Kinds[place+"/trees/w"] = Directory, Directory
		}),
		"checkout hidden but for a part": change(func(o *Order, h *Host) {
			o.Home = ""
			o.Hide = []string{"/srv/app", "/srv/app/.git"}
			o.Read = []string{"/", "/srv/app/docs"}
			o.Bind = append(o.Bind, Bind{From: "/srv/app/docs", At: "/srv/app/docs"})
			h.Kinds["/srv/app"], h.Kinds["/srv/app/docs"], h.Kinds["/srv/app/.git"] = Directory, Directory, Directory
		}),
		"home with a mount below": change(func(o *Order, h *Host) {
			h.Mounts = append(h.Mounts, MountPoint{At: "/home/op/sshfs", Type: "fuse.sshfs"})
			h.Lists["/home"] = []Entry{{"op", Directory, ""}}
			h.Lists["/home/op"] = []Entry{{".cache", Directory, ""}, {".ssh", Directory, ""}, {".profile", File, ""}, {"go", Directory, ""},
				{"sshfs", Directory, ""}, {"app", Directory, ""}}
			for _, e := range h.Lists["/home/op"] {
				h.Kinds["/home/op/"+e.Name] = e.Kind
			}
		}),
		"narrow": change(func(o *Order, h *Host) {
			o.Read = []string{"/usr", "/etc/hosts", "/not/there", "/tmp/x"}
			h.Kinds["/etc/hosts"] = File
		}),
		"capture": change(func(o *Order, h *Host) {
			o.Capture = true
			h.Mounts = append(h.Mounts, MountPoint{At: "/srv/data", Type: "xfs"})
			h.Lists["/srv"] = []Entry{{"data", Directory, ""}, {"www", Directory, ""}}
			h.Kinds["/srv/data"], h.Kinds["/srv/www"] = Directory, Directory
		}),
		"home that is read": change(func(o *Order, _ *Host) { o.Read = []string{"/", "/home/op"} }),
		"home in parts": change(func(o *Order, h *Host) {
			o.Over = []Over{{At: "/home/op/.cargo", Below: []string{"/data/cargo"}, Layer: HomePart(".cargo"), Spare: true}, {At: "/home/op/mnt", Below: []string{"/home/op/mnt"}, Layer: HomePart("mnt"), Spare: true}}
			o.Hide = append(o.Hide, "/home/op/.cargo/credentials")
			mount(h, "/home/op/mnt/x", "tmpfs")
		}),
		"homes with mounts": change(func(o *Order, h *Host) {
			o.Read = []string{"/", "/home/op"}
			o.Hide = append(o.Hide, "/home")
			mount(h, "/home/op/mnt", "tmpfs")
			mount(h, "/home/other/mnt", "tmpfs")
			h.Lists["/home/other"] = append(h.Lists["/home/other"], Entry{"notes", File, ""})
			h.Kinds["/home/other/notes"] = File
		}),
		"no overlay": change(func(o *Order, h *Host) {
			h.Sockets = []string{"/srv/agent.sock", "/tmp/seen-not"}
			h.Kinds["/srv/agent.sock"] = Special
		}, CopyView),
		"network":               change(func(o *Order, h *Host) { networked(o, h, true) }),
		"network by proxy":      change(func(o *Order, h *Host) { networked(o, h, false) }),
		"network not had":       change(func(o *Order, h *Host) { networked(o, h, true) }, Network, CopyView),
		"network no namespaces": change(func(o *Order, h *Host) { networked(o, h, true) }, Namespaces),
		"no namespaces":         change(func(*Order, *Host) {}, Namespaces),
		"sealed":                change(func(o *Order, _ *Host) { o.Sealed = slices.Clone(o.Write) }),
		"sealed no namespaces":  change(func(o *Order, _ *Host) { o.Sealed = slices.Clone(o.Write) }, Namespaces),
		"sealed copy on write": change(func(o *Order, _ *Host) {
			o.Over = []Over{{At: "/state/trees/w", Below: []string{"/state/base"}, Layer: "tree"}, {At: "/state/trees/w/.git", Below: []string{"/state/index"}, Layer: "git"}}
			o.Write, o.Pinned, o.Sealed = nil, nil, []string{"/state/trees/w"}
		}),
		"no landlock":         change(func(*Order, *Host) {}, Landlock),
		"no namespaces alone": change(func(o *Order, _ *Host) { o.Layers = "" }, Namespaces, Seccomp),
		"hidden kinds": change(func(o *Order, h *Host) {
			o.Read = []string{"/", "/home/op"}
			o.Hide = []string{"/etc/shadow", "/srv/private", "/srv/link", "/srv/absent", "/srv/pipe", "/home/op/.aws", "/home/op/.config/gh/hosts.yml",
				"/tmp/x", "/home/op/.ssh"}
			h.Kinds["/etc/shadow"], h.Kinds["/srv/private"], h.Kinds["/srv/link"], h.Kinds["/srv/pipe"] = File, Directory, Symbolic, Special
		}),
		"nested mounts": change(func(o *Order, h *Host) {
			h.Mounts = append(h.Mounts, MountPoint{At: "/snap/core/1", Type: "squashfs"}, MountPoint{At: "/var/lib/docker", Type: "ext4"},
				MountPoint{At: "/var/lib/docker/overlay2/x", Type: "overlay"},
				MountPoint{At: "/srv/disc", Type: "iso9660"}, MountPoint{At: "/srv/auto", Type: "autofs"}, MountPoint{At: "/run/user/0", Type: "tmpfs"})
			h.Lists["/"] = append(h.Lists["/"], Entry{"snap", Directory, ""})
			h.Lists["/snap"] = []Entry{{"core", Directory, ""}, {"README", File, ""}}
			h.Lists["/snap/core"] = []Entry{{"1", Directory, ""}, {"current", Symbolic, "1"}}
			h.Lists["/var"] = []Entry{{"lib", Directory, ""}, {"tmp", Directory, ""}, {"run", Symbolic, "/run"}}
			h.Lists["/var/lib"] = []Entry{{"docker", Directory, ""}, {"dpkg", Directory, ""}}
			h.Lists["/srv"] = []Entry{{"disc", Directory, ""}, {"auto", Directory, ""}, {"www", Directory, ""}}
			o.Hide = append(o.Hide, "/var/lib/docker")
			for dir, list := range h.Lists {
				for _, e := range list {
					h.Kinds[filepath.Join(dir, e.Name)] = e.Kind
				}
			}
		}),
	}
}

// mount puts a mount into a host, with the lists of the directories above it.
func mount(h *Host, at, kind string) {
	h.Mounts = append(h.Mounts, MountPoint{At: at, Type: kind})
	h.Kinds[at] = Directory
	for dir := filepath.Dir(at); dir != "/"; at, dir = dir, filepath.Dir(dir) {
		h.Kinds[dir] = Directory
		if !slices.ContainsFunc(h.Lists[dir], func(e Entry) bool { return e.Name == filepath.Base(at) }) {
			h.Lists[dir] = append(h.Lists[dir], Entry{Name: filepath.Base(at), Kind: Directory})
		}
	}
}

func TestGoldenPlans(t *testing.T) {
	for name, make := range plans() {
		t.Run(name, func(t *testing.T) {
			o, h, without := make()
			s, err := Plan(o, h, without...)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "plan", strings.ReplaceAll(name, " ", "_")+".golden.json")
			if *update {
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(s.String()), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.String(); got != string(want) {
				t.Errorf("the plan has changed (-update if on purpose):\n%s", firstDifference(got, string(want)))
			}
			sound(t, o, h, s)
			var back Spec
			if err := json.Unmarshal([]byte(s.String()), &back); err != nil || !reflect.DeepEqual(back, s) {
				t.Errorf("what is printed is not what is carried out: %v", err)
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return "got  " + strings.Join(g[i:min(i+4, len(g))], "\n") + "\nwant " + strings.Join(w[min(i, len(w)):min(i+4, len(w))], "\n")
		}
	}
	return "it is shorter"
}

// failer is a test, or rapid's.
type failer interface {
	Helper()
	Errorf(string, ...any)
}

// sound holds what is true of every plan.
func sound(t failer, o Order, h Host, s Spec) {
	t.Helper()
	parentsFirst(t, s.View)
	for _, op := range s.View {
		writesOnlyWhatWasOrdered(t, o, op)
	}
	if s.Has(Namespaces) {
		for _, op := range s.View {
			if op.Do.showsHost() && inHidden(o, op.At) {
				t.Errorf("%s at %s lies in something hidden, and nobody asked for it", op.Do, op.At)
			}
		}
		for _, p := range o.Hide {
			if seen := shows(s.View, p); seen != nil && h.Kinds[p] != Absent && h.Kinds[p] != Symbolic && !placedAt(o, p) {
				t.Errorf("%s is hidden and seen through %+v", p, *seen)
			}
		}
	} else if all := hiddenByRules(o, h); !slices.Equal(s.Hidden, all) {
		t.Errorf("without mounts Landlock has to hide %v, and hides %v", all, s.Hidden)
	}
	soundNetwork(t, o, s)
	for _, at := range o.Sealed {
		if slices.Contains(s.Write, at) || slices.Contains(s.Proof.Inside, at) || !slices.Contains(s.Proof.Sealed, at) ||
			slices.ContainsFunc(s.View, func(op Op) bool { return op.At == at && (op.Write || op.Do == Overlay && !op.Sealed) }) {
			t.Errorf("%s is sealed and can be written", at)
		}
	}
	for _, w := range s.Write {
		if !slices.ContainsFunc(s.View, func(op Op) bool { return op.At == w }) && s.Has(Namespaces) {
			t.Errorf("Landlock lets it write %s, which no operation makes", w)
		}
	}
}

// soundNetwork holds what is true of the network of every plan: there is none that
// was not ordered, and it is reached by one way.
func soundNetwork(t failer, o Order, s Spec) {
	t.Helper()
	if o.Net == nil {
		if s.Net != nil || s.Has(Network) || s.Proxy != 0 || s.Dial != nil || s.Proof.Elsewhere != 0 || strings.Contains(s.String(), "proxy") {
			t.Errorf("a network that nobody ordered: %+v", s)
		}
		return
	}
	told := slices.ContainsFunc(s.Env, func(kv string) bool { return strings.HasPrefix(kv, "all_proxy=socks5h://127.0.0.1:") })
	switch {
	case s.Net == nil || s.Net.Anywhere != s.Has(Network) || s.Has(Network) && !o.Net.Anywhere:
		t.Errorf("%v of %+v", s.Net, o.Net)
	case told != (s.Proxy != 0), told && slices.Contains(s.Net.Host, s.Proxy), told && s.Net.Anywhere:
		t.Errorf("a proxy at %d beside %+v: %v", s.Proxy, s.Net, s.Env)
	case !told && s.Has(Namespaces) && !s.Has(Network):
		t.Errorf("no program finds its way: %v", s.Env)
	case s.Proof.Elsewhere != 0 && (slices.Contains(s.Net.Wide(), s.Proof.Elsewhere) || slices.Contains(s.Net.Host, s.Proof.Elsewhere)):
		t.Errorf("%d is listened to", s.Proof.Elsewhere)
	case len(s.Dial) > 0 && s.Has(Namespaces):
		t.Errorf("Landlock has nothing to do with %v", s.Dial)
	}
}

// inHidden reports whether a path lies in a hidden directory, and in nothing that an order places there.
func inHidden(o Order, p string) bool {
	return slices.ContainsFunc(o.Hide, func(hidden string) bool {
		return InsideAny(p, []string{hidden}) && !slices.Contains(o.Write, hidden) &&
			!slices.ContainsFunc(o.Placed(), func(at string) bool { return InsideAny(at, []string{hidden}) && paths.Within(p, at) })
	})
}

func placedAt(o Order, p string) bool {
	return slices.ContainsFunc(slices.Concat(o.Placed(), o.Pinned), func(at string) bool { return p == at })
}

// parentsFirst wants every mount after the one that it lies in.
func parentsFirst(t failer, ops []Op) {
	t.Helper()
	for i, op := range ops {
		for _, later := range ops[i+1:] {
			if paths.Within(op.At, later.At) && op.At != later.At {
				t.Errorf("%s at %s is mounted before %s at %s and covered by it", op.Do, op.At, later.Do, later.At)
			}
		}
	}
}

func writesOnlyWhatWasOrdered(t failer, o Order, op Op) {
	t.Helper()
	if op.Do != BindOver || !op.Write {
		return
	}
	for _, b := range o.Bind {
		if b.Write && b.From == op.From && b.At == op.At {
			return
		}
	}
	if op.From != op.At || !slices.Contains(slices.Concat(o.Write, o.Pinned), op.At) {
		t.Errorf("%s is written at %s, and nobody asked for that", op.From, op.At)
	}
}

// shows is the operation through which something of the host's is seen at a
// path; nil when it is not.
func shows(ops []Op, path string) *Op {
	var over *Op
	for i, op := range ops {
		if paths.Within(path, op.At) {
			over = &ops[i] // the last one is on top
		}
	}
	if over == nil {
		return nil
	}
	switch over.Do {
	case BindOver:
		return over
	case Overlay:
		for _, rel := range over.Absent {
			if paths.Within(path, filepath.Join(over.At, rel)) {
				return nil
			}
		}
		return over
	}
	return nil
}

// genOrder draws orders and hosts from a small tree of names, in which collisions
// are the rule.
func genOrder(t *rapid.T) (Order, Host) {
	names := []string{"a", "b", "c"}
	path := rapid.Custom(func(t *rapid.T) string {
		top := rapid.SampledFrom([]string{"/srv", "/home/op", "/state", "/tmp", "/etc"}).Draw(t, "top")
		return strings.Join(append([]string{top}, rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "way")...), "/")
	})
	paths := func(label string, most int) []string {
		return rapid.SliceOfNDistinct(path, 0, most, rapid.ID[string]).Draw(t, label)
	}
	h := machine()
	o := Order{
		Argv: []string{"true"}, Home: rapid.SampledFrom([]string{"", "/home/op"}).Draw(t, "home"),
		Write: rapid.SliceOfNDistinct(path, 1, 2, rapid.ID[string]).Draw(t, "write"), Hide: paths("hide", 5), Scratch: paths("scratch", 2),
		Read: []string{"/"}, Capture: rapid.Bool().Draw(t, "capture"), Layers: "/state/layers",
	}
	if rapid.Bool().Draw(t, "narrow") {
		o.Read = append([]string{"/usr"}, paths("read", 2)...)
	}
	o.Dir = o.Write[0]
	if rapid.Bool().Draw(t, "networked") {
		port := rapid.SliceOfN(rapid.Uint16Range(1, 16), 0, 12)
		o.Net = &Net{Ports: port.Draw(t, "ports"), Host: append(port.Draw(t, "host"), 3128), Anywhere: rapid.Bool().Draw(t, "anywhere")}
	}
	for _, at := range paths("bind", 2) {
		o.Bind = append(o.Bind, Bind{From: path.Draw(t, "from"), At: at, Write: rapid.Bool().Draw(t, "writable")})
	}
	for _, p := range slices.Concat(o.Write, o.Scratch, o.Read) {
		for dir := p; dir != "/"; dir = filepath.Dir(dir) {
			h.Kinds[dir] = Directory
		}
	}
	for _, p := range o.Hide {
		if _, known := h.Kinds[p]; !known {
			h.Kinds[p] = rapid.SampledFrom([]Kind{Absent, Directory, File, Symbolic, Special}).Draw(t, "kind of "+p)
		}
	}
	for _, at := range paths("mount", 2) {
		mount(&h, at, rapid.SampledFrom([]string{"ext4", "squashfs", "proc", "fuse"}).Draw(t, "type"))
	}
	return o, h
}

func TestEveryPlanIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, h := genOrder(t)
		var without []Layer
		for _, l := range append(Every(), Network) {
			if rapid.IntRange(0, 4).Draw(t, string(l)) == 0 {
				without = append(without, l)
			}
		}
		s, err := Plan(o, h, without...)
		if err != nil {
			return // an order that is refused is held by nobody
		}
		sound(t, o, h, s)
		twice, err := Plan(o, h, without...)
		if err != nil || !reflect.DeepEqual(s, twice) {
			t.Errorf("the same order gave another plan")
		}
	})
}

func TestOrdersThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Order)
		want   string
	}{
		"no command":               {func(o *Order) { o.Argv = nil }, "no command"},
		"a relative directory":     {func(o *Order) { o.Write = []string{"src"} }, "absolute clean"},
		"a way up":                 {func(o *Order) { o.Bind = []Bind{{From: "/srv/../etc", At: "/x"}} }, "absolute clean"},
		"a path with an end in it": {func(o *Order) { o.Hide = []string{"/a\x00b"} }, "absolute clean"},
		"the machine":              {func(o *Order) { o.Write = []string{"/"} }, "cannot be opened"},
		"the home":                 {func(o *Order) { o.Write = []string{"/home/op"} }, "home directory is in it"},
		"all homes":                {func(o *Order) { o.Write = []string{"/home"} }, "home directory is in it"},
		"devices":                  {func(o *Order) { o.Write = []string{"/dev/x"} }, "cannot be opened"},
		"the kernel":               {func(o *Order) { o.Write = []string{"/proc/sys"} }, "cannot be opened"},
		"no port":                  {func(o *Order) { o.Net = &Net{Ports: []uint16{443, 0}} }, "0 is not a port"},
		"no port of the host's":    {func(o *Order) { o.Net = &Net{Host: []uint16{0}} }, "0 is not a port"},
		"too many ports": {func(o *Order) {
			o.Net = &Net{Ports: slices.Repeat([]uint16{1}, 200), Host: slices.Repeat([]uint16{1}, 57)}
		}, "257 ports"},
		"a hidden start": {func(o *Order) { o.Dir = "/home/op/app/src" }, "is hidden"},
	} {
		t.Run(name, func(t *testing.T) {
			o := workers()
			c.change(&o)
			if s, err := Plan(o, machine()); err == nil || !strings.Contains(err.Error(), c.want) || s.View != nil {
				t.Errorf("%v", err)
			}
		})
	}
	o := workers()
	o.Capture = true
	var about *LayerError
	if _, err := Plan(o, machine(), CopyView); !errors.As(err, &about) || about.Layer != CopyView {
		t.Errorf("capture without an overlay: %v", err)
	}
}

// hiddenByRules is what no mount hides: the home too, unless it is read as a whole.
func hiddenByRules(o Order, h Host) []string {
	all := slices.Concat(o.Hide, h.Aliases)
	if o.Home != "" && !o.ReadsHome() {
		all = append(all, o.Home)
	}
	return all
}

// What is hidden is hidden under its other names too, where its file system is mounted a second time.
func TestOtherNamesAreHidden(t *testing.T) {
	o, h := workers(), machine()
	h.Aliases = []string{"/srv/keys", "/srv/all/op/.ssh"}
	for _, dir := range append(h.Aliases, "/srv/open") {
		h.Kinds[dir] = Directory
	}
	s, err := Plan(o, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(h.Aliases, "/srv/keys/id_ed25519") {
		if op := shows(s.View, path); op != nil {
			t.Errorf("%s is seen through %s at %s", path, op.Do, op.At)
		}
	}
	if shows(s.View, "/srv/open") == nil {
		t.Error("the control /srv/open is not seen")
	}
	bare, err := Plan(o, h, Namespaces)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, o, h, bare)
}

// A home in which something is mounted is shown in parts. A part keeps its layer when the operator makes a
// directory beside it between two launches: what the worker wrote stays where it was.
func TestPartsOfAHomeKeepTheirLayers(t *testing.T) {
	layer := func(names ...string) string {
		t.Helper()
		o, h := workers(), machine()
		o.Read = []string{"/", "/home/op"}
		h.Lists["/home"] = []Entry{{"op", Directory, ""}}
		for _, name := range append(names, "mnt") {
			h.Lists["/home/op"] = append(h.Lists["/home/op"], Entry{name, Directory, ""})
			h.Kinds["/home/op/"+name] = Directory
		}
		h.Mounts = append(h.Mounts, MountPoint{At: "/home/op/mnt", Type: "tmpfs"})
		s, err := Plan(o, h)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range s.View {
			if op.At == "/home/op/go" {
				return op.Layer
			}
		}
		t.Fatalf("no part is shown: %+v", s.View)
		return ""
	}
	if one, two := layer("go"), layer("before", "go"); one != two || one == "" {
		t.Errorf("%q, then %q", one, two)
	}
}
