package files

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"cordon/internal/escape/arena"
)

// placed are traps that the attack leaves in the operator's own checkout, for the time when cordon has placed what it wrote
// there, or for programs of the operator's that replace files meanwhile.
func placed() []arena.Attempt {
	sprung := func(operator string) func(*arena.Fixture) (string, error) {
		return func(f *arena.Fixture) (string, error) {
			if err := asOperator(f, operator); err != nil {
				return "", err
			}
			return trapSprung(f)
		}
	}
	return []arena.Attempt{
		{Name: "placed-program", What: "have the operator run a git that was put into a directory of PATH", Safe: true, Act: arena.Act{
			Tree: arena.TreeMain, Final: true, Attack: arena.Shell(plant + `cp "$P" .venv/bin/git`),
			Prepare: func(f *arena.Fixture) error { return os.MkdirAll(f.In(".venv/bin"), 0o755) },
			Judge:   sprung(`cd "$W" && PATH="$W/.venv/bin:$PATH" git status`),
		}},
		{Name: "placed-replaced-config", What: "write .git/config while the operator's git replaces it", Safe: true, Act: arena.Act{
			Tree: arena.TreeMain, Final: true,
			Attack: arena.Shell(plant + `for i in 1 2 3 4 5 6 7 8 9; do git config core.fsmonitor "$P"; sleep 0.1; done`),
			During: func(f *arena.Fixture, done <-chan struct{}) {
				for {
					select {
					case <-done:
						return
					case <-time.After(20 * time.Millisecond):
						_ = asOperator(f, `git -C "$W" config cordon.round x`) // another one may hold the lock
					}
				}
			},
			Judge: sprung(`cd "$W" && git status`),
		}},
	}
}

// lost are commits of the operator's that only a worker's tree has, when cordon removes what has landed.
func lost() []arena.Attempt {
	var list []arena.Attempt
	for _, l := range []struct{ name, what, work string }{
		{"stash", "a stash", `echo MINE >>own; git add own; git stash -q; git rev-parse refs/stash`},
		{"branch", "a branch", `git checkout -q -b mine; git commit -q --allow-empty -m mine; git rev-parse mine; git checkout -q -`},
		{"reset", "a commit that was reset", `git commit -q --allow-empty -m mine; git rev-parse HEAD; git reset -q --hard HEAD~1`},
	} {
		what := "have cordon gc remove the only copy of " + l.what + " of the operator's"
		list = append(list, arena.Attempt{Name: "lost-" + l.name, What: what, Safe: true, Act: arena.Act{
			Tree: arena.TreeMain, Final: true, Attack: func(*arena.Arena) error { return nil },
			Judge: func(f *arena.Fixture) (string, error) { return isLost(f, l.work) },
		}})
	}
	return list
}

// isLost has the operator work in a tree, which is removed, and looks for their commit.
func isLost(f *arena.Fixture, work string) (string, error) {
	begin, end := `tree=$BASE/tree; cp -r "$W" "$tree"`, `rm -rf "$tree"`
	if f.Confined {
		begin = `cd "$W"; "$@" run --merge --tree=copy -- sh -c 'echo w >fresh'; tree=$(ls -d "$HOME"/.local/state/cordon/*/trees/*)`
		end = `cd "$W"; "$@" gc --yes --wait`
	}
	line := `set -e; exec >&2; ` + begin + `; cd "$tree"; oid=$( ` + work + ` ); ` + end + `
rest=${oid#??}; find "$BASE" -path "*/objects/${oid%"$rest"}/$rest" | grep -q . || touch "$BASE/is-lost"`
	ctx, cancel := context.WithTimeout(context.Background(), 2*arena.RunLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", line, "sh"}, f.Cordon...)...)
	cmd.Env = append(arena.OperatorEnv(f.Home), "W="+f.Work, "BASE="+f.Base)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the operator's work: %w: %s", err, arena.LastLine(out))
	}
	if _, err := os.Stat(filepath.Join(f.Base, "is-lost")); err == nil {
		return "the operator's commit is gone", nil
	}
	return "", nil
}
