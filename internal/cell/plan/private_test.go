package plan

import (
	"reflect"
	"testing"
)

// The layers that are kept and not scratch are listed, with what the plan itself
// puts into them.
func TestPrivateLayers(t *testing.T) {
	host := Host{
		Mounts: []MountPoint{{At: "/", Type: "ext4"}, {At: "/data-1", Type: "ext4"}},
		Kinds: map[string]Kind{
			"/": Directory, "/tmp": Directory, "/var/tmp": Directory, "/usr": Directory, "/data-1": Directory,
			"/home/me": Directory, "/home": Directory, "/tree": Directory, "/cache": Directory, "/usr/secret": Directory,
		},
		Lists: map[string][]Entry{"/": {
			{Name: "usr", Kind: Directory}, {Name: "data-1", Kind: Directory}, {Name: "home", Kind: Directory},
			{Name: "tree", Kind: Directory}, {Name: "cache", Kind: Directory}, {Name: "bin", Kind: Symbolic, To: "usr/bin"},
		}},
	}
	order := Order{
		Argv: []string{"true"}, Dir: "/tree", Home: "/home/me", Write: []string{"/tree"}, Scratch: []string{"/cache"},
		Hide: []string{"/home/me/.ssh", "/usr/secret"}, Layers: "/layers",
	}
	list := func(o Order, without ...Layer) map[string]PrivateLayer {
		s, err := Plan(o, host, without...)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]PrivateLayer{}
		for _, l := range s.Private() {
			if _, twice := found[l.Name]; twice {
				t.Errorf("two layers are called %s", l.Name)
			}
			found[l.Name] = l
		}
		return found
	}
	empty := PrivateLayer{Name: "home-empty", At: "/home/me", For: HomeLayer}
	if got := list(order); !reflect.DeepEqual(got, map[string]PrivateLayer{"home-empty": empty}) {
		t.Errorf("a home that nobody reads: %+v", got)
	}
	order.Read = []string{"/", "/home/me"}
	home := PrivateLayer{Name: "home", At: "/home/me", For: HomeLayer, Overlay: true, Hidden: []string{".ssh"}}
	if got := list(order); !reflect.DeepEqual(got, map[string]PrivateLayer{"home": home}) {
		t.Errorf("deny: %+v", got)
	}
	order.Capture = true
	got := list(order)
	if !reflect.DeepEqual(got["home"], home) {
		t.Errorf("the home is %+v", got["home"])
	}
	usr := PrivateLayer{Name: "at-usr", At: "/usr", For: OutsideLayer, Overlay: true, Hidden: []string{"secret"}}
	if !reflect.DeepEqual(got["at-usr"], usr) {
		t.Errorf("/usr is %+v", got["at-usr"])
	}
	if l := got["at"]; l.At != "/" || !l.Overlay || len(l.Made) == 0 {
		t.Errorf("/ is %+v", l)
	}
	if l := got["at-data%2D1"]; l.At != "/data-1" {
		t.Errorf("a mount is %+v", l)
	}
	order.Capture = false
	if got := list(order, CopyView); !reflect.DeepEqual(got["home-empty"], empty) {
		t.Errorf("without overlay: %+v", got)
	}
	order.Layers = ""
	if got := list(order); len(got) != 0 {
		t.Errorf("in memory: %+v", got)
	}
}

func TestOutsideLayerNames(t *testing.T) {
	seen := map[string]string{}
	for _, at := range []string{"/", "/a", "/a/b", "/a-b", "/a%2Db", "/a%2D/b", "/a-/b", "/a/-b", "/a--b"} {
		name := outsideLayer(at)
		if other, twice := seen[name]; twice || PurposeOf(name) != OutsideLayer {
			t.Errorf("%s and %s are both %s", at, other, name)
		}
		seen[name] = at
	}
	for _, scratch := range []string{"", "tmp", "var-tmp", "scratch-3"} {
		if p := PurposeOf(scratch); p != "" {
			t.Errorf("%q is for %s", scratch, p)
		}
	}
}
