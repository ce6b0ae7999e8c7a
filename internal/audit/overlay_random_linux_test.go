package audit

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/git"
)

// What a layer says is what the plain tree says, whatever was done. The layers are
// the kernel's.
func TestLayersAgreeWithPlainTrees(t *testing.T) { layersAgree(t, 1, 40) }

func TestLayersAgreeWithPlainTreesAll(t *testing.T) {
	layersAgree(t, rand.Int63(), 500)
}

func layersAgree(t *testing.T, seed int64, rounds int) {
	t.Logf("seed %d", seed)
	kinds := map[Kind]int{}
	for i := range rounds {
		r := &chaos{rand.New(rand.NewSource(seed + int64(i)))}
		s := newOverlaySite(t)
		r.base(s)
		if r.Intn(3) == 0 {
			own := git.File{Path: "own", Entry: git.Entry{Mode: git.Regular, OID: git.SHA1.Blob([]byte("s"))}}
			s.must(os.WriteFile(filepath.Join(s.upper, own.Path), []byte("s"), 0o644))
			s.seeded = []git.File{own}
		}
		layer := s.tree()
		s.work(r.acts(s)...)
		for _, ch := range s.agree(layer) {
			kinds[ch.Kind]++
		}
		layer.Base.Close()
		s.remove()
	}
	for _, k := range []Kind{Added, Modified, Deleted, Chmod, Retyped, LinkOut, Nested, GitlinkHit, Special, SetID, HardLink, BadName, Collision} {
		if kinds[k] == 0 {
			t.Errorf("no %s in %d rounds: %v", k, rounds, kinds)
		}
	}
}

// chaos makes bases and workers.
type chaos struct{ *rand.Rand }

func one[T any](r *chaos, list ...T) T { return list[r.Intn(len(list))] }

func (r *chaos) name() string {
	if r.Intn(5) > 0 {
		return one(r, "a", "b", "c", "d", "e")
	}
	return one(r, "a", "b", "c", "a", "b", "A", "B", "é", "e\u0301", "a.", "HEAD", "head", "config", "refs", "objects", "x\ny", "\xff", "ignored")
}

func (r *chaos) path() string {
	names := []string{r.name()}
	for range r.Intn(3) {
		names = append(names, r.name())
	}
	return strings.Join(names, "/")
}

func (r *chaos) target() string {
	return one(r, "a", "../a", "../../x", "b/c", "/nonexistent/x", "..", ".", "c", "../b/..", "a/b/../../..")
}

func (r *chaos) content() string { return one(r, "1", "2", "three", "", "#!x", "#!y") }

// base makes one without names that some file systems would not hold.
func (r *chaos) base(s *overlaySite) {
	files := map[string]string{}
	for range 5 + r.Intn(25) {
		p := r.path()
		if blocked(files, p) {
			continue
		}
		switch r.Intn(12) {
		case 0, 1:
			files[p] = "->" + r.target()
		case 2:
			files[p] = "=>sub"
		default:
			files[p] = r.content()
		}
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		s.add(p, files[p])
	}
	for _, f := range s.base {
		if dir := filepath.Dir(f.Path); dir != "." && r.Intn(6) == 0 {
			if _, err := os.Lstat(filepath.Join(s.upper, dir)); err != nil {
				s.prepare(dir)
			}
		}
	}
}

// blocked reports whether a file cannot be where another one is, or above it.
func blocked(files map[string]string, p string) bool {
	for other := range files {
		if other == p || strings.HasPrefix(other, p+"/") || strings.HasPrefix(p, other+"/") {
			return true
		}
	}
	return false
}

func (r *chaos) acts(s *overlaySite) []act {
	known := []string{"own"} // what cordon brought, what the base has, and what is above it
	for _, f := range s.base {
		known = append(known, prefixes(f.Path)...)
	}
	somewhere := func() Path {
		if r.Intn(3) > 0 {
			return Path(one(r, known...))
		}
		return Path(r.path())
	}
	var list []act
	for range 5 + r.Intn(30) {
		a := act{Do: one(r, "write", "write", "append", "chmod", "rm", "rm", "rmall", "mkdir", "rename", "rename", "move", "link", "relink",
			"hardlink", "hardlink", "pipe", "file", "dir", "attribute", "device"), Path: somewhere()}
		if r.Intn(60) == 0 {
			a.Do = "init"
		}
		switch a.Do {
		case "write", "append", "file", "dir":
			a.To = Path(r.content())
		case "chmod":
			a.To = Path(one(r, "644", "755", "600", "711", "4755", "1644", "2644"))
		case "rename", "move", "hardlink":
			a.To = somewhere()
		case "link", "relink":
			a.To = Path(r.target())
		case "attribute":
			a.To = Path(one(r, "user.overlay.opaque", "user.overlay.redirect", "user.overlay.metacopy", "user.overlay.whiteout", "user.x"))
		}
		known = append(known, string(a.Path))
		list = append(list, a)
	}
	return list
}

// The tree that changes make of a base, read as far as it is asked about, is the
// tree that they make of a list of all files.
func TestOutcomeAgreesWithAList(t *testing.T) {
	for seed := range int64(400) {
		r := &chaos{rand.New(rand.NewSource(seed))}
		flat := map[string]git.Entry{}
		contents := map[string]string{}
		for range r.Intn(12) {
			if p := r.path(); !blocked(contents, p) {
				contents[p], flat[p] = "", file
			}
		}
		var files []git.File
		for p, e := range flat {
			files = append(files, git.File{Path: p, Entry: e})
		}
		var list []Change
		for p := range contents {
			if r.Intn(3) == 0 {
				list = append(list, Change{Path: Path(p), Kind: Deleted, Old: file})
				delete(flat, p)
				delete(contents, p)
			}
		}
		var news []string
		for range r.Intn(6) {
			if p := r.path(); !blocked(contents, p) {
				list = append(list, added(p))
				contents[p], flat[p], news = "", file, append(news, p)
			}
		}
		o := newOutcome(git.ListingOf(files), list)
		checkOutcome(t, o, flat)
		hits := collisions(news, o)
		for _, p := range news {
			if _, got := hits[p]; got != collidesWithAny(p, flat) {
				t.Fatalf("seed %d: %q collides: %v, in %v", seed, p, got, keys(flat, nil))
			}
		}
	}
}

func checkOutcome(t *testing.T, o *outcome, flat map[string]git.Entry) {
	t.Helper()
	names := map[string]map[string]bool{"": {}}
	for p := range flat {
		for _, d := range prefixes(p) {
			if names[dirOf(d)] == nil {
				names[dirOf(d)] = map[string]bool{}
			}
			names[dirOf(d)][filepath.Base(d)] = true
		}
	}
	for d, want := range names {
		got := map[string]bool{}
		for _, name := range o.dir(d) {
			got[name] = true
		}
		if !maps.Equal(got, want) || len(got) != len(o.dir(d)) {
			t.Fatalf("%q holds %v, want %v", d, o.dir(d), want)
		}
		for name := range want {
			if p := below(d, name); o.file(p) != flat[p] {
				t.Fatalf("%q is %v, want %v", p, o.file(p), flat[p])
			}
		}
	}
	for range 3 {
		if p := fmt.Sprint("none/", len(flat)); o.file(p) != (git.Entry{}) || len(o.dir(p)) > 0 {
			t.Fatalf("%q is there", p)
		}
	}
}
