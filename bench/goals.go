package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cordon/internal/agent/clients"
)

// goal is a ratio that cordon is held against, and what was measured.
type goal struct{ what, asked, measured string }

// goals measures all of them, the least of some interleaved rounds each, and writes them to
// standard output or into a document.
//
// What is not begun when the time is over gets a row that says so.
func goals(ctx context.Context, c choice, rounds int, withClients bool, within time.Duration, document string) error {
	interrupted := ctx.Err
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
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
	module := &project{tools: t, dir: filepath.Join(dir, "module"), figures: figures{}, name: "a module"}
	builds := piece{"builds", 3 * time.Minute, func(ctx context.Context) ([]goal, error) { return module.buildGoals(ctx, c.turns) }}
	list := c.rows(ctx, builds)
	for i, n := range c.files {
		p := &project{tools: t, dir: filepath.Join(dir, fmt.Sprint("repo", i)), figures: figures{}, name: grouped(n) + " files"}
		list = append(list, p.goals(ctx, c, n, rounds, filepath.Join(dir, "start"))...)
		if i == 0 && withClients { // before what takes longest
			list = append(list, c.firstRequests(ctx)...)
		}
	}
	if err := interrupted(); err != nil { // what is there is not a whole table
		return errors.Join(err, writeGoals("", list))
	}
	return writeGoals(document, list)
}

// landing is the size of the repository in which a landing is measured, and nothing else.
const landing = 63_000

// goals are those that a repository of some size shows.
func (p *project) goals(ctx context.Context, c choice, n, rounds int, plain string) []goal {
	defer erase(p.dir)
	begin := piece{"a repository of " + p.name, 5 * time.Minute, func(ctx context.Context) ([]goal, error) { return nil, p.begin(ctx, n) }}
	parts := []piece{
		{"runs among " + p.name, 5 * time.Minute, func(ctx context.Context) ([]goal, error) { return p.runGoals(ctx, c, n) }},
	}
	switch {
	case n == landing:
		parts = []piece{{"landings among " + p.name, 5 * time.Minute, func(ctx context.Context) ([]goal, error) { return p.landGoals(ctx, c) }}}
	case n >= 2*audited && n <= 4*audited:
		parts = append(parts, piece{"audits among " + p.name, 5 * time.Minute, func(ctx context.Context) ([]goal, error) { return p.auditGoals(ctx, c) }})
	case n <= 1000:
		start := piece{"starts of a cell", 2 * time.Minute, func(ctx context.Context) ([]goal, error) { return p.startGoals(ctx, rounds, plain) }}
		parts = append([]piece{start}, parts...)
	}
	if !slices.ContainsFunc(parts, func(each piece) bool { return strings.Contains(each.what, c.only) }) {
		return nil
	}
	if list := begin.rows(ctx); len(list) > 0 {
		return list
	}
	defer erase(p.place.Path())
	var list []goal
	for _, each := range parts {
		list = append(list, c.rows(ctx, each)...)
	}
	return list
}

// rows are those of a piece that was asked for.
func (c choice) rows(ctx context.Context, each piece) []goal {
	if !strings.Contains(each.what, c.only) {
		return nil
	}
	return each.rows(ctx)
}

// begin makes the repository and its base.
func (p *project) begin(ctx context.Context, n int) (err error) {
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return err
	}
	if err := generate(ctx, filepath.Join(p.dir, "host"), n); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	p.base, err = p.store.Ensure(ctx, p.host.Repo, p.commit, nil)
	return err
}

// startGoals compare the start of a cell with bwrap.
func (p *project) startGoals(ctx context.Context, rounds int, plain string) ([]goal, error) {
	bwrap := peers[0]
	if _, err := exec.LookPath(bwrap.name); err != nil {
		return []goal{{"start of a cell", "", "bwrap is not installed"}}, nil
	}
	exec := []string{p.cordon, "exec", "--", "/bin/true"}
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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
		{"`cordon exec -- /bin/true` in a plain directory, compared with bwrap", "× 3", p.times("plain", "bwrap")},
		{"the same in a repository of " + p.name, "× 4", p.times("in repo", "bwrap")},
	}, nil
}

func (p *project) least(key string) time.Duration { return slices.Min(p.figures.at(key).times) }

// times compares the least of two measures and, where there are several, their medians.
func (p *project) times(a, b string) string {
	return times(p.figures.at(a).times, p.figures.at(b).times)
}

// times is a ratio with the two times that it is of, and the ratio of the medians.
func times(a, b []time.Duration) string {
	text := fmt.Sprintf("%s (%s, %s)", compared(slices.Min(a), slices.Min(b)), short(float64(slices.Min(a))), short(float64(slices.Min(b))))
	if len(a) > 1 && len(b) > 1 {
		text += "; medians " + compared(median(a), median(b))
	}
	return text
}

func compared(a, b time.Duration) string {
	if a < b {
		return fmt.Sprintf("÷ %.1f", ratio(b, a))
	}
	return fmt.Sprintf("× %.2f", ratio(a, b))
}

// runGoals compare a whole run with git worktree add, and twenty at once with one.
func (p *project) runGoals(ctx context.Context, c choice, n int) ([]goal, error) {
	if err := p.runOnce(ctx); err != nil {
		return nil, err
	}
	for turn, began := 0, time.Now(); turn < c.turns && !enough(ctx, turn, began, c.patience); turn++ {
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
		{"`cordon run --no-merge -- true`, " + p.name + ", compared with `git worktree add`", asked, p.times("run", "add")},
		{"twenty of them at once, compared with one", "× 12 on two cores", p.times("20 runs", "run")},
	}
	if n > 1000 {
		return list, nil
	}
	count, err := p.countGit(ctx)
	return append(list, goal{"git processes of one of them", "12", fmt.Sprint(count)}), err
}

// countGit counts the git processes of a run, with the one in the cell, which proves a commit.
// A program and not a script stands in for git: cordon remembers nothing of a script.
func (p *project) countGit(ctx context.Context) (int, error) {
	real, err := exec.LookPath("git")
	if err != nil {
		return 0, err
	}
	bin := filepath.Join(p.dir, "bin")
	log := filepath.Join(bin, gitLog)
	if err := os.Mkdir(bin, 0o755); err != nil {
		return 0, err
	}
	self, err := os.ReadFile(p.self)
	err = errors.Join(err, os.WriteFile(filepath.Join(bin, "git"), self, 0o755), os.Symlink(real, filepath.Join(bin, realGit)))
	if err != nil {
		return 0, err
	}
	for range 3 { // until all is remembered
		if err := os.WriteFile(log, nil, 0o644); err != nil {
			return 0, err
		}
		cmd := exec.CommandContext(ctx, p.cordon, "run", "--no-merge", "--", "true")
		cmd.Dir, cmd.Env, cmd.WaitDelay = p.top(), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH")), waitDelay
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("cordon run: %w: %s", err, out)
		}
	}
	calls, err := os.ReadFile(log)
	return bytes.Count(calls, []byte("\n")) + 1, err // what runs in the cell cannot write there
}

// The names beside a program of ours that stands in for git.
const (
	gitLog  = "calls"
	realGit = "real"
)

// standIn notes that git was called, and becomes the real one.
func standIn() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Dir(self)
	if f, err := os.OpenFile(filepath.Join(dir, gitLog), os.O_WRONLY|os.O_APPEND, 0); err == nil {
		fmt.Fprintln(f, strings.ReplaceAll(strings.Join(os.Args[1:], " "), "\n", " "))
		f.Close()
	}
	real, err := os.Readlink(filepath.Join(dir, realGit))
	if err != nil {
		return err
	}
	return syscall.Exec(real, append([]string{"git"}, os.Args[1:]...), os.Environ())
}

// audited is how many changes an audit is measured with.
const audited = 10_000

// auditGoals compare an audit with git status.
func (p *project) auditGoals(ctx context.Context, c choice) ([]goal, error) {
	dir := filepath.Join(p.dir, "audited")
	if err := p.addWorktree(ctx, dir); err != nil {
		return nil, err
	}
	if err := p.auditOf(ctx, c, audited, dir); err != nil {
		return nil, err
	}
	return []goal{{
		"audit of 10,000 changes among " + p.name + ", compared with `git status`", "× 1.25",
		p.times(fmt.Sprint("audit of ", audited), fmt.Sprint("status of ", audited)),
	}}, nil
}

// landGoals measure how long a result of one line takes from the worker's end to the branch.
// The worker's last act writes the time into the line.
func (p *project) landGoals(ctx context.Context, c choice) ([]goal, error) {
	file := p.sample().Path
	for turn, began := 0, time.Now(); turn < c.turns && !enough(ctx, turn, began, c.patience); turn++ {
		settle()
		if err := p.call(ctx, "run", "--merge", "--", "sh", "-c", `printf '\n%s\n' "$(date +%s%N)" >>"$0"`, file); err != nil {
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
	return []goal{{"a line edited among " + p.name + ", from the worker's end to the end of `cordon run --merge`", "1 s",
		fmt.Sprintf("%s; median %s", short(float64(p.least("land"))), short(float64(median(p.figures.at("land").times))))}}, nil
}

// firstRequests compare how long clients take to their first request with and without cordon.
// They come from the suite of the real clients, which knows how each is called.
func (c choice) firstRequests(ctx context.Context) []goal {
	var list []goal
	for _, name := range clients.Names() {
		each := piece{"first request of " + string(name), clientLimit, func(ctx context.Context) ([]goal, error) {
			return firstRequest(ctx, string(name), c.turns)
		}}
		list = append(list, c.rows(ctx, each)...)
	}
	return list
}

// clientLimit is for all rounds of a client, and for what installs the clients the first time.
const clientLimit = 4 * time.Minute

func firstRequest(ctx context.Context, name string, turns int) ([]goal, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-timeout", (clientLimit - grace).String(),
		"-run", "^TestAgentsFirstRequest$/^"+name+"$", "./cmd/cordon")
	cmd.Env, cmd.Stderr = append(os.Environ(), fmt.Sprint("CORDON_MEASURE=", turns)), os.Stderr
	cmd.WaitDelay = waitDelay
	out, err := cmd.Output()
	if err != nil {
		os.Stderr.Write(out)
		return nil, fmt.Errorf("the tests of %s: %w", name, err)
	}
	for line := range strings.Lines(string(out)) {
		_, rest, ok := strings.Cut(line, "first request: ")
		if !ok {
			continue
		}
		_, both, _ := strings.Cut(rest, " ")
		bare, confined, _ := strings.Cut(strings.TrimSpace(both), " ")
		b, berr := durations(bare)
		c, cerr := durations(confined)
		if err := errors.Join(berr, cerr); err != nil {
			return nil, err
		}
		return []goal{{"first request of " + name + " under `cordon run`, compared with the bare client", "× 1.25", times(c, b)}}, nil
	}
	return nil, fmt.Errorf("the tests of %s measured nothing", name)
}

// durations reads a list with commas.
func durations(text string) (list []time.Duration, err error) {
	for word := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(word)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
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
	var b strings.Builder
	fmt.Fprintf(&b, "%s; the least of all rounds and, where it says so, the medians.\n\n", machine())
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
