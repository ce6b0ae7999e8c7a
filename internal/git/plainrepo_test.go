package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A repository that cordon makes itself is the one that git would have made.
func TestInitIsGits(t *testing.T) {
	bin, ctx := find(t), context.Background()
	for _, o := range []InitOptions{
		{Format: SHA1, Branch: "cordon/brave-otter"}, {Format: SHA1, Bare: true}, {Format: SHA256, Branch: "x"}, {Format: SHA256, Bare: true},
	} {
		ours, theirs := filepath.Join(t.TempDir(), "x"), filepath.Join(t.TempDir(), "x")
		r := must[Repo](t)(Init(ctx, bin, ours, o))
		args := []string{"init", "-q", "--template=", "--object-format=" + string(o.Format)}
		if o.Branch != "" {
			args = append(args, "--initial-branch="+o.Branch)
		}
		if o.Bare {
			args = append(args, "--bare")
		}
		must[[]byte](t)(bin.run(ctx, call{args: append(args, "--", theirs)}))
		if got, want := listed(t, ours), listed(t, theirs); !slices.Equal(got, want) {
			t.Errorf("%+v:\n%s\nwant\n%s", o, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		must[[]byte](t)(r.run(ctx, "fsck"))
	}
}

// The first ref of such a repository has the log that git writes.
func TestFirstRef(t *testing.T) {
	bin, ctx := find(t), context.Background()
	src := must[Repo](t)(Init(ctx, bin, filepath.Join(t.TempDir(), "src"), InitOptions{Format: SHA1, Bare: true}))
	tree := must[OID](t)(src.PutTree(ctx, nil))
	commit := must[OID](t)(src.CommitTree(ctx, tree, nil, "one\n", Person{Name: "a", Email: "a@b"}))
	const branch = "cordon/brave-otter"
	logs := []string{}
	for _, plain := range []bool{true, false} {
		r := must[Repo](t)(Init(ctx, bin, filepath.Join(t.TempDir(), "x"), InitOptions{Format: SHA1, Branch: branch, Alternate: src.ObjectsDir()}))
		if plain {
			if err := r.Found(ctx, commit, branch); err != nil {
				t.Fatal(err)
			}
		} else if err := r.UpdateRef(ctx, "refs/heads/"+branch, commit, "", "cordon: base"); err != nil {
			t.Fatal(err)
		}
		if got := must[OID](t)(r.Ref(ctx, "refs/heads/"+branch)); got != commit {
			t.Errorf("%v: %s", plain, got)
		}
		for _, name := range []string{"HEAD", "refs/heads/" + branch} {
			text := must[[]byte](t)(os.ReadFile(filepath.Join(r.Dir, "logs", name)))
			f := strings.SplitN(string(text), " ", 6) // the time differs
			_, reason, _ := strings.Cut(f[5], "\t")
			logs = append(logs, strings.Join(f[:4], " ")+" "+reason)
		}
	}
	if !slices.Equal(logs[:2], logs[2:]) {
		t.Errorf("%q", logs)
	}
}

func listed(t *testing.T, top string) (list []string) {
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		line := fi.Mode().String() + " " + strings.TrimPrefix(path, top)
		if d.Type().IsRegular() {
			line += " " + string(must[[]byte](t)(os.ReadFile(path)))
		}
		list = append(list, line)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What is remembered of a host is forgotten when git would answer otherwise.
func TestRemembered(t *testing.T) {
	ctx, top := context.Background(), t.TempDir()
	plain(t, top, "init", "-q", "-b", "main")
	plain(t, top, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
	h := must[Host](t)(Discover(ctx, find(t), top))
	look := func() (refs int, heads []string, values string) {
		for _, c := range must[[]Checkout](t)(h.Checkouts(ctx)) {
			heads = append(heads, c.Branch+" "+string(c.Head))
			values = must[Steering](t)(h.Steering(ctx, c)).Values[filepath.Join(h.Dir, "config")]["x.y"]
		}
		return len(must[[]Ref](t)(h.Refs(ctx))), heads, values
	}
	look()
	for _, change := range [][]string{
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "two"}, {"branch", "other"}, {"config", "x.y", "1"},
		{"checkout", "-q", "other"}, {"pack-refs", "--all"}, {"branch", "-d", "main"}, {"worktree", "add", "-q", "../linked-" + filepath.Base(top)},
		{"config", "include.path", "more"}, {"config", "-f", ".git/more", "x.y", "2"},
	} {
		plain(t, top, change...)
		refs, heads, values := look()
		h = h.Fresh()
		wantRefs, wantHeads, wantValues := look()
		if refs != wantRefs || !slices.Equal(heads, wantHeads) || values != wantValues {
			t.Errorf("after git %q: %d %q %q, want %d %q %q", change, refs, heads, values, wantRefs, wantHeads, wantValues)
		}
		h = must[Host](t)(Discover(ctx, find(t), top))
		look()
	}
	_ = os.RemoveAll(filepath.Join(filepath.Dir(top), "linked-"+filepath.Base(top)))
}
