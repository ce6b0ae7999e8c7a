// Command bench runs the benchmarks of this folder and prints the rows that they log as one table: what
// cordon costs, as ratios of things that were measured in turns in one run.
//
//	go run ./bench                           everything, about half an hour on an idle machine
//	go run ./bench -only 'Start|Run/1000$'   some of it
//	go run ./bench -rounds 50 -only Start
//	go run ./bench -write docs/costs.md      put the table into a document
//
// It refuses to judge: it prints no verdict, because absolute times and their noise belong to the machine.
// It measures nothing itself. How each thing is measured stands in the test files beside it, and
// `go test -run '^$' -bench Start -benchtime 20x ./bench` runs them without it.
//
// The test suites of real projects are run by the script projects/run.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", ".", "run the benchmarks that match `PATTERN`")
	rounds := flag.Int("rounds", 5, "how often each thing is measured")
	within := flag.Duration("within", time.Hour, "end what is not done by then")
	write := flag.String("write", "", "put the table into `FILE` instead of printing it")
	flag.Parse()
	rows, err := measure(*only, *rounds, *within)
	if err == nil {
		err = report(*write, rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measure returns the rows that the benchmarks log, and shows each when it comes.
func measure(only string, rounds int, within time.Duration) (rows []string, err error) {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", only, "-benchtime", fmt.Sprint(rounds, "x"), "-timeout", within.String(), "./bench")
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, row, found := strings.Cut(lines.Text(), rowMark); found {
			rows = append(rows, row)
			fmt.Fprintln(os.Stderr, row)
		} else if !strings.HasPrefix(lines.Text(), "Benchmark") {
			fmt.Fprintln(os.Stderr, lines.Text()) // what failed, or was skipped and why
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go test: %w", err)
	}
	return rows, nil
}

// rowMark stands before a row of the table in the log of a benchmark.
const rowMark = "row: "

// The lines between which a document holds the table.
const (
	tableBegin = "<!-- written by go run ./bench -write docs/costs.md -->\n"
	tableEnd   = "<!-- end -->\n"
)

// report prints the table, or puts it into a document in the place of the old one.
func report(document string, rows []string) error {
	if len(rows) == 0 {
		return fmt.Errorf("nothing was measured: does the pattern match a benchmark?")
	}
	table := machine() + "; the shortest of all rounds, and the medians.\n\n| | goal | measured |\n|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
	if document == "" {
		fmt.Print(table)
		return nil
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table: a line %q and a line %q", document, strings.TrimSpace(tableBegin), strings.TrimSpace(tableEnd))
	}
	return os.WriteFile(document, []byte(before+tableBegin+"\n"+table+"\n"+tableEnd+after), 0o644)
}

// machine names the day and what this runs on, without the name that somebody gave their kernel.
func machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // for display
	release, _, _ := strings.Cut(strings.TrimSpace(string(kernel)), "-")
	return fmt.Sprintf("%s, Linux %s, %d CPUs, %s", time.Now().Format("2006-01-02"), release, runtime.NumCPU(), runtime.Version())
}
