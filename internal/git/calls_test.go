package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// calls has a call of every exported function and method.
func (tr *trap) calls() map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{}
	for _, calls := range []map[string]func(context.Context) error{
		tr.places(), tr.repositories(), tr.settings(), tr.indexes(), tr.checkouts(), tr.names(), tr.commits(), tr.objects(), tr.trees(), tr.contents(), tr.writes(), tr.packs(),
	} {
		maps.Copy(all, calls)
	}
	return all
}

// places are calls that find repositories and checkouts.
func (tr *trap) places() map[string]func(context.Context) error {
	h, r := tr.host, tr.host.Repo
	return map[string]func(context.Context) error{
		"Find": func(ctx context.Context) error { _, err := Find(ctx); return err },
		"Discover": func(ctx context.Context) error {
			found, err := Discover(ctx, r.bin, h.Top)
			if err == nil && found.Dir != h.Dir {
				err = fmt.Errorf("found %s", found.Dir)
			}
			return err
		},
		"HeadBranch": func(ctx context.Context) error { _, err := h.HeadBranch(ctx); return err },
		"HeadCommit": func(ctx context.Context) error { _, err := h.HeadCommit(ctx); return err },
		"Checkouts": func(ctx context.Context) error {
			all, err := r.Checkouts(ctx)
			if err == nil && len(all) != 2 {
				err = fmt.Errorf("%d checkouts", len(all))
			}
			return err
		},
		"GitDirs": func(context.Context) error {
			if n := len(r.GitDirs()); n != 2 {
				return fmt.Errorf("%d git directories", n)
			}
			return nil
		},
		"ObjectsDir":  func(context.Context) error { return wantTrue(r.ObjectsDir() != "", nil) },
		"ShallowFile": func(context.Context) error { _, err := r.ShallowFile(); return err },
		"Promisor":    func(ctx context.Context) error { _, err := r.Promisor(ctx); return err },
	}
}

// repositories are calls that make repositories.
func (tr *trap) repositories() map[string]func(context.Context) error {
	r, t, main := tr.host.Repo, tr.t, tr.tip
	return map[string]func(context.Context) error{
		"Init": func(ctx context.Context) error {
			fresh, err := Init(ctx, r.bin, filepath.Join(t.TempDir(), "x"), InitOptions{Format: SHA1, Alternate: r.ObjectsDir()})
			if _, serr := os.Stat(filepath.Join(fresh.Dir, "hooks")); serr == nil {
				return fmt.Errorf("a template was copied")
			}
			return err
		},
		"Found": func(ctx context.Context) error {
			fresh, err := Init(ctx, r.bin, filepath.Join(t.TempDir(), "x"), InitOptions{Format: SHA1, Alternate: r.ObjectsDir()})
			if err != nil {
				return err
			}
			return fresh.Found(ctx, main, "b")
		},
		"Populate": func(ctx context.Context) error {
			top := filepath.Join(t.TempDir(), "x")
			fresh, err := Init(ctx, r.bin, top, InitOptions{Format: SHA1, Alternate: r.ObjectsDir(), Branch: "b"})
			if err != nil {
				return err
			}
			return fresh.Populate(ctx, top, main, "b", nil)
		},
		"Layer": func(ctx context.Context) error {
			dir := t.TempDir()
			fresh, err := Init(ctx, r.bin, filepath.Join(dir, "x"), InitOptions{Format: SHA1, Alternate: r.ObjectsDir()})
			if err != nil {
				return err
			}
			tree, top := must[OID](t)(r.TreeOf(ctx, main)), filepath.Join(dir, "top")
			if err := errors.Join(os.Mkdir(top, 0o755), fresh.Layer(ctx, top, tree, []string{"a.txt"})); err != nil {
				return err
			}
			names, err := os.ReadDir(top)
			return wantTrue(len(names) == 1, err)
		},
	}
}

// settings are calls that read configuration.
func (tr *trap) settings() map[string]func(context.Context) error {
	h, r, t := tr.host, tr.host.Repo, tr.t
	return map[string]func(context.Context) error{
		"ConfigValue": func(ctx context.Context) error { _, _, err := r.ConfigValue(ctx, "core.fsmonitor"); return err },
		"Filters":     func(ctx context.Context) error { return wantTrue(r.Filters(ctx)) },
		"FiltersIn":   func(ctx context.Context) error { return wantTrue(r.FiltersIn(ctx, tr.linked)) },
		"FilterNames": func(ctx context.Context) error { _, err := r.FilterNames(ctx, tr.linked); return err },
		"CheckFilter": func(ctx context.Context) error {
			_, err := r.CheckFilter(ctx, t.TempDir(), []string{"a.txt"})
			return err
		},
		"Steering": func(ctx context.Context) error {
			o, err := r.Steering(ctx, tr.linked)
			return wantTrue(o.Hooks == "" && slices.Contains(o.Files, filepath.Join(h.Dir, "evil.inc")) && slices.Contains(o.Files,
				filepath.Join(tr.linked.GitDir, "config.worktree")) && len(o.Values[filepath.Join(h.Dir, "evil.inc")]) > 0, err)
		},
		"Operator": func(ctx context.Context) error {
			o, err := tr.host.Operator(ctx, []string{tr.host.Top})
			if err == nil && (o.Program("gpg.program") != "" || o.Value("gpg.program") == "") {
				err = fmt.Errorf("the repository's own program is %q, and %q is obeyed", o.Value("gpg.program"), o.Program("gpg.program"))
			}
			return err
		},
		"Settings": func(ctx context.Context) error {
			list, err := r.Settings(ctx, tr.linked)
			return wantTrue(slices.ContainsFunc(list, func(s Setting) bool { return s.Origin == filepath.Join(h.Dir, "evil.inc") }), err)
		},
	}
}

// indexes are calls that write indexes.
func (tr *trap) indexes() map[string]func(context.Context) error {
	r, t, main, first := tr.host.Repo, tr.t, tr.tip, tr.base
	return map[string]func(context.Context) error{
		"CopyIndex": func(context.Context) error { return r.CopyIndex(tr.main, filepath.Join(t.TempDir(), "index")) },
		"WriteIndex": func(ctx context.Context) error {
			return r.WriteIndex(ctx, main, filepath.Join(t.TempDir(), "index"))
		},
		"Refresh": func(ctx context.Context) error {
			index := filepath.Join(tr.main.GitDir, "index")
			return errors.Join(r.Refresh(ctx, tr.main, index), r.Refresh(ctx, tr.main, index, "a.txt"))
		},
		"Forget": func(ctx context.Context) error {
			index := filepath.Join(t.TempDir(), "index")
			if err := r.CopyIndex(tr.main, index); err != nil {
				return err
			}
			c := tr.main
			c.Index = index
			// Files that seem to be written after the index: git reads them when it writes it.
			for _, name := range []string{"equals.dat", "inc.inc"} {
				later := time.Now().Add(time.Hour)
				if err := os.Chtimes(filepath.Join(c.Top, name), later, later); err != nil {
					return err
				}
			}
			if err := r.Refresh(ctx, c, index); err != nil {
				return err
			}
			return r.Forget(ctx, c, []File{{Path: "a.txt", Entry: Entry{Regular, tr.blob}}})
		},
		"Stage": func(ctx context.Context) error {
			for _, step := range [][2]OID{{main, first}, {main, main}} {
				dir := t.TempDir()
				top := filepath.Join(dir, "tree")
				if err := os.Mkdir(top, 0o700); err != nil {
					return err
				}
				index := filepath.Join(dir, "index")
				if err := r.Stage(ctx, tr.main, step[0], step[1], index, top); err != nil {
					return err
				}
			}
			return nil
		},
		"Trial": func(ctx context.Context) error { return r.Trial(ctx, main, first, "", t.TempDir()) },
	}
}

// checkouts are calls that read or hide files of checkouts.
func (tr *trap) checkouts() map[string]func(context.Context) error {
	h, r, t := tr.host, tr.host.Repo, tr.t
	return map[string]func(context.Context) error{
		"Status": func(ctx context.Context) error { return tr.statuses(ctx) },
		"Index": func(ctx context.Context) error {
			got, err := r.Index(ctx, tr.linked)
			return wantTrue(len(got) > 0, err)
		},
		"HiddenBits": func(ctx context.Context) error {
			_, err := r.HiddenBits(ctx, tr.linked)
			return err
		},
		"Staged": func(ctx context.Context) error { _, err := r.Staged(ctx, tr.linked, tr.side); return err },
		"Conceal": func(ctx context.Context) error {
			if err := r.Conceal(ctx, tr.linked, []string{"a.txt"}); err != nil {
				return err
			}
			hidden, err := r.HiddenBits(ctx, tr.linked)
			return wantTrue(len(hidden) == 1, err)
		},
		"IgnoredWith": func(ctx context.Context) error {
			patterns := filepath.Join(t.TempDir(), "patterns")
			write(t, patterns, "*.ign\n")
			write(t, filepath.Join(h.Top, "x.ign"), "x")
			got, err := r.IgnoredWith(ctx, tr.main, patterns)
			return wantOne(got, "x.ign", err)
		},
		"CheckIgnore": func(ctx context.Context) error {
			got, err := r.CheckIgnore(ctx, h.Top, []string{"y.ign", "y.txt"})
			if err == nil && (!got["y.ign"] || got["y.txt"]) {
				err = fmt.Errorf("%v", got)
			}
			return err
		},
	}
}

// names are calls that read and write references.
func (tr *trap) names() map[string]func(context.Context) error {
	h, r, main, first := tr.host, tr.host.Repo, tr.tip, tr.base
	return map[string]func(context.Context) error{
		"Refs":        func(ctx context.Context) error { _, err := r.Refs(ctx); return err },
		"Ref":         func(ctx context.Context) error { _, err := r.Ref(ctx, "refs/heads/main"); return err },
		"IsSymbolic":  func(ctx context.Context) error { _, err := r.IsSymbolic(ctx, "refs/heads/main"); return err },
		"ValidBranch": func(ctx context.Context) error { return wantTrue(r.ValidBranch(ctx, "x/y"), nil) },
		"Lookup": func(ctx context.Context) error {
			got, err := r.Lookup(ctx, []string{"refs/heads/main"})
			return wantTrue(len(got) == 1 && got[0] == (Found{main, "commit"}), err)
		},
		"UpdateRef":   func(ctx context.Context) error { return r.UpdateRef(ctx, "refs/x/u", main, "", "t") },
		"SetRefs":     func(ctx context.Context) error { return r.SetRefs(ctx, []Ref{{Name: "refs/x/s", OID: main}}, "t") },
		"Holds":       func(context.Context) error { return wantTrue(r.Holds(Ref{Name: "refs/heads/main", OID: main}), nil) },
		"DropRefLock": func(context.Context) error { return r.DropRefLock("refs/x/m", main) },
		"Fresh":       func(ctx context.Context) error { _, err := h.Fresh().Refs(ctx); return err },
		"PrepareRef": func(ctx context.Context) error {
			if _, err := r.PrepareRef(ctx, "refs/x/m", main, first, "t"); !errors.Is(err, ErrMoved) {
				return fmt.Errorf("a ref that is not there: %w", err)
			}
			for _, commit := range []bool{false, true} {
				m, err := r.PrepareRef(ctx, "refs/x/m", main, r.Format.Zero(), "t", os.Stdin)
				if err != nil {
					return err
				}
				if !commit {
					m.Abort()
				} else if err := m.Commit(); err != nil {
					return err
				}
				if _, err := r.Ref(ctx, "refs/x/m"); (err == nil) != commit {
					return fmt.Errorf("commit %v: %w", commit, err)
				}
			}
			return nil
		},
	}
}

// commits are calls that follow and show commits.
func (tr *trap) commits() map[string]func(context.Context) error {
	r, main, first := tr.host.Repo, tr.tip, tr.base
	return map[string]func(context.Context) error{
		"Commit":     func(ctx context.Context) error { _, err := r.Commit(ctx, "main~1"); return err },
		"Subject":    func(ctx context.Context) error { _, err := r.Subject(ctx, main); return err },
		"MergeBase":  func(ctx context.Context) error { _, err := r.MergeBase(ctx, main, tr.side); return err },
		"IsAncestor": func(ctx context.Context) error { return wantTrue(r.IsAncestor(ctx, first, tr.grafted)) },
		"Graph": func(ctx context.Context) error {
			g, err := r.Graph(ctx, main, []OID{first})
			return wantTrue(err == nil && g.Merged(first) && g.Behind(first) == 2, err)
		},
		"Commits": func(ctx context.Context) error {
			got, err := r.Commits(ctx, []OID{main}, first)
			return wantTrue(len(got) == 2, err)
		},
		"Committers": func(ctx context.Context) error {
			got, err := r.Committers(ctx, first, main)
			return wantTrue(len(got) == 2, err)
		},
		"CommitDeltas": func(ctx context.Context) error {
			got, err := r.CommitDeltas(ctx, []OID{main, tr.side})
			return wantTrue(len(got) > 0, err)
		},
		"CommitTexts": func(ctx context.Context) error {
			got, err := r.CommitTexts(ctx, []OID{main, first})
			if err == nil && (len(got) != 2 || got[0].Commit != main || got[1].Commit != first || len(got[0].Headers) < 3 || got[1].Message == "") {
				err = fmt.Errorf("got %+v", got)
			}
			return err
		},
		"Patch": func(ctx context.Context) error {
			var out bytes.Buffer
			err := r.Patch(ctx, &out, first, main, true, "--stat", "-p")
			if err == nil && !strings.Contains(out.String(), "merged.mrg") {
				err = fmt.Errorf("%s", &out)
			}
			return err
		},
	}
}

// objects are calls that ask for objects that are not there.
func (tr *trap) objects() map[string]func(context.Context) error {
	r, main := tr.host.Repo, tr.tip
	return map[string]func(context.Context) error{
		"Missing": func(ctx context.Context) error {
			got, err := r.Missing(ctx, main)
			return wantTrue(len(got) == 0, err)
		},
		// Nothing is missing, so nothing is fetched.
		"Complete": func(ctx context.Context) error { return r.Complete(ctx, main, nil) },
		// It obeys the operator's configuration on purpose, and is for objects of the operator's commits.
		"FetchObjects": func(ctx context.Context) error { return wantTrue(r.FetchObjects(ctx, "", nil) != nil, nil) },
		"Kinds": func(ctx context.Context) error {
			kinds, err := r.Kinds(ctx, []OID{main, tr.missing})
			if err == nil && (kinds[main] != "commit" || kinds[tr.missing] != "") {
				err = fmt.Errorf("%v", kinds)
			}
			return err
		},
		"Larger": func(ctx context.Context) error {
			large, err := r.Larger(ctx, []OID{main, tr.blob, tr.missing}, 1<<20)
			small, serr := r.Larger(ctx, []OID{main}, 1)
			if large != "" || small != main {
				return fmt.Errorf("%q, %q", large, small)
			}
			return errors.Join(err, serr)
		},
		"Links": func(ctx context.Context) error {
			long, err := r.PutBlob(ctx, strings.NewReader(strings.Repeat("x", MaxLink+1)))
			if err != nil {
				return err
			}
			got, err := r.Links(ctx, []OID{tr.blob, long, tr.missing})
			if err == nil && (len(got) != 1 || got[tr.blob] == "") {
				err = fmt.Errorf("got %q, want the one small blob", got)
			}
			return err
		},
		"SmallBlobs": func(ctx context.Context) error {
			got, err := r.SmallBlobs(ctx, []OID{tr.blob, tr.missing}, 10)
			return wantTrue(len(got) == 1, err)
		},
	}
}

// trees are calls that read trees.
func (tr *trap) trees() map[string]func(context.Context) error {
	r, main, first := tr.host.Repo, tr.tip, tr.base
	return map[string]func(context.Context) error{
		"TreeOf": func(ctx context.Context) error { _, err := r.TreeOf(ctx, main); return err },
		"Tree":   func(ctx context.Context) error { got, err := r.Tree(ctx, main); return wantTrue(len(got) == 8, err) },
		"FilesBelow": func(ctx context.Context) error {
			got, err := r.FilesBelow(ctx, main, "")
			return wantTrue(len(got) == 8, err)
		},
		"Special": func(ctx context.Context) error { _, err := r.Special(ctx, main); return err },
		"Modules": func(ctx context.Context) error { _, err := r.Modules(ctx, main); return err },
		"Diff": func(ctx context.Context) error {
			got, err := r.Diff(ctx, first, main)
			return wantTrue(len(got) == 2, err)
		},
		"DiffOf": func(ctx context.Context) error {
			got, err := r.DiffOf(ctx, first, main, ".")
			return wantTrue(len(got) == 2, err)
		},
		"TreeChanges": func(ctx context.Context) error {
			got, err := r.TreeChanges(ctx, first, main)
			return wantTrue(len(got) == 2, err)
		},
		"MergeTrees": func(ctx context.Context) error {
			m, err := r.MergeTrees(ctx, main, tr.side)
			return wantOne(m.Conflicts, "merged.mrg", err)
		},
	}
}

// contents are calls that read files.
func (tr *trap) contents() map[string]func(context.Context) error {
	r, main := tr.host.Repo, tr.tip
	return map[string]func(context.Context) error{
		"FileAt": func(ctx context.Context) error { _, ok, err := r.FileAt(ctx, main, "a.txt"); return wantTrue(ok, err) },
		"Listing": func(ctx context.Context) error {
			l, err := r.Listing(ctx, main)
			if err != nil {
				return err
			}
			defer l.Close()
			text, err := l.Blob(l.Entry("a.txt").OID, 10)
			if err == nil && string(text) != "a\n" {
				err = fmt.Errorf("a replaced object was read: %q", text)
			}
			if _, merr := l.Blob(tr.missing, 10); merr == nil {
				err = fmt.Errorf("a missing object was fetched")
			}
			return wantTrue(len(l.All()) == 8 && l.Err() == nil, err)
		},
		"Blob": func(ctx context.Context) error {
			got, err := r.Blob(ctx, tr.blob)
			if err == nil && string(got) != "a\n" {
				err = fmt.Errorf("a replaced object was read: %q", got)
			}
			if _, merr := r.Blob(ctx, tr.missing); merr == nil {
				err = fmt.Errorf("a missing object was fetched")
			}
			return err
		},
	}
}

// writes are calls that write objects.
func (tr *trap) writes() map[string]func(context.Context) error {
	r, main := tr.host.Repo, tr.tip
	return map[string]func(context.Context) error{
		"Snapshot": func(ctx context.Context) error {
			_, err := r.Snapshot(ctx, "refs/in/x", main, "m", func(w *Writer) error {
				w.Delete("inc.inc")
				return w.Put("a.txt", Regular, 2, strings.NewReader("z\n"))
			})
			return err
		},
		"PutBlob": func(ctx context.Context) error { _, err := r.PutBlob(ctx, strings.NewReader("x")); return err },
		"PutTree": func(ctx context.Context) error {
			_, err := r.PutTree(ctx, []File{{"a.txt", Entry{Regular, tr.blob}}})
			return err
		},
		"CommitTree": func(ctx context.Context) error {
			tree, err := r.TreeOf(ctx, main)
			if err != nil {
				return err
			}
			_, err = r.CommitTree(ctx, tree, []OID{main}, "m", Person{"n", "e@x"})
			return err
		},
		"CommitAs": func(ctx context.Context) error {
			tree, err := r.TreeOf(ctx, main)
			if err != nil {
				return err
			}
			_, err = r.CommitAs(ctx, tree, []OID{main}, "m", Credit{Author: Person{"n", "e@x"}, Committer: Person{"c", "c@x"}})
			return err
		},
	}
}

// packs are calls that hand objects on.
func (tr *trap) packs() map[string]func(context.Context) error {
	r, t, main := tr.host.Repo, tr.t, tr.tip
	return map[string]func(context.Context) error{
		"Send": func(ctx context.Context) error {
			fresh, err := Init(ctx, r.bin, filepath.Join(t.TempDir(), "x"), InitOptions{Format: SHA1, Bare: true})
			if err != nil {
				return err
			}
			return r.Send(ctx, fresh, []OID{main}, nil)
		},
		"SendForeign": func(ctx context.Context) error {
			fresh, err := Init(ctx, r.bin, filepath.Join(t.TempDir(), "x"), InitOptions{Format: SHA1, Bare: true})
			if err != nil {
				return err
			}
			return r.SendForeign(ctx, fresh, []OID{main}, nil)
		},
		"AddPack":         func(ctx context.Context) error { return r.AddPack(ctx, tr.pack(ctx, main)) },
		"AddPackUnlinked": func(ctx context.Context) error { _, err := r.AddPackUnlinked(ctx, tr.pack(ctx, main)); return err },
		"WritePack":       func(ctx context.Context) error { return r.WritePack(ctx, io.Discard, []OID{main}, nil) },
	}
}

// statuses looks at both checkouts. The files were touched, not changed.
func (tr *trap) statuses(ctx context.Context) error {
	for _, c := range []Checkout{tr.main, tr.linked} {
		got, err := tr.host.Status(ctx, c, false)
		if err != nil || len(got) > 0 {
			return fmt.Errorf("%s: %v %w", c.Top, got, err)
		}
	}
	return nil
}

func (tr *trap) pack(ctx context.Context, tip OID) io.Reader {
	var pack bytes.Buffer
	_, err := tr.host.call(ctx, call{args: []string{"pack-objects", "--revs", "--stdout", "--quiet"}, stdin: strings.NewReader(tip.line()), stdout: &pack})
	if err != nil {
		tr.t.Fatal(err)
	}
	return &pack
}

func wantTrue(ok bool, err error) error {
	if err == nil && !ok {
		err = fmt.Errorf("unexpected answer")
	}
	return err
}

func wantOne(got []string, want string, err error) error {
	if err == nil && (len(got) != 1 || got[0] != want) {
		err = fmt.Errorf("got %q, want %q", got, want)
	}
	return err
}
