package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The queue of landings is measured with results of real workers that wait, and acceptance that sleeps and
// asks this process how it ends.
const (
	results    = 48
	slots      = 4
	acceptance = 10 * time.Second
)

// verdicts answers acceptance. A bad result fails in every tree that holds it; a flake fails its first test.
type verdicts struct {
	mu          sync.Mutex
	bad, flaky  map[string]bool // by the file of the result
	flaked      map[string]bool
	tests, now  int
	mostAtOnce  int
	began       time.Time // of the first test
	description string
}

// draw chooses as the simulation of internal/queue does. Nothing is bad in the first round.
func draw(round int) *verdicts {
	v := &verdicts{bad: map[string]bool{}, flaky: map[string]bool{}, flaked: map[string]bool{}, description: "none bad"}
	if round == 0 {
		return v
	}
	r := rand.New(rand.NewSource(int64(round - 1)))
	for i := range results {
		switch x := r.Float64(); {
		case x < 0.05:
			v.bad[fmt.Sprint(i)] = true
		case x < 0.07:
			v.flaky[fmt.Sprint(i)] = true
		}
	}
	v.description = fmt.Sprintf("seed %d: %d bad, %d flaky", round-1, len(v.bad), len(v.flaky))
	return v
}

// serve answers one test: a line with the file of its own result and those of the tree, and another one when
// it has slept.
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
	v.mostAtOnce = max(v.mostAtOnce, v.now)
	v.mu.Unlock()
	_, err = in.ReadString('\n') // it has slept, or was ended
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now--
	words := strings.Fields(line)
	if err != nil || len(words) == 0 {
		return
	}
	own, tree, answer := words[0], words[1:], "0"
	if slices.ContainsFunc(tree, func(name string) bool { return v.bad[name] }) {
		answer = "1"
	} else if v.flaky[own] && !v.flaked[own] {
		v.flaked[own], answer = true, "1"
	}
	fmt.Fprintln(conn, answer)
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

// site is a repository with an operator of its own.
type site struct{ program, dir string }

func (s site) repo() string { return filepath.Join(s.dir, "repo") }

func (s site) environ() []string {
	home := filepath.Join(s.dir, "home")
	return []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(s.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, ".config")}
}

func (s site) cordon(args ...string) error {
	_, err := runWith(s.repo(), s.environ(), "", append([]string{s.program}, args...)...)
	return err
}

func newSite(b *testing.B, program, dir string, files map[string]string) site {
	b.Helper()
	writeFiles(b, dir, files)
	s := site{program, dir}
	firstCommit(b, s.repo())
	return s
}

// BenchmarkQueue counts how many acceptance times pass until results that wait at one moment have landed or
// were rejected, from the first test to the end of the last process. Each round draws other bad ones.
func BenchmarkQueue(b *testing.B) {
	dir := place(b)
	program, round := cordon(b, dir), 0
	for b.Loop() {
		v := draw(round)
		took, lost, landed := v.measure(b, program, filepath.Join(dir, fmt.Sprint("round", round)))
		logRow(b, fmt.Sprintf("%d results at once, %d slots, %s: acceptance times until the last has landed", results, slots, v.description), "18",
			fmt.Sprintf("%.1f; %d tests, at most %d at once, %d good ones rejected, %d bad ones landed",
				took.Seconds()/acceptance.Seconds(), v.tests, v.mostAtOnce, lost, landed))
		round++
	}
}

// measure makes the results and lets them all land. It counts good results that are not in the branch, and bad
// ones that are.
func (v *verdicts) measure(b *testing.B, program, dir string) (took time.Duration, lost, landed int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go v.serve(conn)
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	s := newSite(b, program, dir, map[string]string{
		"repo/cordon.yaml":   fmt.Sprintf("version: 1\nnetwork: {host_ports: [%d]}\nacceptance: ['bash check.sh %d %g']\n", port, port, acceptance.Seconds()),
		"repo/check.sh":      check,
		"repo/results/.keep": "",
		"home/.config/cordon/config.yaml": fmt.Sprintf(
			"version: 1\nidentity: {name: b, email: b@localhost}\nland: {parallel: %d}\nrights: {network: {host_ports: [%d]}}\n", slots, port),
	})
	var next atomic.Int64
	err = atOnce(4, func() error {
		for i := next.Add(1) - 1; i < results; i = next.Add(1) - 1 {
			if err := s.cordon("run", "--no-merge", "--", "sh", "-c", fmt.Sprintf("echo %d >results/%[1]d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	list := workers(b, s.repo(), program, s.environ()...)
	settle()
	next.Store(0)
	_ = atOnce(len(list), func() error { return s.cordon("merge", list[next.Add(1)-1].Worker) }) // the branch says what became of them
	took = time.Since(v.began)
	there := strings.Fields(must(b, s.repo(), "git", "ls-tree", "--name-only", "main", "results/"))
	for i := range results {
		in := slices.Contains(there, fmt.Sprint("results/", i))
		switch bad := v.bad[fmt.Sprint(i)]; {
		case bad && in:
			landed++
		case !bad && !in:
			lost++
		}
	}
	return took, lost, landed
}

// BenchmarkPlan compares a stage of a plan, whose work takes no time, with a run of the same command. As many
// workers run for themselves while the plan runs, so that whatever else the machine does slows both down.
func BenchmarkPlan(b *testing.B) {
	const stages, columns = 60, 8
	dir := place(b)
	program, parallel := cordon(b, dir), runtime.NumCPU()
	var plan strings.Builder
	fmt.Fprintf(&plan, "version: 1\nplan: bench\nparallel: %d\nstages:\n", parallel)
	for i := range stages {
		after := ""
		if i >= columns {
			after = fmt.Sprintf(", after: [s%d]", i-columns)
		}
		fmt.Fprintf(&plan, "  - {id: s%d, task: t, write: [out/%[1]d]%s, command: [sh, -c, echo x >out/%[1]d], artifacts: [out/%[1]d]}\n", i, after)
	}
	t, round := turns{}, 0
	for b.Loop() {
		files := map[string]string{
			"repo/cordon.yaml": "version: 1\nfilesystem: {write_roots: [out]}\nacceptance: [test -d out]\n", "repo/out/base": "", "plan.yaml": plan.String(),
			"home/.config/cordon/config.yaml": "version: 1\nidentity: {name: b, email: b@localhost}\n",
		}
		staged := newSite(b, program, filepath.Join(dir, fmt.Sprint("plan", round)), files)
		alone := newSite(b, program, filepath.Join(dir, fmt.Sprint("runs", round)), files)
		var ended atomic.Bool
		var done, slot atomic.Int64
		others := make(chan error, 1)
		go func() {
			others <- atOnce(parallel, func() error {
				for i := slot.Add(1); !ended.Load(); i += int64(parallel) {
					if err := alone.cordon("run", "--merge", "--write", fmt.Sprint("out/", i), "--", "sh", "-c", fmt.Sprint("echo x >out/", i)); err != nil {
						return err
					}
					done.Add(1)
				}
				return nil
			})
		}()
		began := time.Now()
		err := staged.cordon("plan", "run", "--merge", filepath.Join(staged.dir, "plan.yaml"))
		took := time.Since(began)
		count := time.Duration(max(done.Load(), 1))
		ended.Store(true)
		if err := errors.Join(err, <-others); err != nil {
			b.Fatal(err)
		}
		t["stage"], t["run"] = append(t["stage"], took/stages), append(t["run"], took/count)
		round++
	}
	t.compare(b, fmt.Sprintf("a stage of a plan of %d, compared with `cordon run` of the same command", stages), "× 2", "stage", "run")
}
