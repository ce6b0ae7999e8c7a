package follow

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// An obstacle remains as long as a step would meet it, whatever the operator does about it.
func TestRemaining(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := land(t, map[string]string{"a": "a\n", "b": "b\n"}, map[string]string{"a": "new\n", "b": "new\n", "c": "new\n", "d/e": "new\n"})
	top := l.c.Top
	act := func(name, content string) func() { return func() { write(t, filepath.Join(top, name), content) } }
	run := func(args ...string) func() { return func() { plain(t, top, args...) } }
	remove := func(name string) func() {
		return func() {
			if err := os.Remove(filepath.Join(top, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, path, why string
		make            func()
		first           bool
		acts            []func()
		left            []bool
	}{
		{"edited and reverted", "a", whyChanged, act("a", "mine\n"), true, []func(){act("a", "more\n"), act("a", "a\n")}, []bool{true, false}},
		{"staged and unstaged", "a", whyChanged, act("a", "mine\n"), true,
			[]func(){run("add", "a"), act("a", "a\n"), run("reset", "-q", "a")}, []bool{true, true, false}},
		{"stashed", "b", whyChanged, act("b", "mine\n"), true, []func(){run("stash", "-q")}, []bool{false}},
		{"another file is edited", "a", whyChanged, act("b", "mine\n"), false, []func(){run("checkout", "-q", "b")}, []bool{false}},
		{"moved away", "c", WhyUntracked, act("c", "mine\n"), true, []func(){remove("c")}, []bool{false}},
		{"a file where a directory is to be", "d", WhyUntracked, act("d", "mine\n"), true, []func(){remove("d")}, []bool{false}},
		{"crowded", "d/e", whyCrowded, func() { act("d", "mine\n")(); run("add", "d")() }, true, []func(){run("rm", "-q", "-f", "d")}, []bool{false}},
		{"added and committed", "c", WhyUntracked, act("c", "mine\n"), true, []func(){run("add", "c"), run("commit", "-q", "-m", "c")}, []bool{true, false}},
		{"edited and committed", "b", whyChanged, act("b", "mine\n"), true, []func(){run("commit", "-q", "-a", "-m", "b")}, []bool{false}},
	} {
		c.make()
		list := []Obstacle{{Path: c.path, Why: c.why}}
		if !list[0].Uncommitted() {
			t.Errorf("%s: %q is a change that can be committed", c.name, c.why)
		}
		for i, want := range slices.Concat([]bool{c.first}, c.left) {
			if i > 0 {
				c.acts[i-1]()
			}
			left, err := Remaining(ctx, l.Repo, l.c, list)
			if err != nil || (len(left) > 0) != want {
				t.Errorf("%s, after %d acts: %v, %v", c.name, i, left, err)
			}
		}
	}
	for _, why := range []string{whySparse, whyAssumed, ErrLink.Error()} {
		if (Obstacle{Path: "a", Why: why}).Uncommitted() {
			t.Errorf("%q is not a change that can be committed", why)
		}
	}
}
