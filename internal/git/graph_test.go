package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGraph compares what a Graph says with what git says of each pair, in a random
// history with merges and two roots.
func TestGraph(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir,
			"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x")
		out, err := cmd.CombinedOutput()
		if err != nil && (len(args) < 2 || args[1] != "--is-ancestor") {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		if err != nil {
			return "no"
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	tree := git("write-tree")
	random := rand.New(rand.NewPCG(1, 2))
	var commits []OID
	for i := range 24 {
		args := []string{"commit-tree", tree, "-m", fmt.Sprint(i)}
		if i != 0 && i != 12 { // two roots
			args = append(args, "-p", string(commits[random.IntN(len(commits))]))
			if other := commits[random.IntN(len(commits))]; random.IntN(3) == 0 && args[5] != string(other) {
				args = append(args, "-p", string(other))
			}
		}
		commits = append(commits, OID(git(args...)))
	}
	bin, err := Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := OpenBare(bin, filepath.Join(dir, ".git"), SHA1)
	for _, tip := range []OID{commits[11], commits[23], commits[0]} {
		for _, some := range [][]OID{commits, commits[5:9], {tip}, nil} {
			g, err := r.Graph(context.Background(), tip, some)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range some {
				merged := git("merge-base", "--is-ancestor", string(c), string(tip)) != "no"
				behind := git("rev-list", "--count", string(tip), "^"+string(c))
				if g.Merged(c) != merged || fmt.Sprint(g.Behind(c)) != behind {
					t.Errorf("%s to %s of %d: merged %v, behind %d; git says %v, %s", c, tip, len(some), g.Merged(c), g.Behind(c), merged, behind)
				}
			}
		}
	}
	found, err := r.Lookup(context.Background(), []string{string(commits[3]), "refs/heads/none", tree, strings.Repeat("1", 40), string(commits[3]) + " commit"})
	if err != nil || found[4].Kind != "" || found[0] != (Found{commits[3], "commit"}) || found[1].Kind != "" || found[2].Kind != "tree" || found[3].Kind != "" {
		t.Errorf("%v, %v", found, err)
	}
}
