package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// goal is a ratio that cordon is held against, and what was measured.
type goal struct{ what, asked, measured string }

// goals measures all of them, the least of some interleaved rounds each, and writes them to
// standard output or into a document.
func goals(ctx context.Context, c choice, rounds int, withClients bool, document string) error {
	dir, err := place()
	if err != nil {
		return err
	}
	defer erase(dir)
	t := tools{cordon: filepath.Join(dir, "cordon"), self: filepath.Join(dir, "bench")}
	for out, pkg := range map[string]string{t.cordon: "./cmd/cordon", t.self: "./bench"} {
		if err := build(out, pkg); err != nil {
			return err
		}
	}
	var list []goal
	for i, n := range c.files {
		p := &project{tools: t, dir: filepath.Join(dir, fmt.Sprint("repo", i)), figures: figures{}, name: grouped(n) + " files"}
		some, err := p.goals(ctx, c, n, rounds, filepath.Join(dir, "start"))
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		list = append(list, some...)
	}
	if withClients {
		some, err := firstRequests(ctx, c.turns)
		if err != nil {
			return err
		}
		list = append(list, some...)
	}
	return writeGoals(document, list)
}

// goals are those that a repository of some size shows.
func (p *project) goals(ctx context.Context, c choice, n, rounds int, plain string) (list []goal, err error) {
	defer erase(p.dir)
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return nil, err
	}
	if err := generate(ctx, filepath.Join(p.dir, "host"), n); err != nil {
		return nil, err
	}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	defer erase(p.place.Path())
	if p.base, err = p.store.Ensure(ctx, p.host.Repo, p.commit, nil); err != nil {
		return nil, err
	}
	if n <= 1000 {
		if list, err = p.startGoals(rounds, plain); err != nil {
			return nil, err
		}
	}
	for _, part := range []func(context.Context, choice, int) ([]goal, error){p.runGoals, p.auditGoals, p.landGoals} {
		some, err := part(ctx, c, n)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// startGoals compare the start of a cell with bwrap.
func (p *project) startGoals(rounds int, plain string) ([]goal, error) {
	bwrap := peers[0]
	if _, err := exec.LookPath(bwrap.name); err != nil {
		return []goal{{"start of a cell", "", "bwrap is not installed"}}, nil
	}
	exec := []string{p.cordon, "exec", "--", "/bin/true"}
	for range rounds {
		for key, act := range map[string]func() error{
			"bwrap":   func() error { return run(plain, bwrap.wrap(plain, []string{"/bin/true"})) },
			"plain":   func() error { return run(plain, exec) },
			"in repo": func() error { return run(p.top(), exec) },
		} {
			if err := p.figures.time(key, act); err != nil {
				return nil, err
			}
		}
	}
	return []goal{
		{"`cordon exec -- /bin/true` in a plain directory, compared with bwrap", "× 3", times(p.least("plain"), p.least("bwrap"))},
		{"the same in a repository of " + p.name, "× 4", times(p.least("in repo"), p.least("bwrap"))},
	}, nil
}

func (p *project) least(key string) time.Duration { return slices.Min(p.figures.at(key).times) }

// times is a ratio with the two times that it is of.
func times(a, b time.Duration) string {
	if a < b {
		return fmt.Sprintf("÷ %.1f (%s, %s)", ratio(b, a), short(float64(a)), short(float64(b)))
	}
	return fmt.Sprintf("× %.2f (%s, %s)", ratio(a, b), short(float64(a)), short(float64(b)))
}

// runGoals compare a whole run with git worktree add, and twenty at once with one.
func (p *project) runGoals(ctx context.Context, c choice, n int) ([]goal, error) {
	if err := p.runOnce(ctx); err != nil {
		return nil, err
	}
	for turn := range c.turns {
		settle()
		if err := p.figures.time("run", func() error { return p.runOnce(ctx) }); err != nil {
			return nil, err
		}
		dir := filepath.Join(p.dir, fmt.Sprint("plain-", turn))
		settle()
		if err := p.figures.time("add", func() error { return p.addWorktree(ctx, dir) }); err != nil {
			return nil, err
		}
		if err := gitIn(ctx, p.clone, "worktree", "remove", "--force", dir); err != nil {
			return nil, err
		}
	}
	p.atOnce("20 runs", 20, func(string) error { return p.runOnce(ctx) }, nil)
	if failed := p.figures.at("20 runs").failed; failed > 0 {
		return nil, fmt.Errorf("%d of 20 runs failed", failed)
	}
	asked := map[int]string{1000: "× 2.5", 90000: "÷ 200"}[n]
	list := []goal{
		{"`cordon run --no-merge -- true`, " + p.name + ", compared with `git worktree add`", asked, times(p.least("run"), p.least("add"))},
		{"twenty of them at once, compared with one", "× 12 on two cores", times(p.least("20 runs"), p.least("run"))},
	}
	if n > 1000 {
		return list, nil
	}
	count, err := p.countGit(ctx)
	return append(list, goal{"git processes of one of them", "12", fmt.Sprint(count)}), err
}

// countGit counts the git processes of a run, with the one in the cell, which proves a commit.
func (p *project) countGit(ctx context.Context) (int, error) {
	real, err := exec.LookPath("git")
	if err != nil {
		return 0, err
	}
	log, bin := filepath.Join(p.dir, "git.log"), filepath.Join(p.dir, "bin")
	text := "#!/bin/sh\necho \"$*\" >>" + log + "\nexec " + real + " \"$@\"\n"
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o755)); err != nil {
		return 0, err
	}
	for range 2 { // the first asks this git for its version
		if err := os.WriteFile(log, nil, 0o644); err != nil {
			return 0, err
		}
		cmd := exec.CommandContext(ctx, p.cordon, "run", "--no-merge", "--", "true")
		cmd.Dir, cmd.Env = p.top(), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("cordon run: %w: %s", err, out)
		}
	}
	calls, err := os.ReadFile(log)
	return bytes.Count(calls, []byte("\n")) + 1, err
}

// auditGoals compare the audit of 10,000 changes with git status.
func (p *project) auditGoals(ctx context.Context, c choice, n int) ([]goal, error) {
	const changes = 10_000
	if n < 2*changes || n > 4*changes {
		return nil, nil
	}
	dir := filepath.Join(p.dir, "audited")
	if err := p.addWorktree(ctx, dir); err != nil {
		return nil, err
	}
	if err := p.auditOf(ctx, c, changes, dir); err != nil {
		return nil, err
	}
	return []goal{{
		"audit of 10,000 changes among " + p.name + ", compared with `git status`", "× 1.25",
		times(p.least(fmt.Sprint("audit of ", changes)), p.least(fmt.Sprint("status of ", changes))),
	}}, nil
}

// landGoals measure how long a result of one line takes from the worker's end to the branch.
// The worker's last act writes the time into the line.
func (p *project) landGoals(ctx context.Context, c choice, n int) ([]goal, error) {
	if n < 60_000 {
		return nil, nil
	}
	file := p.sample().Path
	for range c.turns {
		settle()
		if err := p.call(ctx, "run", "--merge", "--", "sh", "-c", `date +%s%N >>"$0"`, file); err != nil {
			return nil, err
		}
		ended := time.Now()
		text, err := os.ReadFile(filepath.Join(p.top(), file))
		if err != nil {
			return nil, err
		}
		words := strings.Fields(string(text))
		ns, err := strconv.ParseInt(words[len(words)-1], 10, 64)
		if err != nil {
			return nil, err
		}
		p.figures.add("land", ended.Sub(time.Unix(0, ns)))
	}
	return []goal{{"a line edited among " + p.name + ", from the worker's end to the end of `cordon run --merge`", "1 s", short(float64(p.least("land")))}}, nil
}

// firstRequests compare how long clients take to their first request with and without cordon.
// They come from the suite of the real clients, which knows how each is called.
func firstRequests(ctx context.Context, turns int) ([]goal, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-timeout", "60m", "-run", "^TestSlowAgentsFirstRequest$", "./cmd/cordon")
	cmd.Env, cmd.Stderr = append(os.Environ(), "CORDON_SLOW=1", fmt.Sprint("CORDON_MEASURE=", turns)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the clients: %w: %s", err, out)
	}
	var list []goal
	for line := range strings.Lines(string(out)) {
		_, rest, ok := strings.Cut(line, "first request: ")
		f := strings.Fields(rest)
		if !ok || len(f) != 3 {
			continue
		}
		bare, berr := time.ParseDuration(f[1])
		confined, cerr := time.ParseDuration(f[2])
		if err := errors.Join(berr, cerr); err != nil {
			return nil, err
		}
		list = append(list, goal{"first request of " + f[0] + " under `cordon run`, compared with the bare client", "× 1.25", times(confined, bare)})
	}
	return list, nil
}

// The lines between which a document holds the table.
const (
	goalsBegin = "<!-- written by go run ./bench -all -write docs/costs.md -->\n"
	goalsEnd   = "<!-- end -->\n"
)

// writeGoals prints the table, or puts it into a document in the place of the old one.
func writeGoals(document string, list []goal) error {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // for display
	var b strings.Builder
	fmt.Fprintf(&b, "%s, Linux %s, %d CPUs, %s; the least of all rounds.\n\n",
		time.Now().Format("2006-01-02"), strings.TrimSpace(string(kernel)), runtime.NumCPU(), runtime.Version())
	b.WriteString("| | at most | measured |\n|---|---|---|\n")
	for _, g := range list {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", g.what, g.asked, g.measured)
	}
	if document == "" {
		fmt.Print(b.String())
		return nil
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), goalsBegin)
	_, after, ended := strings.Cut(rest, goalsEnd)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table: a line %q and a line %q", document, strings.TrimSpace(goalsBegin), strings.TrimSpace(goalsEnd))
	}
	return os.WriteFile(document, []byte(before+goalsBegin+"\n"+b.String()+"\n"+goalsEnd+after), 0o644)
}
