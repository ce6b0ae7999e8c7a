package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// crowd is how the queue of landings is measured: results of real workers that wait, and
// acceptance that sleeps and asks this program how it ends.
type crowd struct {
	workers, slots, seeds int
	acceptance            time.Duration
}

// verdicts answers acceptance. A bad result fails in every tree that holds it; a flake fails
// its first test.
type verdicts struct {
	mu               sync.Mutex
	bad, flaky       map[string]bool // by the file of the result
	flaked           map[string]bool
	tests, now, most int
	began            time.Time // of the first test
}

// queues prints how many acceptance times it takes until results that wait at one moment have
// landed or were rejected, from the first test to the end of the last process.
func queues(ctx context.Context, c crowd) error {
	dir, err := os.MkdirTemp("", "cordon-bench-queue-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "cordon")
	if err := build(program, "./cmd/cordon"); err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer out.Flush()
	if c.seeds < 0 {
		return c.alone(ctx, out, program, dir)
	}
	fmt.Fprintf(out, "%d results at once, %d slots, acceptance of %s\tbad\tflaky\tacceptance times\ttests\tmost at once\tgood ones rejected\tbad ones landed\n",
		c.workers, c.slots, c.acceptance)
	for seed := -1; seed < c.seeds; seed++ {
		name := "none bad"
		v := &verdicts{bad: map[string]bool{}, flaky: map[string]bool{}, flaked: map[string]bool{}}
		if seed >= 0 {
			name = fmt.Sprintf("5 %% bad, 2 %% flaky, seed %d", seed)
			v.draw(c.workers, int64(seed))
		}
		s := stand{crowd: c, verdicts: v, program: program, dir: filepath.Join(dir, fmt.Sprint("run", seed))}
		took, err := s.measure(ctx)
		if err != nil {
			return err
		}
		lost, landed, err := s.judged()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\t%d\t%d\t%.1f\t%d\t%d\t%d\t%d\n", name, len(v.bad), len(v.flaky), took.Seconds()/c.acceptance.Seconds(), v.tests, v.most, lost, landed)
		fmt.Fprintf(os.Stderr, "%s: %.1f acceptance times\n", name, took.Seconds()/c.acceptance.Seconds())
	}
	return c.alone(ctx, out, program, dir)
}

// draw chooses as the simulation of internal/queue does.
func (v *verdicts) draw(n int, seed int64) {
	r := rand.New(rand.NewSource(seed))
	for i := range n {
		switch x := r.Float64(); {
		case x < 0.05:
			v.bad[fmt.Sprint(i)] = true
		case x < 0.07:
			v.flaky[fmt.Sprint(i)] = true
		}
	}
}

// serve answers one test: a line with the file of its own result and those of the tree, and
// later another when it has slept.
func (v *verdicts) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	v.mu.Lock()
	if v.tests++; v.tests == 1 {
		v.began = time.Now()
	}
	v.now++
	v.most = max(v.most, v.now)
	v.mu.Unlock()
	_, err = in.ReadString('\n') // it has slept, or was ended
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now--
	words := strings.Fields(line)
	if err != nil || len(words) == 0 {
		return
	}
	own, tree := words[0], words[1:]
	answer := "0"
	if slices.ContainsFunc(tree, func(name string) bool { return v.bad[name] }) {
		answer = "1"
	} else if v.flaky[own] && !v.flaked[own] {
		v.flaked[own], answer = true, "1"
	}
	fmt.Fprintln(conn, answer)
}

// stand is one repository with results that wait.
type stand struct {
	crowd
	*verdicts
	program, dir string
}

// check is what acceptance runs. The last commit names the result by its file.
const check = `own=$(git diff --name-only HEAD~1 HEAD -- results | sed 's|.*/||' | head -1)
exec 3<>/dev/tcp/127.0.0.1/$1
echo "$own" $(ls results) >&3
sleep "$2"
echo slept >&3
read -r answer <&3
exit "$answer"
`

func (s stand) repo() string { return filepath.Join(s.dir, "repo") }

func (s stand) run(ctx context.Context, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.repo()
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(s.dir, "home"), "XDG_STATE_HOME="+filepath.Join(s.dir, "state"),
		"XDG_CONFIG_HOME="+filepath.Join(s.dir, "home", ".config"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, errs.String())
	}
	return string(out), err
}

// measure makes the results, and lets them all land.
func (s stand) measure(ctx context.Context) (time.Duration, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	if err := s.prepare(ctx, l.Addr().(*net.TCPAddr).Port); err != nil {
		return 0, err
	}
	ids, err := s.results(ctx)
	if err != nil {
		return 0, err
	}
	settle()
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() { _, _ = s.run(ctx, s.program, "merge", id) }) // judged looks at what became of it
	}
	all.Wait()
	return time.Since(s.began), ctx.Err()
}

func (s stand) prepare(ctx context.Context, port int) error {
	files := map[string]string{
		"repo/cordon.yaml": fmt.Sprintf("version: 1\nnetwork: {host_ports: [%d]}\nacceptance: ['bash check.sh %d %g']\n", port, port, s.acceptance.Seconds()),
		"repo/check.sh":    check, "repo/results/base": "",
		"home/.config/cordon/config.yaml": fmt.Sprintf(
			"version: 1\nidentity: {name: b, email: b@localhost}\nland: {parallel: %d}\nrights: {network: {host_ports: [%d]}}\n", s.slots, port),
	}
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return s.firstCommit(ctx)
}

// firstCommit makes a repository of the files that are there.
func (s stand) firstCommit(ctx context.Context) error {
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=b", "-c", "user.email=b", "commit", "-q", "-m", "base"}} {
		if _, err := s.run(ctx, append([]string{"git"}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// results runs the workers, four at once, and returns their names.
func (s stand) results(ctx context.Context) ([]string, error) {
	errs := make(chan error, s.workers)
	slots := make(chan struct{}, 4)
	var all sync.WaitGroup
	for i := range s.workers {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if _, err := s.run(ctx, s.program, "run", "--no-merge", "--", "sh", "-c", fmt.Sprintf("echo %d >results/%d", i, i)); err != nil {
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		return nil, err
	}
	list, err := s.list(ctx)
	var ids []string
	for _, w := range list {
		ids = append(ids, w.Worker)
	}
	return ids, err
}

type outcome struct{ Worker, Status string }

func (s stand) list(ctx context.Context) ([]outcome, error) {
	text, err := s.run(ctx, s.program, "ls", "--all-states", "--json")
	if err != nil {
		return nil, err
	}
	var list struct{ Workers []outcome }
	return list.Workers, json.Unmarshal([]byte(text), &list)
}

// judged counts good results that are not in the branch, and bad ones that are.
func (s stand) judged() (lost, landed int, err error) {
	text, err := s.run(context.Background(), "git", "ls-tree", "--name-only", "main", "results/")
	there := map[string]bool{}
	for _, path := range strings.Fields(text) {
		there[filepath.Base(path)] = true
	}
	for i := range s.workers {
		switch name := fmt.Sprint(i); {
		case s.bad[name] && there[name]:
			landed++
		case !s.bad[name] && !there[name]:
			lost++
		}
	}
	return lost, landed, err
}
