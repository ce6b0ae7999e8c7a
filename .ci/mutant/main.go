// Command mutant breaks one promise of SECURITY.md at a time and runs the test that has to notice.
// .ci/mutants is its entry; .ci/mutants.d holds the mutants, and its README says how to add one.
//
// The tree is never touched: go builds each mutant from an overlay, which replaces one file by a changed
// copy elsewhere. The overlay stands in GOFLAGS, so tests that build cordon themselves build the mutant too.
package main

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	size := flags.String("size", "", "fast: only with the tests of go test ./...")
	sample := flags.Int("sample", 0, "only so many, chosen by the seed")
	seed := flags.String("seed", "", "of the sample; by default the commit")
	list := flags.Bool("list", false, "print the mutants and their tests, and run nothing")
	check := flags.Bool("check", false, "only check that each text occurs once, each test exists, and there are enough")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *size != "" && *size != "fast" {
		return fmt.Errorf("--size %s: only fast is a size", *size)
	}
	root, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	all, err := readMutants(filepath.Join(root, ".ci", "mutants.d"))
	if err != nil {
		return err
	}
	tree, err := readTree(root)
	if err != nil {
		return err
	}
	bad := 0
	for _, m := range all {
		if err := m.check(tree); err != nil {
			fmt.Fprintf(os.Stderr, "%s (%s): %v\n", m.name, m.area, err)
			bad++
		}
	}
	if *check {
		return checked(all, bad)
	}
	chosen, err := choose(all, flags.Args(), *sample, *seed)
	if err != nil {
		return err
	}
	if *list {
		for _, m := range chosen {
			fmt.Printf("%-10s %-34s %s\n%46s%s\n", m.area, m.name, m.test, "", m.breaks)
		}
		return nil
	}
	return judge(ctx, tree, chosen, *size)
}

// leastAll and leastFast are how many mutants there are at least, and how many of them have a fast test.
const leastAll, leastFast = 60, 45

// checked fails if mutants lack their text or test, or if there are too few.
func checked(all []*mutant, bad int) error {
	fast := 0
	for _, m := range all {
		if m.test.fast() {
			fast++
		}
	}
	fmt.Printf("%d mutants, %d with a fast test\n", len(all), fast)
	switch {
	case bad > 0:
		return fmt.Errorf("%d of them need a successor", bad)
	case len(all) < leastAll || fast < leastFast:
		return fmt.Errorf("at least %d are needed, %d of them with a fast test", leastAll, leastFast)
	}
	return nil
}

// choose returns the mutants with these names, or a sample, or all.
func choose(all []*mutant, names []string, sample int, seed string) ([]*mutant, error) {
	var chosen []*mutant
	for _, name := range names {
		at := slices.IndexFunc(all, func(m *mutant) bool { return m.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no mutant %q; --list names them", name)
		}
		chosen = append(chosen, all[at])
	}
	if len(names) > 0 {
		return chosen, nil
	}
	if sample <= 0 || sample >= len(all) {
		return all, nil
	}
	if seed == "" {
		var err error
		if seed, err = git("rev-parse", "HEAD"); err != nil {
			return nil, err
		}
	}
	fmt.Printf("a sample of %d of %d mutants; seed %s\n", sample, len(all), seed)
	sum := fnv.New64a()
	sum.Write([]byte(seed))
	for _, at := range rand.New(rand.NewPCG(sum.Sum64(), 0)).Perm(len(all))[:sample] {
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// judge runs the test of each mutant, with it and without it, and prints what became of them.
func judge(ctx context.Context, tree tree, chosen []*mutant, size string) error {
	scratch, err := os.MkdirTemp("", "cordon-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	began := time.Now()
	controls := runControls(ctx, chosen, size)
	fmt.Printf("the tests of %d mutants were run on the unchanged tree in %.1f minutes\n", len(chosen), time.Since(began).Minutes())
	var rows []row
	for _, m := range chosen {
		if ctx.Err() != nil {
			break // those that are left are reported below
		}
		r := one(ctx, tree, m, size, scratch, controls)
		fmt.Println(r)
		if r.detail != "" {
			fmt.Fprintln(os.Stderr, indent(r.detail))
		}
		rows = append(rows, r)
	}
	return report(rows, len(chosen), time.Since(began))
}

// one judges one mutant. A test that fails on the unchanged tree shows nothing.
func one(ctx context.Context, tree tree, m *mutant, size, scratch string, controls map[test]outcome) (r row) {
	r.m = m
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	overlay, err := m.write(tree, scratch)
	t := m.test
	switch {
	case err != nil:
		r.verdict, r.detail = gone, err.Error()
		return r
	case size == "fast" && !t.fast():
		r.verdict = noFastTest
		return r
	}
	if control := controls[t]; control.result != passed {
		r.verdict, r.detail = controlFailed, control.said
		return r
	}
	if said, err := build(ctx, m.dir(tree), overlay); err != nil {
		r.verdict, r.detail = notBuilt, said
		return r
	}
	got := runTest(ctx, t, overlay)
	switch {
	case got.result == failed, got.result == timedOut && m.hangs:
		r.verdict = caughtFast
		if !t.fast() {
			r.verdict = caughtLarger
		}
		r.by = got.by
	case got.result == passed:
		r.verdict = survived
	default:
		r.verdict, r.detail = unclear, got.said
	}
	return r
}

type verdict string

const (
	caughtFast    verdict = "fast test"
	caughtLarger  verdict = "larger test"
	survived      verdict = "SURVIVED"
	gone          verdict = "TEXT GONE"
	noFastTest    verdict = "no fast test"
	controlFailed verdict = "CONTROL FAILED" // the test does not pass on the unchanged tree
	notBuilt      verdict = "NOT BUILT"
	unclear       verdict = "NOT JUDGED" // a test that timed out, was skipped or did not exist
)

type row struct {
	m       *mutant
	verdict verdict
	by      string
	took    time.Duration
	detail  string
}

func (r row) String() string {
	return fmt.Sprintf("%-14s %6.0f s  %-10s %-34s %s", r.verdict, r.took.Seconds(), r.m.area, r.m.name, r.by)
}

func report(rows []row, chosen int, took time.Duration) error {
	fmt.Printf("\n%d mutants in %.1f minutes\n", len(rows), took.Minutes())
	count := map[verdict]int{}
	for _, r := range rows {
		count[r.verdict]++
	}
	bad := chosen - len(rows)
	if bad > 0 {
		fmt.Printf("%4d were not begun: interrupted\n", bad)
	}
	for _, v := range []verdict{caughtFast, caughtLarger, noFastTest, survived, gone, controlFailed, notBuilt, unclear} {
		if count[v] == 0 {
			continue
		}
		fmt.Printf("%4d %s\n", count[v], v)
		if v == caughtFast || v == caughtLarger || v == noFastTest {
			continue
		}
		bad += count[v]
		for _, r := range rows {
			if r.verdict == v {
				fmt.Printf("       %s (%s): %s\n", r.m.name, r.m.area, r.m.breaks)
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d are not caught", bad, chosen)
	}
	return nil
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
