package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cordon/internal/agent/clients"
)

// deskLibrary is what the desk in the terminal draws with. The commit before the one that brought it is the one that the
// start of cordon is compared with.
const deskLibrary = "charm.land/bubbletea"

// startOfDesk is the commit before the libraries of the desk.
func startOfDesk(ctx context.Context) (string, error) {
	out, err := gitCommand(ctx, "", "log", "--format=%H", "-S"+deskLibrary, "--", "go.mod").Output()
	list := strings.Fields(string(out))
	if err != nil || len(list) == 0 {
		return "", fmt.Errorf("no commit of this repository brought %s: is its history here? (%w)", deskLibrary, err)
	}
	return list[len(list)-1] + "^", nil
}

// startGoals compare the start of cordon with that of an earlier commit, in turns.
func startGoals(ctx context.Context, dir string, rounds int) ([]goal, error) {
	commit, err := startOfDesk(ctx)
	if err != nil {
		return nil, err
	}
	old := filepath.Join(dir, "old")
	if err := gitIn(ctx, "", "worktree", "add", "-q", "--detach", old, commit); err != nil {
		return nil, err
	}
	defer func() { _ = gitIn(context.WithoutCancel(ctx), "", "worktree", "remove", "--force", old) }() // it is only in the way
	programs := map[string]string{"now": filepath.Join(dir, "now"), "before": filepath.Join(dir, "before")}
	for name, from := range map[string]string{"now": ".", "before": old} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", programs[name]+".linked", "./cmd/cordon")
		cmd.Dir, cmd.Env = from, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build of %s: %w: %s", name, err, out)
		}
		if err := install(programs[name]+".linked", programs[name]); err != nil {
			return nil, err
		}
	}
	warrant, scope, err := benchWarrant(filepath.Join(dir, "hooks"))
	if err != nil {
		return nil, err
	}
	input, err := hookInput(scope.Worktree, "git status")
	if err != nil {
		return nil, err
	}
	times := stopwatch{}
	for range rounds {
		for name, program := range programs {
			if err := times.measure("version "+name, 0, nil, program, "version"); err != nil {
				return nil, err
			}
			if err := times.measure("hook "+name, 0, input, program, "hook", "--client", string(clients.Names()[0]), "--lease", warrant); err != nil {
				return nil, err
			}
		}
	}
	grown, err := growth(programs["before"], programs["now"])
	return []goal{
		{"`cordon version`, compared with the commit before the desk's libraries", "× 1.15", times.compare("version now", "version before")},
		{"`cordon hook`, an allowed command, compared with it", "× 1.15", times.compare("hook now", "hook before")},
		{"the program, stripped, compared with it", "+ 8 MB", grown},
	}, err
}

func (s stopwatch) compare(a, b string) string { return times(s[a], s[b]) }

// growth is how much larger a program is than another.
func growth(before, now string) (string, error) {
	was, err := os.Stat(before)
	if err != nil {
		return "", err
	}
	is, err := os.Stat(now)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("+ %.1f MB (%.1f MB, %.1f MB)", float64(is.Size()-was.Size())/1e6, float64(is.Size())/1e6, float64(was.Size())/1e6), nil
}
