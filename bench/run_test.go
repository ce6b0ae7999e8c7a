package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/agent/clients"
)

// BenchmarkRun compares a whole run that does nothing with git worktree add, and twenty at once with one.
func BenchmarkRun(b *testing.B) {
	goals := map[int]string{1000: "× 2.5", 90000: "÷ 200"}
	for _, files := range []int{1000, 20000, 90000} {
		b.Run(strconv.Itoa(files), func(b *testing.B) {
			dir := place(b)
			program, host := cordon(b, dir), generate(b, filepath.Join(dir, "host"), files)
			clone := filepath.Join(dir, "clone") // so that the host has no other worktrees
			must(b, "", "git", "clone", "-q", "--shared", "--no-checkout", host, clone)
			once := func() error { _, err := run(host, program, "run", "--no-merge", "--", "true"); return err }
			if err := once(); err != nil { // it makes the base
				b.Fatal(err)
			}
			t := turns{}
			for b.Loop() {
				settle()
				t.time(b, "run", once)
				tree := filepath.Join(dir, "tree")
				settle()
				t.time(b, "add", func() error { _, err := run(clone, "git", "worktree", "add", "-q", "--detach", tree); return err })
				must(b, clone, "git", "worktree", "remove", "--force", tree)
			}
			settle()
			t.time(b, "twenty", func() error { return atOnce(20, once) })
			name := "`cordon run --no-merge -- true`, " + strconv.Itoa(files) + " files"
			t.compare(b, name+", compared with `git worktree add`", goals[files], "run", "add")
			t.compare(b, "twenty of them at once, compared with one", "× 12 on two cores", "twenty", "run")
			if files == 1000 {
				logRow(b, "git processes of one of them", "12", fmt.Sprint(countGit(b, dir, host, program)))
			}
		})
	}
}

func atOnce(n int, act func() error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = act() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// countGit counts the git processes of a run, with the one in the cell, which proves a commit. A program and
// not a script stands in for git: cordon remembers nothing of a script.
func countGit(b *testing.B, dir, host, program string) int {
	real, err := exec.LookPath("git")
	if err != nil {
		b.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	copyProgram(b, self(b, dir), filepath.Join(bin, "git"))
	if err := os.Symlink(real, filepath.Join(bin, realGit)); err != nil {
		b.Fatal(err)
	}
	var calls []byte
	for range 3 { // until all is remembered
		writeFiles(b, bin, map[string]string{gitLog: ""})
		if _, err := runWith(host, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "", program, "run", "--no-merge", "--", "true"); err != nil {
			b.Fatal(err)
		}
		if calls, err = os.ReadFile(filepath.Join(bin, gitLog)); err != nil {
			b.Fatal(err)
		}
	}
	return strings.Count(string(calls), "\n") + 1 // what runs in the cell cannot write there
}

// BenchmarkAudit compares the audit of 10,000 changes with git status. (Without a process: go test -bench
// Collect ./internal/audit.)
func BenchmarkAudit(b *testing.B) {
	const files, changes = 20000, 10000
	dir := place(b)
	program, host := cordon(b, dir), generate(b, filepath.Join(dir, "host"), files)
	plain := filepath.Join(dir, "plain")
	must(b, "", "git", "clone", "-q", host, plain)
	const change = `git ls-files | awk 'NR % 2' | while read -r f; do echo changed >>"$f"; done`
	must(b, plain, "sh", "-c", change)
	must(b, host, program, "run", "--no-merge", "--write", ".", "--", "sh", "-c", change)
	id := workers(b, host, program)[0].Worker
	t := turns{}
	for b.Loop() {
		t.time(b, "audit", func() error {
			out, err := run(host, program, "audit", "--now", id)
			if err == nil && !strings.Contains(out, strconv.Itoa(changes)) {
				err = fmt.Errorf("the audit says %q", out[:min(len(out), 500)])
			}
			return err
		})
		t.time(b, "status", func() error {
			out, err := run(plain, "git", "status", "--porcelain")
			if n := strings.Count(out, "\n"); err == nil && n != changes {
				err = fmt.Errorf("git status has %d lines", n)
			}
			return err
		})
	}
	t.compare(b, "`cordon audit --now` of 10,000 changes among 20,000 files, compared with `git status`", "× 1.25", "audit", "status")
}

// worker is what cordon ls says of one.
type worker struct{ Worker, Status string }

func workers(b *testing.B, dir, program string, environ ...string) []worker {
	b.Helper()
	text, err := runWith(dir, environ, "", program, "ls", "--all-states", "--json")
	var list struct{ Workers []worker }
	if err == nil {
		err = json.Unmarshal([]byte(text), &list)
	}
	if err != nil || len(list.Workers) == 0 {
		b.Fatalf("no worker is listed: %v", err)
	}
	return list.Workers
}

// BenchmarkLanding measures how long a result of one line takes from the worker's end to the end of the
// command. The worker's last act writes the time into the line.
func BenchmarkLanding(b *testing.B) {
	const files = 63000
	dir := place(b)
	program, host := cordon(b, dir), generate(b, filepath.Join(dir, "host"), files)
	file := nameOf(files / 2)
	var took []time.Duration
	for b.Loop() {
		settle()
		must(b, host, program, "run", "--merge", "--", "sh", "-c", `printf '\n%s\n' "$(date +%s%N)" >>"$0"`, file)
		ended := time.Now()
		text, err := os.ReadFile(filepath.Join(host, file))
		words := strings.Fields(string(text))
		ns, perr := strconv.ParseInt(words[len(words)-1], 10, 64)
		if err := errors.Join(err, perr); err != nil {
			b.Fatal(err)
		}
		took = append(took, ended.Sub(time.Unix(0, ns)))
	}
	logRow(b, "a line edited among 63,000 files, from the worker's end to the end of `cordon run --merge`", "1 s",
		fmt.Sprintf("%s; median %s", short(slices.Min(took)), short(median(took))))
}

// BenchmarkBuild counts what a worker compiles of a Go module after another worker landed, and compares the
// time of its build with that of the host, whose cache is warm.
func BenchmarkBuild(b *testing.B) {
	const packages = 30
	dir := place(b)
	program, me, host := cordon(b, dir), self(b, dir), filepath.Join(dir, "host")
	now := time.Now().UnixNano() // a module that nobody has built yet
	files := map[string]string{"go.mod": "module example\n\ngo 1.24\n",
		"p0/p.go": fmt.Sprintf("package p0\n\nimport \"fmt\"\n\nfunc Say() { fmt.Println(%d) }\n", now)}
	for i := 1; i < packages; i++ {
		files[fmt.Sprintf("p%d/p.go", i)] = fmt.Sprintf("package p%d\n\nimport \"example/p%[2]d\"\n\nfunc Say() { p%[2]d.Say() }\n", i, i-1)
	}
	writeFiles(b, host, files)
	firstCommit(b, host)
	must(b, host, "git", "config", "user.name", "bench")
	must(b, host, "git", "config", "user.email", "bench@example.com")
	inWorker := func() (compiled int, took time.Duration) {
		must(b, host, program, "run", "--merge", "--", "sh", "-c",
			`go list -f '{{if .Stale}}{{.ImportPath}}{{end}}' ./... >stale && "$0" took go build ./... >took`, me)
		stale, err := os.ReadFile(filepath.Join(host, "stale"))
		text, terr := os.ReadFile(filepath.Join(host, "took"))
		ns, perr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err := errors.Join(err, terr, perr); err != nil {
			b.Fatal(err)
		}
		return strings.Count(string(stale), "\n"), time.Duration(ns)
	}
	first, _ := inWorker() // it leaves a cache
	must(b, host, "go", "build", "./...")
	t, compiled := turns{}, 0
	for b.Loop() {
		n, took := inWorker()
		compiled, t["worker"] = n, append(t["worker"], took)
		t.time(b, "host", func() error { _, err := run(host, "go", "build", "./..."); return err })
	}
	what := fmt.Sprintf("`go build ./...`, %d packages, in a worker after another one landed", packages)
	logRow(b, what+": packages to compile", "0", fmt.Sprintf("%d; %d in the first worker", compiled, first))
	t.compare(b, what+", compared with the warm host", "", "worker", "host")
}

// tookPart runs a command and prints how long it took.
func tookPart(argv []string) error {
	began := time.Now()
	err := again(1, argv...)
	fmt.Println(time.Since(began).Nanoseconds())
	return err
}

// BenchmarkFirstRequest compares how long clients take to their first request with and without cordon. It asks
// the suite of the real clients, which knows how each is called (CONTRIBUTING.md).
func BenchmarkFirstRequest(b *testing.B) {
	for _, client := range clients.Names() {
		b.Run(string(client), func(b *testing.B) {
			rounds := 0
			for b.Loop() {
				rounds++
			}
			out, err := runWith("..", []string{fmt.Sprint("CORDON_MEASURE=", rounds)}, "",
				"go", "test", "-count=1", "-v", "-run", "^TestAgentsFirstRequest$/^"+string(client)+"$", "./cmd/cordon")
			if err != nil {
				b.Fatal(err)
			}
			_, line, found := strings.Cut(out, "first request: "+string(client)+" ")
			line, _, _ = strings.Cut(line, "\n")
			bare, confined, _ := strings.Cut(line, " ")
			t := turns{"bare": durations(b, bare), "confined": durations(b, confined)}
			if !found {
				b.Fatal("the suite measured nothing")
			}
			t.compare(b, "first request of "+string(client)+" under `cordon run`, compared with the bare client", "× 1.25", "confined", "bare")
		})
	}
}

// durations reads a list with commas.
func durations(b *testing.B, text string) (list []time.Duration) {
	for word := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		d, err := time.ParseDuration(word)
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}
