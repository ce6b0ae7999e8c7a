package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"cordon/internal/testschema"
)

// Where the files of a worker lie on the host depends on the kind of its tree: all of
// them in a plain directory, or those that it changed in a layer.

// tree sets TREE to where a worker's own files lie on the host, and GITDIR to its
// repository: tree $ID. Both have to be there.
func scriptTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tree ID")
	}
	ts.Check(ts.Exec("cordon", "show", "--json", args[0]))
	object, err := testschema.Object(ts.ReadFile("stdout"))
	ts.Check(err)
	tree, gitDir, err := onHost(object["worktree"], object["tree"])
	ts.Check(err)
	ts.Setenv("TREE", tree)
	ts.Setenv("GITDIR", gitDir)
}

// onHost is where the files and the repository of a worker lie, by what cordon show
// says of it.
func onHost(worktree, kind any) (tree, gitDir string, err error) {
	tree, _ = worktree.(string)
	switch kind {
	case "overlay":
		gitDir = filepath.Join(filepath.Dir(filepath.Dir(tree)), "git", "upper")
	case "copy":
		gitDir = filepath.Join(filepath.Dir(filepath.Dir(tree)), "shadow", filepath.Base(tree), ".git")
	default:
		return "", "", fmt.Errorf("a tree of the kind %v", kind)
	}
	for _, dir := range []string{tree, filepath.Join(gitDir, "objects")} {
		if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
			return "", "", fmt.Errorf("%s is no directory: %v", dir, err)
		}
	}
	return tree, gitDir, nil
}

// trashed sets TREE to where the files of a worker that was thrown away lie: trashed
// $ID. They have to be in the trash, and once.
func scriptTrashed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: trashed ID")
	}
	found, err := trashedTrees(ts.Getenv("XDG_STATE_HOME"), args[0])
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("the trash has %d trees of %s: %q", len(found), args[0], found)
	}
	ts.Setenv("TREE", found[0])
}

// trashedTrees are the trees of a worker in the trash, of whatever kind.
func trashedTrees(state, id string) ([]string, error) {
	var all []string
	for _, name := range []string{"*-trees-" + id, "*-frozen-" + id, "*-layers-" + id + "/tree/upper"} {
		found, err := filepath.Glob(filepath.Join(state, "cordon", "*", "trash", name))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
