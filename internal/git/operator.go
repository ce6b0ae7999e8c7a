package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/paths"
)

// Operator is the configuration that the operator's own git has in their repository.
// Values that name a program come from the system, from the operator's own files and from
// the environment: a worker that was not confined could have written the repository's.
type Operator struct {
	values []Setting
	own    []bool // of each value: it does not stand in the repository's own files
	trees  []string
}

// Operator reads the configuration. trees are the directories in which workers write, and
// checkouts: a file of the configuration that lies in one says nothing. Listing a
// configuration runs nothing that it says.
func (h Host) Operator(ctx context.Context, trees []string) (Operator, error) {
	o := Operator{trees: trees}
	out, err := h.bin.run(ctx, call{
		operator: true, repo: []string{"--git-dir=" + h.Private}, dir: h.Private,
		args: []string{"config", "--includes", "--show-scope", "--show-origin", "-z", "--list"},
	})
	if err != nil {
		return o, err
	}
	recs := lines(out)
	for i := 0; i+2 < len(recs); i += 3 {
		s := Setting{}
		s.Key, s.Value, _ = strings.Cut(recs[i+2], "\n")
		file, inFile := strings.CutPrefix(recs[i+1], "file:")
		if inFile && !filepath.IsAbs(file) {
			file = filepath.Join(h.Private, file)
		}
		if inFile {
			s.Origin = file
		}
		own := !slices.Contains([]string{"local", "worktree"}, recs[i])
		if inFile && own && o.InTree(file) {
			continue
		}
		o.values, o.own = append(o.values, s), append(o.own, own)
	}
	return o, nil
}

// Value is the last value of a key, wherever it stands. A key has lower case.
func (o Operator) Value(key string) string { return o.last(key, false) }

// Program is the last value of a key that the repository's own files cannot set.
func (o Operator) Program(key string) string { return o.last(key, true) }

func (o Operator) last(key string, own bool) string {
	for i, s := range slices.Backward(o.values) {
		if s.Key == key && (o.own[i] || !own) {
			return s.Value
		}
	}
	return ""
}

// Under lists the settings below a section that end in a name, such as hook.NAME.event.
func (o Operator) Under(section, name string) []Setting {
	return slices.DeleteFunc(slices.Clone(o.values), func(s Setting) bool {
		first, _, last := s.parts()
		return first != section || last != name
	})
}

// Outside refuses a command of which a word lies in a tree, also one that PATH leads to.
func (o Operator) Outside(what, command string) error {
	for _, w := range words(command) {
		at := Homed(w.Text)
		if w.Command && !strings.Contains(at, "/") {
			found, err := exec.LookPath(at)
			if err != nil {
				continue
			}
			at = found
		}
		if at == "" || !w.Command && !strings.Contains(at, "/") {
			continue
		}
		if full, err := filepath.Abs(at); err != nil || o.InTree(full) {
			return fmt.Errorf("%s %q is not run: %s lies in a tree that a worker could have written", what, command, at)
		}
	}
	return nil
}

// InTree reports whether a path, or what it leads to, lies in a tree. What lies in the git
// directory of a checkout does not.
func (o Operator) InTree(path string) bool {
	places := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		places = append(places, real)
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		places = append(places, filepath.Join(parent, filepath.Base(path)))
	}
	for _, tree := range o.trees {
		if real, err := filepath.EvalSymlinks(tree); err == nil {
			tree = real
		}
		for _, place := range places {
			if _, err := os.Lstat(place); err == nil && paths.Within(place, tree) && !paths.Within(place, filepath.Join(tree, ".git")) {
				return true
			}
		}
	}
	return false
}
