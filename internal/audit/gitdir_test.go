package audit

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

const (
	oidA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	oidB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestReadRefs(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"HEAD": "ref: refs/heads/x\n", "refs/heads/x": oidA + "\n", "refs/heads/y.lock": "half", "refs/tags/v\xff": oidB + "\n",
		"packed-refs":           "# pack-refs with: peeled\n" + oidB + " refs/heads/packed\n^" + oidA + "\n" + oidB + " refs/heads/x\n",
		"worktrees/w/HEAD":      oidB + "\n",
		"worktrees/w/refs/wt/p": oidA + "\n",
	})
	table, err := readRefs(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]git.OID{
		"refs/heads/x": oidA, "refs/heads/packed": oidB, "refs/tags/v\xff": oidB,
		"worktrees/w/HEAD": oidB, "worktrees/w/refs/wt/p": oidA,
	}
	for _, name := range keys(table.tips(), want) {
		if table.tips()[name] != want[name] {
			t.Errorf("%q is %s, want %s", name, table.tips()[name], want[name])
		}
	}
	if table.resolve("HEAD") != oidA {
		t.Errorf("HEAD is %s", table.resolve("HEAD"))
	}
}

func TestReadRefsRefuses(t *testing.T) {
	good := map[string]string{"HEAD": "ref: refs/heads/x\n", "refs/heads/x": oidA + "\n"}
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"nothing at all":        func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
		"a format of its own":   func(t *testing.T, dir string) { plant(t, dir, map[string]string{"reftable/x": ""}) },
		"that format as a link": func(t *testing.T, dir string) { plant(t, dir, map[string]string{"reftable": "->nowhere"}) },
		"garbage in a ref":      func(t *testing.T, dir string) { plant(t, dir, map[string]string{"refs/heads/y": "garbage"}) },
		"a short name":          func(t *testing.T, dir string) { plant(t, dir, map[string]string{"refs/heads/y": "aaaa\n"}) },
		"garbage in HEAD":       func(t *testing.T, dir string) { plant(t, dir, map[string]string{"HEAD": "x"}) },
		"HEAD is a link": func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "HEAD")))
			plant(t, dir, map[string]string{"HEAD": "->refs/heads/x"})
		},
		"a ref is a link":        func(t *testing.T, dir string) { plant(t, dir, map[string]string{"refs/heads/y": "->/etc/passwd"}) },
		"a pipe":                 func(t *testing.T, dir string) { must(t, unix.Mkfifo(filepath.Join(dir, "refs/heads/y"), 0o600)) },
		"packed refs are a pipe": func(t *testing.T, dir string) { must(t, unix.Mkfifo(filepath.Join(dir, "packed-refs"), 0o600)) },
		"garbage in packed refs": func(t *testing.T, dir string) { plant(t, dir, map[string]string{"packed-refs": "\n"}) },
		"packed refs without end": func(t *testing.T, dir string) {
			plant(t, dir, map[string]string{"packed-refs": strings.Repeat("#", maxSmallFile+1)})
		},
		"refs is a link": func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "refs"), filepath.Join(dir, "r")))
			plant(t, dir, map[string]string{"refs": "->r"})
		},
		"worktrees is a file": func(t *testing.T, dir string) { plant(t, dir, map[string]string{"worktrees": "x"}) },
		"a worktree's HEAD is a pipe": func(t *testing.T, dir string) {
			plant(t, dir, map[string]string{"worktrees/w/x": "x"})
			must(t, unix.Mkfifo(filepath.Join(dir, "worktrees/w/HEAD"), 0o600))
		},
		"too deep": func(t *testing.T, dir string) {
			plant(t, dir, map[string]string{"refs/" + strings.Repeat("d/", 60) + "x": oidA})
		},
	} {
		dir := filepath.Join(t.TempDir(), "git")
		plant(t, dir, good)
		if _, err := readRefs(dir); err != nil {
			t.Fatalf("the control fails: %v", err)
		}
		spoil(t, dir)
		if table, err := readRefs(dir); err == nil {
			t.Errorf("%s: read as %v", name, table.tips())
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// loose is an object as git stores it.
func loose(text string) (oid git.OID, stored []byte) {
	full := fmt.Sprintf("blob %d\x00%s", len(text), text)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write([]byte(full))
	z.Close()
	return git.SHA1.Blob([]byte(text)), b.Bytes()
}

func bare(t *testing.T) git.Repo {
	t.Helper()
	bin, err := git.Find(t.Context())
	must(t, err)
	repo, err := git.Init(t.Context(), bin, filepath.Join(t.TempDir(), "into"), git.InitOptions{Bare: true, Format: git.SHA1})
	must(t, err)
	return repo
}

func TestImportObjects(t *testing.T) {
	dir, into := t.TempDir(), bare(t)
	oid, stored := loose("hello")
	at := filepath.Join("objects", string(oid[:2]))
	plant(t, dir, map[string]string{
		filepath.Join(at, string(oid[2:])): string(stored),
		filepath.Join(at, "tmp_obj_x"):     "half",
		"objects/info/alternates":          "/somewhere/else",
		"objects/pack/x.idx":               "garbage",
	})
	got, err := importObjects(t.Context(), dir, into, maxTotal)
	if err != nil || len(got) != 1 || got[0] != oid {
		t.Fatalf("imported %v, %v", got, err)
	}
	if text, err := into.Blob(t.Context(), oid); err != nil || string(text) != "hello" {
		t.Errorf("it reads %q, %v", text, err)
	}
	if got, err := importObjects(t.Context(), t.TempDir(), into, maxTotal); len(got) != 0 || err != nil {
		t.Errorf("a directory without objects has %v, %v", got, err)
	}
}

func TestImportObjectsRefuses(t *testing.T) {
	oid, stored := loose("hello")
	_, other := loose("forged")
	name := filepath.Join("objects", string(oid[:2]), string(oid[2:]))
	elsewhere := t.TempDir()
	plant(t, elsewhere, map[string]string{name: string(stored)})
	for what, make := range map[string]func(t *testing.T, dir string){
		"another object":   func(t *testing.T, dir string) { plant(t, dir, map[string]string{name: string(other)}) },
		"half of it":       func(t *testing.T, dir string) { plant(t, dir, map[string]string{name: string(stored[:len(stored)-6])}) },
		"a byte behind it": func(t *testing.T, dir string) { plant(t, dir, map[string]string{name: string(stored) + "x"}) },
		"a hole behind it": func(t *testing.T, dir string) {
			plant(t, dir, map[string]string{name: string(stored)})
			must(t, os.Truncate(filepath.Join(dir, name), 1<<40))
		},
		"not compressed": func(t *testing.T, dir string) { plant(t, dir, map[string]string{name: "blob 5\x00hello"}) },
		"a link to a secret": func(t *testing.T, dir string) {
			plant(t, dir, map[string]string{name: "->" + filepath.Join(elsewhere, name)})
		},
		"objects of another": func(t *testing.T, dir string) {
			plant(t, dir, map[string]string{"objects": "->" + filepath.Join(elsewhere, "objects")})
		},
		"a directory of another": func(t *testing.T, dir string) {
			plant(t, dir, map[string]string{filepath.Dir(name): "->" + filepath.Join(elsewhere, filepath.Dir(name))})
		},
		"a pipe": func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			must(t, unix.Mkfifo(filepath.Join(dir, name), 0o600))
		},
		"a pack that is a pipe": func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, "objects/pack"), 0o755))
			must(t, unix.Mkfifo(filepath.Join(dir, "objects/pack/x.pack"), 0o600))
		},
		"a pack of garbage":  func(t *testing.T, dir string) { plant(t, dir, map[string]string{"objects/pack/x.pack": "garbage"}) },
		"packs of another":   func(t *testing.T, dir string) { plant(t, dir, map[string]string{"objects/pack": "->" + elsewhere}) },
		"objects are a file": func(t *testing.T, dir string) { plant(t, dir, map[string]string{"objects": "x"}) },
	} {
		dir, into := t.TempDir(), bare(t)
		make(t, dir)
		if got, err := importObjects(t.Context(), dir, into, maxTotal); err == nil {
			t.Errorf("%s: imported %v", what, got)
		}
		if kinds, err := into.Kinds(context.Background(), []git.OID{oid}); err != nil || len(kinds) > 0 {
			t.Errorf("%s: something came through: %v, %v", what, kinds, err)
		}
	}
}
