package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// CheckFilter returns the filters that the .gitattributes files below top name for paths.
// top is a directory of cordon's own that holds nothing else.
func (r Repo) CheckFilter(ctx context.Context, top string, paths []string) (map[string]string, error) {
	filters := map[string]string{}
	for len(paths) > 0 {
		var in strings.Builder
		n := 0
		for ; n < len(paths) && in.Len() < 8<<20; n++ {
			in.WriteString(paths[n] + "\x00")
		}
		out, err := r.bin.run(ctx, call{
			dir: top, repo: []string{"--git-dir=" + r.Dir, "--work-tree=" + top},
			env:   []string{"GIT_INDEX_FILE=" + filepath.Join(top, ".none")}, // an index has attributes too
			args:  []string{"check-attr", "-z", "--stdin", "filter"},
			stdin: strings.NewReader(in.String()),
		})
		if err != nil {
			return nil, err
		}
		recs := lines(out)
		if len(recs) != 3*n {
			return nil, errors.New("unexpected answer from git check-attr")
		}
		for i := range n {
			if recs[3*i] != paths[i] {
				return nil, fmt.Errorf("unexpected answer from git check-attr: %q", recs[3*i])
			}
			if value := recs[3*i+2]; value != "unspecified" && value != "unset" && value != "set" {
				filters[paths[i]] = value
			}
		}
		paths = paths[n:]
	}
	return filters, nil
}

// SmallBlobs reads those of some blobs that are no longer than limit.
func (r Repo) SmallBlobs(ctx context.Context, oids []OID, limit int64) (map[OID][]byte, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	o, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return o.readBlobs(oids, limit)
}

// Modules are the names of the submodules of a commit by their paths, as its .gitmodules
// file says. Everything else in that file is not read.
func (r Repo) Modules(ctx context.Context, commit OID) (map[string]string, error) {
	if _, ok, err := r.FileAt(ctx, commit, ".gitmodules"); err != nil || !ok {
		return nil, err
	}
	out, err := r.run(ctx, "config", "-z", "--no-includes", "--blob="+string(commit)+":.gitmodules", "--get-regexp", `^submodule\..*\.path$`)
	if exitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, rec := range lines(out) {
		key, path, ok := strings.Cut(rec, "\n")
		if name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path"); ok && path != "" {
			names[path] = name
		}
	}
	return names, nil
}

// FilterNames are the filters that the operator's own git has a configuration for in a checkout:
// a program, or the word that it is required.
func (r Repo) FilterNames(ctx context.Context, c Checkout) (map[string]bool, error) {
	out, err := r.bin.run(ctx, call{
		operator: true, dir: c.GitDir, repo: []string{"--git-dir=" + c.GitDir},
		args: []string{"config", "-z", "--includes", "--name-only", "--get-regexp", `^filter\.`},
	})
	if err != nil && exitCode(err) != 1 {
		return nil, err
	}
	names := map[string]bool{}
	for _, key := range lines(out) {
		if i := strings.LastIndexByte(key, '.'); i > len("filter.") {
			names[key[len("filter."):i]] = true
		}
	}
	return names, nil
}

// FilterNames are the filters that the operator's own git runs programs for. Attributes that
// name another one change nothing: git passes such content on as it is.
func (h Host) FilterNames(ctx context.Context) (map[string]bool, error) {
	return h.Repo.FilterNames(ctx, Checkout{GitDir: h.Private})
}
