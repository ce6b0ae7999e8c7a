// Command bench measures what confinement costs, as ratios in one interleaved
// run: the start of /bin/true bare, under cordon exec and under whatever other
// sandboxes are installed, and everyday work inside a cell against the same work
// outside. Or what the trees of workers cost, against git's own worktrees, what the
// guard's decisions cost, against hooks that do nothing, and what the network of a
// cell costs, against plain loopback and a proxy.
//
//	go run ./bench            about a minute
//	go run ./bench -rounds 50
//	go run ./bench -trees     about six minutes on an idle machine
//	go run ./bench -trees -files 1000,20000 -repo DIR -turns 9
//	go run ./bench -trees -patience 1h
//	go run ./bench -guard     some seconds: what judging a tool call costs
//	go run ./bench -journal   a minute: what a long journal costs
//	go run ./bench -net       some two minutes: what the network of a cell costs
//	go run ./bench -queue     a quarter of an hour, most of it asleep: how long many results take to land
//	go run ./bench -queue -seeds 1 -acceptance 4s
//	go run ./bench -plan      some four minutes: what a stage of a plan costs, against cordon run
//	go run ./bench -fleet     about a minute: what a fleet adds to a stage, against cordon exec
//	go run ./bench -desk      some three minutes: how soon the desk shows an event, and what its screens cost
//	go run ./bench -all -write docs/costs.md   a quarter of an hour: the ratios that cordon is held against, into that document
//	go run ./bench -all -only audits           one piece of it
//
// It refuses to judge: it prints a table and no verdict, because absolute times
// and their noise belong to the machine.
//
// The test suites of real projects are run by the script projects/run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if filepath.Base(os.Args[0]) == "git" {
		fmt.Fprintln(os.Stderr, "bench:", standIn())
		os.Exit(1)
	}
	debug.SetGCPercent(400) // as cordon does
	if len(os.Args) == 3 && os.Args[1] == "work" {
		os.Exit(work(os.Args[2]))
	}
	if err := measured(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measured(args []string) error {
	if len(args) > 2 && args[0] == "took" {
		return took(args[1:])
	}
	if len(args) > 1 && args[0] == "net" {
		return netRole(args[1:])
	}
	rounds := flag.Int("rounds", 20, "how often each start is measured")
	turns := flag.Int("turns", 5, "how often each piece of work is measured")
	ofGuard := flag.Bool("guard", false, "measure the guard's decisions")
	ofNet := flag.Bool("net", false, "measure the network of a cell")
	ofJournal := flag.Bool("journal", false, "measure the journal")
	ofQueue := flag.Bool("queue", false, "measure the queue of landings")
	crowd := crowd{slots: 4}
	flag.IntVar(&crowd.workers, "workers", 48, "with -queue: results that wait at once")
	flag.IntVar(&crowd.seeds, "seeds", 5, "with -queue: how often bad and flaky results are drawn; -1: only a queue of one is measured")
	flag.DurationVar(&crowd.acceptance, "acceptance", 10*time.Second, "with -queue: how long acceptance takes")
	ofPlan := flag.Bool("plan", false, "measure a plan of many stages")
	field := field{columns: 8}
	flag.IntVar(&field.stages, "stages", 200, "with -plan: stages")
	flag.IntVar(&field.parallel, "parallel", runtime.NumCPU(), "with -plan: stages at once")
	ofFleet := flag.Bool("fleet", false, "measure what a fleet adds to a stage")
	ofDesk := flag.Bool("desk", false, "measure the desk")
	live := flag.Int("live", 50, "with -desk: workers that run meanwhile")
	ofTrees := flag.Bool("trees", false, "measure the trees of workers")
	files := flag.String("files", "", "with -trees and -all: sizes of the repositories that are made (1000,20000,90000, and with -all also 63000)")
	repo := flag.String("repo", "", "with -trees: a repository of yours, which is only read")
	all := flag.Bool("all", false, "measure every ratio that cordon is held against, in one table")
	ofClients := flag.Bool("clients", true, "with -all: the real agent clients too (see CONTRIBUTING.md)")
	write := flag.String("write", "", "with -all: put the table into `FILE`, such as docs/costs.md, instead of printing it")
	patience := flag.Duration("patience", 40*time.Second, "with -trees: what git would take longer for, in one step of one repository, is left out; "+
		"with -all: no further round is begun after it")
	within := flag.Duration("within", 15*time.Minute, "with -all: what is not measured by then is left out")
	only := flag.String("only", "", "with -all and -desk: only the pieces with this `WORD` in their name, such as audits")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *ofQueue {
		return queues(ctx, crowd)
	}
	if *ofPlan {
		return plans(ctx, field)
	}
	if *ofFleet {
		return fleets(ctx, *rounds)
	}
	if *ofGuard {
		return guards(max(*rounds, 100))
	}
	if *ofDesk {
		return desks(ctx, deskRun{live: *live, rounds: max(*rounds, 60), only: *only})
	}
	if *ofJournal {
		return journals(*rounds)
	}
	if *ofNet {
		return nets(*rounds, *turns)
	}
	if !*ofTrees && !*all {
		return bench(*rounds, *turns)
	}
	if *files == "" {
		*files = "1000,20000,90000"
		if *all {
			*files = fmt.Sprintf("1000,20000,%d,90000", landing)
		}
	}
	c := choice{repo: *repo, turns: *turns, patience: *patience, only: *only}
	for _, word := range strings.FieldsFunc(*files, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 100 {
			return fmt.Errorf("-files: %q is not a number of at least 100", word)
		}
		c.files = append(c.files, n)
	}
	if *all {
		return goals(ctx, c, *rounds, *ofClients, *within, *write)
	}
	return trees(ctx, c)
}

// sandbox is a way to run a command that may write one directory.
type sandbox struct {
	name string
	wrap func(dir string, argv []string) []string
}

// peers are sandboxes that are compared when they are installed. Each is given
// what comes nearest to the cell: the machine read-only, one directory writable,
// no network.
var peers = []sandbox{
	{"bwrap", func(dir string, argv []string) []string {
		return append([]string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
			"--bind", dir, dir, "--unshare-all", "--die-with-parent", "--new-session", "--chdir", dir, "--"}, argv...)
	}},
	{"firejail", func(dir string, argv []string) []string {
		return append([]string{"firejail", "--quiet", "--noprofile", "--net=none", "--read-only=/", "--read-write=" + dir, "--"}, argv...)
	}},
	{"nsjail", func(dir string, argv []string) []string {
		return append([]string{"nsjail", "-q", "-Mo", "--chroot", "/", "-B", dir, "--cwd", dir, "--disable_rlimits", "--"}, argv...)
	}},
	{"landrun", func(dir string, argv []string) []string {
		return append([]string{"landrun", "--rox", "/", "--rw", "/dev", "--rw", dir}, argv...)
	}},
}

func bench(rounds, turns int) error {
	dir, err := place()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // made by place, just now
	cordon, self := filepath.Join(dir, "cordon"), filepath.Join(dir, "bench")
	for out, pkg := range map[string]string{cordon: "./cmd/cordon", self: "./bench"} {
		if err := build(out, pkg); err != nil {
			return err
		}
	}
	boxes := []sandbox{
		{"bare", func(_ string, argv []string) []string { return argv }},
		{"cordon exec", func(_ string, argv []string) []string { return append([]string{cordon, "exec", "--"}, argv...) }},
	}
	for _, p := range peers {
		if _, err := exec.LookPath(p.name); err == nil {
			boxes = append(boxes, p)
		}
	}
	describe()
	if err := starts(boxes, filepath.Join(dir, "start"), rounds); err != nil {
		return err
	}
	return inside(boxes, filepath.Join(dir, "work"), self, turns)
}

// place is a directory that a sandbox with a /tmp of its own still sees.
func place() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(home, "cordon-bench-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"start", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return "", err
		}
	}
	return dir, os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
}

// build builds a program and copies it, as an installer does. The linker writes through a
// mapping, so that the kernel keeps its output in single pages until it is read from the disk
// again, and every start takes a quarter longer.
func build(out, pkg string) error {
	linked := out + ".linked"
	cmd := exec.Command("go", "build", "-trimpath", "-o", linked, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return install(linked, out)
}

// install copies a program that was linked just now, and removes the original.
func install(linked, out string) error {
	text, err := os.ReadFile(linked)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(out, text, 0o755), os.Remove(linked))
}

// machine is the day and what this runs on, without the name that somebody gave their kernel.
func machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // for display
	release, _, _ := strings.Cut(strings.TrimSpace(string(kernel)), "-")
	return fmt.Sprintf("%s, Linux %s, %d CPUs, %s", time.Now().Format("2006-01-02"), release, runtime.NumCPU(), runtime.Version())
}

func describe() { fmt.Printf("%s\n\n", machine()) }

// starts measures how long it takes to run nothing.
func starts(boxes []sandbox, dir string, rounds int) error {
	times := map[string][]time.Duration{}
	for range rounds {
		for _, b := range boxes {
			began := time.Now()
			if err := run(dir, b.wrap(dir, []string{"/bin/true"})); err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			times[b.name] = append(times[b.name], time.Since(began))
		}
	}
	fmt.Printf("| start of /bin/true | median | × bare | × bwrap |\n|---|---|---|---|\n")
	for _, b := range boxes {
		m := median(times[b.name])
		fmt.Printf("| %s | %.1f ms | %.1f | %s |\n", b.name, ms(m), ratio(m, median(times["bare"])), overBwrap(m, times["bwrap"]))
	}
	fmt.Println()
	return nil
}

func overBwrap(m time.Duration, bwrap []time.Duration) string {
	if len(bwrap) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", ratio(m, median(bwrap)))
}

// inside measures work in a sandbox, without its start: the worker tells how long
// it took.
func inside(boxes []sandbox, dir, self string, turns int) error {
	if err := prepare(dir); err != nil {
		return err
	}
	fmt.Print("| inside, × bare |")
	for _, b := range boxes[1:] {
		fmt.Printf(" %s |", b.name)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---|", len(boxes)-1))
	for _, task := range tasks {
		times := map[string][]time.Duration{}
		for range turns {
			for _, b := range boxes {
				took, err := timed(dir, b.wrap(dir, []string{self, "work", task.name}))
				if err != nil {
					return fmt.Errorf("%s under %s: %w", task.name, b.name, err)
				}
				times[b.name] = append(times[b.name], took)
			}
		}
		bare := median(times["bare"])
		fmt.Printf("| %s (%.0f ms) |", task.what, ms(bare))
		for _, b := range boxes[1:] {
			fmt.Printf(" %.2f |", ratio(median(times[b.name]), bare))
		}
		fmt.Println()
	}
	return nil
}

func run(dir string, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func timed(dir string, argv []string) (time.Duration, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Duration(ns), err
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
