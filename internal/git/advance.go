package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Index lists the entries of a checkout's index that are not in conflict.
func (r Repo) Index(ctx context.Context, c Checkout) (map[string]Entry, error) {
	out, err := r.in(ctx, c, call{listing: true, args: []string{"ls-files", "-z", "--stage"}})
	if err != nil {
		return nil, err
	}
	index := map[string]Entry{}
	for _, rec := range lines(out) {
		meta, name, ok := strings.Cut(rec, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("unexpected answer from git ls-files: %q", rec)
		}
		if f[2] != "0" {
			continue
		}
		if index[name], err = entry(f[0], f[1]); err != nil {
			return nil, err
		}
	}
	return index, nil
}

// Staged lists the paths in which the index of a checkout differs from a commit.
func (r Repo) Staged(ctx context.Context, c Checkout, commit OID) ([]string, error) {
	out, err := r.in(ctx, c, call{listing: true, args: []string{"diff-index", "--cached", "-z", "--name-only", "--no-renames", string(commit), "--"}})
	return lines(out), err
}

// Stage does what a checkout of a commit would do, somewhere else: it writes the files
// that differ between two commits below the empty directory top, as this checkout would
// have them (line ends, encodings, sparse patterns), and writes the index that the
// checkout has afterwards to the file index. The checkout itself is not touched.
//
// Git takes a file that is missing for one that was not changed, so that in an empty
// directory a two-way merge of the index writes exactly what is new.
func (r Repo) Stage(ctx context.Context, c Checkout, from, to OID, index, top string) error {
	if err := copyFile(c.index(), index); err != nil {
		return err
	}
	config, err := r.lineEnds(ctx, c)
	if err != nil {
		return err
	}
	_, err = r.in(ctx, Checkout{Top: top, GitDir: c.GitDir, Index: index}, call{
		patience: -1,
		// One whole index: a split one would have parts in the git directory.
		config: append(config, "core.splitIndex=false", "checkout.workers=1"),
		args:   []string{"read-tree", "-m", "-u", string(from), string(to)},
	})
	return err
}

// CopyIndex copies the index of a checkout to a new file.
func (r Repo) CopyIndex(c Checkout, to string) error { return copyFile(c.index(), to) }

// WriteIndex makes an index file of a tree, which knows no file on disk.
func (r Repo) WriteIndex(ctx context.Context, tree OID, index string) error {
	_, err := r.call(ctx, call{env: []string{"GIT_INDEX_FILE=" + index}, args: []string{"read-tree", string(tree)}})
	return err
}

// Trial checks out what differs between two commits below the empty directory dir, to
// find out whether that can be done. A copy of an index of the first one spares git the making.
func (r Repo) Trial(ctx context.Context, from, to OID, index, dir string) error {
	c := Checkout{Top: filepath.Join(dir, "tree"), GitDir: r.Dir, Index: filepath.Join(dir, "index")}
	if err := os.Mkdir(c.Top, 0o700); err != nil {
		return err
	}
	steps := [][]string{{"read-tree", string(from)}, {"read-tree", "-m", "-u", string(from), string(to)}}
	copied := index != "" && copyFile(index, c.Index) == nil
	if copied {
		steps = steps[1:]
	}
	for _, args := range steps {
		_, err := r.in(ctx, c, call{patience: -1, config: []string{"core.bare=false", "core.fsync=none", "checkout.workers=1"}, args: args})
		if err == nil {
			continue
		}
		if copied { // it may be the index
			return errors.Join(os.RemoveAll(c.Top), os.RemoveAll(c.Index), r.Trial(ctx, from, to, "", dir))
		}
		return err
	}
	return nil
}

// Refresh makes an index file know the files of a checkout that have the content which
// the index says, so that git status need not read them again. It may be limited to a few
// paths that the index has.
func (r Repo) Refresh(ctx context.Context, c Checkout, index string, paths ...string) error {
	config, err := r.lineEnds(ctx, c)
	if err != nil {
		return err
	}
	c.Index = index
	args := []string{"update-index", "-q", "--refresh", "--ignore-submodules"}
	if len(paths) > 0 && len(paths) <= fewPaths {
		args = []string{"add", "--refresh", "--ignore-errors"}
	} else {
		paths = nil
	}
	_, err = r.in(ctx, c, only(call{config: append(config, "core.splitIndex=false"), args: args}, paths))
	if exitCode(err) == 1 { // some files differ
		return nil
	}
	return err
}

// Forget makes an index file know nothing of some files but what it has for them: git reads
// them when it next looks, with the filters that they need.
func (r Repo) Forget(ctx context.Context, c Checkout, files []File) error {
	if len(files) == 0 {
		return nil
	}
	var in strings.Builder
	for _, f := range files {
		fmt.Fprintf(&in, "%s %s 0\t%s\x00", f.Mode, f.OID, f.Path)
	}
	_, err := r.in(ctx, c, call{
		config: []string{"core.splitIndex=false"}, // and it reads files that may be younger than the index
		args:   []string{"update-index", "-z", "--index-info"}, stdin: strings.NewReader(in.String()),
	})
	return err
}

// lineEnds are the settings by which this checkout has other bytes than its commits, for
// the calls that write or compare its files: those of the repository, of the operator and
// of the system, as the operator's own git reads them.
func (r Repo) lineEnds(ctx context.Context, c Checkout) ([]string, error) {
	out, err := r.bin.run(ctx, call{
		operator: true, dir: c.GitDir, repo: []string{"--git-dir=" + c.GitDir},
		args: []string{"config", "-z", "--includes", "--get-regexp", `^core\.(autocrlf|eol|attributesfile)$`},
	})
	if err != nil && exitCode(err) != 1 {
		return nil, err
	}
	attributes := filepath.Join(configHome(), "git", "attributes")
	var config []string
	for _, rec := range lines(out) {
		key, value, _ := strings.Cut(rec, "\n")
		switch {
		case key == "core.attributesfile":
			attributes = Homed(value)
		case value == "":
			config = append(config, key+"=true") // a key alone
		default:
			config = append(config, key+"="+value)
		}
	}
	if filepath.IsAbs(attributes) && isFile(attributes) {
		config = append(config, "core.attributesFile="+attributes)
	}
	return config, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}
