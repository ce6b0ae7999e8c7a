package git

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what git answers about a worker's commits and trees, in bytes: a few
// objects can stand for any number of changes.
const (
	maxHistory = 48 << 20
	maxDiff    = 256 << 20
)

// Tree lists every file of a commit or tree.
func (r Repo) Tree(ctx context.Context, treeish OID) ([]File, error) {
	out, err := r.listTree(ctx, treeish)
	if err != nil {
		return nil, err
	}
	return readListed(lines(out))
}

func (r Repo) listTree(ctx context.Context, treeish OID) ([]byte, error) {
	return r.run(ctx, "ls-tree", "-r", "-z", "--full-tree", string(treeish))
}

// readListed reads the records of git ls-tree.
func readListed(recs []string) ([]File, error) {
	files := make([]File, 0, len(recs))
	for _, rec := range recs {
		meta, path, ok := strings.Cut(rec, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("unexpected answer from git ls-tree: %q", rec)
		}
		e, err := entry(f[0], f[2])
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: path, Entry: e})
	}
	return files, nil
}

// Special lists the files of a commit that are more than content: links, submodules and
// attributes. A large tree has few of them, and the name of a tree says what it holds, so git
// is asked once for each tree.
func (r Repo) Special(ctx context.Context, commit OID) ([]File, error) {
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	said, err := r.bin.remember("special\n"+string(tree), func() (string, error) {
		out, err := r.listTree(ctx, tree)
		return onlySpecial(string(out)), err
	})
	if err != nil {
		return nil, err
	}
	return readListed(lines([]byte(said)))
}

// onlySpecial leaves out the records of ordinary files.
func onlySpecial(said string) string {
	var b strings.Builder
	for rec := range strings.SplitAfterSeq(said, "\x00") {
		ordinary := strings.HasPrefix(rec, "100644 blob ") || strings.HasPrefix(rec, "100755 blob ")
		_, name, _ := strings.Cut(strings.TrimSuffix(rec, "\x00"), "\t")
		if !ordinary || path.Base(name) == Attributes {
			b.WriteString(rec)
		}
	}
	return b.String()
}

// Attributes is the name of the files that give attributes to paths.
const Attributes = ".gitattributes"

func entry(mode, oid string) (Entry, error) {
	m, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return Entry{}, fmt.Errorf("unexpected mode %q", mode)
	}
	o, err := ParseOID(oid)
	if err != nil {
		return Entry{}, err
	}
	if Mode(m) == Absent {
		o = ""
	}
	return Entry{Mode: Mode(m), OID: o}, nil
}

// Diff lists what differs between two trees, renames as two changes.
func (r Repo) Diff(ctx context.Context, from, to OID) ([]Delta, error) { return r.diff(ctx, from, to) }

// DiffOf lists those of the changes between two trees that add or remove a line of a form.
func (r Repo) DiffOf(ctx context.Context, from, to OID, line string) ([]Delta, error) {
	return r.diff(ctx, from, to, "--text", "--no-textconv", "--no-ext-diff", "-G"+line)
}

func (r Repo) diff(ctx context.Context, from, to OID, flags ...string) ([]Delta, error) {
	args := append([]string{"diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"}, flags...)
	out, err := r.call(ctx, call{most: maxDiff, args: append(args, string(from), string(to))})
	if err != nil {
		return nil, err
	}
	recs := lines(out)
	var deltas []Delta
	for len(recs) > 0 {
		var d Delta
		if d, recs, err = delta(recs); err != nil {
			return nil, err
		}
		deltas = append(deltas, d)
	}
	return deltas, nil
}

// delta reads one raw record, which spans two NUL-terminated strings.
func delta(recs []string) (Delta, []string, error) {
	f := strings.Fields(strings.TrimPrefix(recs[0], ":"))
	if len(recs) < 2 || len(f) != 5 || !strings.HasPrefix(recs[0], ":") {
		return Delta{}, nil, fmt.Errorf("unexpected answer from git diff-tree: %q", recs[0])
	}
	old, err := entry(f[0], f[2])
	if err != nil {
		return Delta{}, nil, err
	}
	new, err := entry(f[1], f[3])
	return Delta{Path: recs[1], Old: old, New: new}, recs[2:], err
}

// Commits lists the commits reachable from tips and not from base. With the flags --objects and
// --no-object-names it lists all objects.
func (r Repo) Commits(ctx context.Context, tips []OID, base OID, flags ...string) ([]OID, error) {
	if !slices.ContainsFunc(tips, func(t OID) bool { return t != base }) {
		return nil, nil
	}
	args := append([]string{"rev-list", "--topo-order", "--reverse", "--stdin"}, flags...)
	out, err := r.call(ctx, call{most: maxHistory, args: args, stdin: oneToALine(tips, base)})
	if err != nil {
		return nil, err
	}
	var commits []OID
	for _, w := range strings.Fields(string(out)) {
		c, err := ParseOID(w)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// CommitDeltas lists what each commit changed against each of its parents.
func (r Repo) CommitDeltas(ctx context.Context, commits []OID) ([]CommitDelta, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	out, err := r.call(ctx, call{stdin: oneToALine(commits), most: maxHistory, args: []string{"diff-tree", "--stdin", "-r", "-z", "-m", "--root", "--raw",
		"--no-abbrev", "--no-renames"}})
	if err != nil {
		return nil, err
	}
	var all []CommitDelta
	for recs := lines(out); len(recs) > 0; {
		if !strings.HasPrefix(recs[0], ":") {
			c, err := ParseOID(recs[0])
			if err != nil {
				return nil, err
			}
			all, recs = append(all, CommitDelta{Commit: c}), recs[1:]
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("unexpected answer from git diff-tree: %q", recs[0])
		}
		var d Delta
		if d, recs, err = delta(recs); err != nil {
			return nil, err
		}
		last := &all[len(all)-1]
		last.Deltas = append(last.Deltas, d)
	}
	return all, nil
}

// maxBlob bounds the files that cordon itself reads: policies, attributes, ignore
// rules.
const maxBlob = 16 << 20

// MaxLink is the longest target that a symbolic link can have.
const MaxLink = 4096

// Links returns the content of small blobs, for the targets of links. One that
// is longer than any link is left out.
func (r Repo) Links(ctx context.Context, oids []OID) (map[OID]string, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	small, err := r.smaller(ctx, oids, "blob", MaxLink)
	if err != nil {
		return nil, err
	}
	return r.contents(ctx, small)
}

// contents reads objects that are small and there.
func (r Repo) contents(ctx context.Context, names []string) (map[OID]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := r.call(ctx, call{args: []string{"cat-file", "--batch"}, stdin: strings.NewReader(strings.Join(names, "\n") + "\n")})
	if err != nil {
		return nil, err
	}
	contents := map[OID]string{}
	for text := string(out); text != ""; {
		head, rest, _ := strings.Cut(text, "\n")
		f := strings.Fields(head)
		if len(f) != 3 {
			return nil, fmt.Errorf("unexpected answer from git cat-file: %q", head)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n < 0 || n+1 > len(rest) {
			return nil, fmt.Errorf("unexpected answer from git cat-file: %q", head)
		}
		contents[OID(f[0])] = rest[:n]
		text = rest[n+1:]
	}
	return contents, nil
}

// smaller returns those of the objects that are of a kind and no longer than limit.
func (r Repo) smaller(ctx context.Context, oids []OID, kind string, limit int64) ([]string, error) {
	var small []string
	err := r.sizes(ctx, oids, func(oid, is string, size int64) {
		if size <= limit && is == kind {
			small = append(small, oid)
		}
	})
	return small, err
}

// Larger returns one of the objects that is longer than limit; "" for none.
func (r Repo) Larger(ctx context.Context, oids []OID, limit int64) (large OID, err error) {
	err = r.sizes(ctx, oids, func(oid, _ string, size int64) {
		if size > limit {
			large = OID(oid)
		}
	})
	return large, err
}

// sizes tells the kind and the size of each of the objects. A missing one is passed
// over: whoever needs it finds out.
func (r Repo) sizes(ctx context.Context, oids []OID, each func(oid, kind string, size int64)) error {
	out, err := r.call(ctx, call{args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"}, stdin: oneToALine(oids)})
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return fmt.Errorf("unexpected answer from git cat-file: %q", line)
		}
		each(f[0], f[1], n)
	}
	return nil
}

// Merge is the outcome of merging two commits without a checkout.
type Merge struct {
	Tree      OID
	Conflicts []string
}

// MergeTrees merges two commits into a tree.
func (r Repo) MergeTrees(ctx context.Context, ours, theirs OID) (Merge, error) {
	mute, err := r.neutral(ctx, r.Dir)
	if err != nil {
		return Merge{}, err
	}
	args := []string{"merge-tree", "--write-tree", "--no-messages", "-z", "--name-only", string(ours), string(theirs)}
	out, err := r.call(ctx, call{args: args, mute: mute})
	if err != nil && exitCode(err) != 1 {
		return Merge{}, err
	}
	recs := lines(out)
	if len(recs) == 0 {
		return Merge{}, fmt.Errorf("unexpected answer from git merge-tree: %q", out)
	}
	tree, perr := ParseOID(recs[0])
	if perr != nil {
		return Merge{}, perr
	}
	if err == nil {
		return Merge{Tree: tree}, nil
	}
	if len(recs) == 1 {
		return Merge{}, fmt.Errorf("git merge-tree reports a conflict and names no path")
	}
	return Merge{Tree: tree, Conflicts: recs[1:]}, nil
}

// Person is an author or committer.
type Person struct{ Name, Email string }

// CommitTree writes a commit whose committer is cordon.
func (r Repo) CommitTree(ctx context.Context, tree OID, parents []OID, message string, author Person) (OID, error) {
	return r.CommitAs(ctx, tree, parents, message, Credit{Author: author})
}
