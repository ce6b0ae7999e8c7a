package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/audit"
	"cordon/internal/fleet/protocol"
	"cordon/internal/git"
	"cordon/internal/policy"
)

const most = 1 << 20

// site is a home with a repository, and a node that has a clone of its base.
type site struct {
	t          *testing.T
	bin        git.Binary
	home, node string // checkouts
	base       git.OID
	secret     git.OID // a blob of the home's that the base does not reach
	store      Store   // the home's
}

// plain runs git as a person does, in a checkout.
func (s *site) plain(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@n", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *site) write(dir, name, text string) {
	s.t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) repo(dir string) git.Repo {
	s.t.Helper()
	h, err := git.Discover(s.t.Context(), s.bin, dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return h.Repo
}

func newSite(t *testing.T) *site {
	bin, err := git.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, bin: bin, home: filepath.Join(t.TempDir(), "home"), node: filepath.Join(t.TempDir(), "node"), store: Store{filepath.Join(t.TempDir(), "packs")}}
	for _, dir := range []string{s.home, s.node} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		s.plain(dir, "init", "-q", "-b", "main")
	}
	s.write(s.home, "src/a.txt", strings.Repeat("a line of the base\n", 2000))
	s.write(s.home, "docs/b.txt", "b\n")
	s.plain(s.home, "add", ".")
	s.plain(s.home, "commit", "-qm", "base")
	s.base = git.OID(s.plain(s.home, "rev-parse", "HEAD"))
	s.write(s.home, "private.txt", strings.Repeat("nobody else may see this\n", 40))
	s.secret = git.OID(s.plain(s.home, "hash-object", "-w", "private.txt"))
	return s
}

// send gives the node what it lacks of a commit, in pieces, and returns how many bytes that took.
func (s *site) send(commit git.OID, have ...git.OID) int64 {
	s.t.Helper()
	p, err := s.store.Make(s.t.Context(), s.repo(s.home), commit, have, true, 1<<30)
	if err != nil {
		s.t.Fatal(err)
	}
	arrives := Store{filepath.Join(s.t.TempDir(), "arrives")}
	s.carry(s.store, arrives, p)
	f, err := arrives.Open(p)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if err := s.repo(s.node).AddPack(s.t.Context(), f); err != nil {
		s.t.Fatal(err)
	}
	s.plain(s.node, "reset", "-q", "--hard", string(commit))
	return p.Size
}

// carry moves a pack from one store to another, as messages do.
func (s *site) carry(from, to Store, p protocol.Pack) {
	s.t.Helper()
	for next := int64(0); next < p.Size; {
		piece, err := from.Read(p, next)
		if err != nil {
			s.t.Fatal(err)
		}
		if next, err = to.Add(p, next, piece); err != nil {
			s.t.Fatal(err)
		}
	}
}

// commit commits everything in the node's checkout.
func (s *site) commit() git.OID {
	s.t.Helper()
	s.plain(s.node, "add", "-A")
	s.plain(s.node, "commit", "-qm", "work")
	return git.OID(s.plain(s.node, "rev-parse", "HEAD"))
}

// returned packs what the node made, and brings it to the home.
func (s *site) returned(commit git.OID) protocol.Pack {
	s.t.Helper()
	packs := Store{filepath.Join(s.t.TempDir(), "results")}
	p, err := packs.Make(s.t.Context(), s.repo(s.node), commit, []git.OID{s.base}, false, most)
	if err != nil {
		s.t.Fatal(err)
	}
	s.carry(packs, s.store, p)
	return p
}

func (s *site) admit(p protocol.Pack, commit git.OID) (Admitted, error) {
	s.t.Helper()
	rules := policy.Default()
	rules.Filesystem.WriteRoots = []string{"src"}
	compiled, err := policy.Compile(rules, policy.Location{Worktree: "/w", Home: "/h"})
	if err != nil {
		s.t.Fatal(err)
	}
	return Admission{
		Bin: s.bin, Host: s.repo(s.home), Dir: filepath.Join(s.t.TempDir(), "quarantine"), Store: s.store, Pack: p,
		Base: s.base, Commit: commit, Rules: compiled, Most: most, Many: 100,
	}.Admit(s.t.Context())
}

func violating(found []audit.Finding) (paths []string) {
	for _, f := range found {
		if f.Class == audit.Violation {
			paths = append(paths, string(f.Path))
		}
	}
	return paths
}

// TestResult is the control: a node gets a base, changes a file inside the lease, and the home
// admits the result without a violation. Nothing of it is in the operator's repository.
func TestResult(t *testing.T) {
	s := newSite(t)
	first := s.send(s.base)
	s.write(s.node, "src/a.txt", "changed\n")
	made := s.commit()
	before := s.plain(s.home, "count-objects", "-v") + s.plain(s.home, "for-each-ref")
	got, err := s.admit(s.returned(made), made)
	if err != nil || len(got.Findings) != 1 || len(violating(got.Findings)) > 0 {
		t.Fatalf("%+v, %v", got.Findings, err)
	}
	content, ok, err := got.Repo.FileAt(t.Context(), made, "src/a.txt")
	if err != nil || !ok || string(content) != "changed\n" {
		t.Errorf("%q, %v, %v", content, ok, err)
	}
	if after := s.plain(s.home, "count-objects", "-v") + s.plain(s.home, "for-each-ref"); after != before {
		t.Errorf("the operator's repository has changed:\n%s\n%s", before, after)
	}
	// The next base on a node that has this one.
	s.write(s.home, "docs/b.txt", "b2\n")
	s.plain(s.home, "commit", "-qam", "next")
	next := s.send(git.OID(s.plain(s.home, "rev-parse", "HEAD")), s.base)
	t.Logf("the first base took %d bytes, the next %d", first, next)
	if next >= first {
		t.Errorf("the first base took %d bytes, the next %d", first, next)
	}
}

// TestHostilePack plays a node that returns something else. Each attempt is refused, or is a
// violation that leads to quarantine.
func TestHostilePack(t *testing.T) {
	for name, one := range map[string]struct {
		refused string   // part of the reason; "": admitted, with
		outside []string // these violations
		try     func(s *site) (protocol.Pack, git.OID)
	}{
		"outside the lease": {"", []string{"docs/b.txt"}, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "docs/b.txt", "other\n")
			made := s.commit()
			return s.returned(made), made
		}},
		"a file that the operator's git obeys": {"", []string{".gitattributes"}, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, ".gitattributes", "* filter=x\n")
			made := s.commit()
			return s.returned(made), made
		}},
		"a gitlink": {"", []string{"src/sub"}, func(s *site) (protocol.Pack, git.OID) {
			s.plain(s.node, "update-index", "--add", "--cacheinfo", "160000,"+string(s.base)+",src/sub")
			s.plain(s.node, "commit", "-qm", "link")
			made := git.OID(s.plain(s.node, "rev-parse", "HEAD"))
			return s.returned(made), made
		}},
		"a link that leads out": {"", []string{"src/out"}, func(s *site) (protocol.Pack, git.OID) {
			if err := os.Symlink("../../../../etc/passwd", filepath.Join(s.node, "src/out")); err != nil {
				s.t.Fatal(err)
			}
			made := s.commit()
			return s.returned(made), made
		}},
		"two commits": {"is not one commit", nil, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "src/a.txt", "1\n")
			s.commit()
			s.write(s.node, "src/a.txt", "2\n")
			made := s.commit()
			return s.returned(made), made
		}},
		"a commit without the base": {"is not one commit", nil, func(s *site) (protocol.Pack, git.OID) {
			tree := s.plain(s.node, "rev-parse", "HEAD^{tree}")
			made := git.OID(s.plain(s.node, "commit-tree", "-m", "x", tree))
			return s.returned(made), made
		}},
		"another commit than the manifest's": {"does not hold the commit", nil, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "src/a.txt", "1\n")
			return s.returned(s.commit()), s.base
		}},
		"more than one commit needs": {"does not need", nil, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "src/a.txt", "1\n")
			made := s.commit()
			extra := s.plain(s.node, "hash-object", "-w", filepath.Join(s.node, ".git/HEAD"))
			return s.packOf(string(made), s.plain(s.node, "rev-parse", "HEAD^{tree}"), s.plain(s.node, "rev-parse", "HEAD:src"),
				s.plain(s.node, "rev-parse", "HEAD:src/a.txt"), extra), made
		}},
		"content of the home that it never had": {"neither the base nor the pack", nil, func(s *site) (protocol.Pack, git.OID) {
			src := s.mktree("100644 blob " + string(s.secret) + "\tstolen.txt\n")
			docs := s.plain(s.node, "rev-parse", "HEAD:docs")
			root := s.mktree("040000 tree " + docs + "\tdocs\n040000 tree " + src + "\tsrc\n")
			made := s.plain(s.node, "commit-tree", "-m", "x", "-p", string(s.base), root)
			return s.packOf(made, root, src), git.OID(made)
		}},
		"a thin pack": {"unresolved delta", nil, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "src/a.txt", strings.Repeat("a line of the base\n", 2000)+"one more\n")
			made := s.commit()
			packs := Store{filepath.Join(s.t.TempDir(), "results")}
			p, err := packs.Make(s.t.Context(), s.repo(s.node), made, []git.OID{s.base}, true, most)
			if err != nil {
				s.t.Fatal(err)
			}
			s.carry(packs, s.store, p)
			return p, made
		}},
		"a file that a few bytes blow up": {"longer than", nil, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "src/a.txt", strings.Repeat("0", most+1))
			made := s.commit()
			return s.returned(made), made
		}},
		"no pack at all": {"index-pack", nil, func(s *site) (protocol.Pack, git.OID) {
			return s.put([]byte("PACK\x00\x00\x00\x09\x00\x00\x00\x01 or so it says")), s.base
		}},
		"less than a header": {"no header", nil, func(s *site) (protocol.Pack, git.OID) { return s.put([]byte("PACK")), s.base }},
		"more objects than the bound": {"says that it holds 10", nil, func(s *site) (protocol.Pack, git.OID) {
			for i := range 100 {
				s.write(s.node, fmt.Sprint("src/", i), fmt.Sprint(i))
			}
			made := s.commit()
			return s.returned(made), made
		}},
		"a header that lies": {"says that it holds 4294967295 objects", nil, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "src/a.txt", "1\n")
			made := s.commit()
			content, err := os.ReadFile(s.store.path(s.returned(made).Sum))
			if err != nil {
				s.t.Fatal(err)
			}
			copy(content[8:], "\xff\xff\xff\xff")
			return s.put(content), made
		}},
		"half a pack": {"index-pack", nil, func(s *site) (protocol.Pack, git.OID) {
			s.write(s.node, "src/a.txt", "1\n")
			made := s.commit()
			p := s.returned(made)
			half, err := os.ReadFile(s.store.path(p.Sum))
			if err != nil {
				s.t.Fatal(err)
			}
			return s.put(half[:len(half)/2]), made
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.send(s.base)
			got, err := s.admit(one.try(s))
			var refused *RefusedError
			switch {
			case one.refused != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), one.refused)):
				t.Errorf("it is not refused because of %q: %v", one.refused, err)
			case one.refused == "" && (err != nil || !slices.Equal(violating(got.Findings), one.outside)):
				t.Errorf("the violations are %v, not %v; %v", violating(got.Findings), one.outside, err)
			}
		})
	}
}

// mktree makes a tree that may name objects which the node does not have.
func (s *site) mktree(lines string) string {
	s.t.Helper()
	cmd := exec.Command("git", "-C", s.node, "mktree", "--missing")
	cmd.Stdin = strings.NewReader(lines)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// packOf makes a pack of exactly these objects of the node's.
func (s *site) packOf(oids ...string) protocol.Pack {
	s.t.Helper()
	cmd := exec.Command("git", "-C", s.node, "pack-objects", "--stdout", "-q")
	cmd.Stdin = strings.NewReader(strings.Join(oids, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return s.put(out)
}

// put brings bytes to the home under their name.
func (s *site) put(content []byte) protocol.Pack {
	s.t.Helper()
	p := protocol.Pack{Sum: protocol.Digest(content), Size: int64(len(content))}
	for next := int64(0); next < p.Size; {
		var err error
		if next, err = s.store.Add(p, next, content[next:min(next+Piece, p.Size)]); err != nil {
			s.t.Fatal(err)
		}
	}
	return p
}

// A pack that arrives is never longer than its manifest says, and is used only if it is what the
// manifest says.
func TestArrival(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 50000)
	p := protocol.Pack{Sum: protocol.Digest(content), Size: int64(len(content))}
	s := Store{filepath.Join(t.TempDir(), "packs")}
	add := func(offset int64, piece []byte) (int64, bool) {
		next, err := s.Add(p, offset, piece)
		return next, err == nil
	}
	if next, ok := add(0, content[:Piece]); next != Piece || !ok {
		t.Fatalf("the first piece: %d, %v", next, ok)
	}
	for name, offset := range map[string]int64{"repeated": 0, "skipped": Piece + 1, "before the first": -1} {
		if next, ok := add(offset, content[:10]); next != Piece || !ok {
			t.Errorf("%s: %d, %v", name, next, ok)
		}
	}
	if _, ok := add(Piece, append(bytes.Clone(content[Piece:]), 'x')); ok {
		t.Error("a piece goes beyond the end")
	}
	if _, err := s.Open(p); err == nil {
		t.Error("a pack is used before all of it is there")
	}
	if next, ok := add(Piece, content[Piece:]); next != p.Size || !ok {
		t.Fatalf("the last piece: %d, %v", next, ok)
	}
	if next, ok := add(0, content[:10]); next != p.Size || !ok {
		t.Errorf("a piece of a pack that is there: %d, %v", next, ok)
	}
	if _, err := s.Add(protocol.Pack{Sum: p.Sum, Size: 1}, 0, []byte("x")); !errors.Is(err, ErrDiffers) {
		t.Errorf("another pack of the same name: %v", err)
	}
	f, err := s.Open(p)
	if err != nil {
		t.Fatal("another pack took its place:", err)
	}
	f.Close()

	wrong := protocol.Pack{Sum: protocol.Digest([]byte("other")), Size: 5}
	if _, err := s.Add(wrong, 0, []byte("OTHER")); !errors.Is(err, ErrDiffers) {
		t.Errorf("a pack that differs: %v", err)
	}
	if _, err := s.Open(wrong); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a pack that differs is kept: %v", err)
	}
	if next, err := s.Add(wrong, 0, []byte("other")); err != nil || next != 5 {
		t.Errorf("the right one after it: %d, %v", next, err)
	}
	for _, bad := range []protocol.Pack{{}, {Sum: "../../x", Size: 1}, {Sum: strings.Repeat("A", 64), Size: 1}, {Sum: wrong.Sum}, {Sum: wrong.Sum, Size: -1}} {
		if _, err := s.Add(bad, 0, []byte("x")); err == nil {
			t.Errorf("%+v is the name of a pack", bad)
		}
	}
}

// A base that is larger than the bound is not made.
func TestMakeIsBounded(t *testing.T) {
	s := newSite(t)
	if _, err := s.store.Make(context.Background(), s.repo(s.home), s.base, nil, true, 100); err == nil || !strings.Contains(err.Error(), "longer than 100 bytes") {
		t.Errorf("%v", err)
	}
	left, err := os.ReadDir(s.store.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
