package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// field is how the cost of a plan is measured: stages whose work takes no time, so that everything
// is overhead, against cordon run with the same commands.
type field struct{ stages, columns, parallel int }

// plans prints what a stage costs, against a run of its own. Both are measured in the same time, so
// that whatever else the machine does slows both down.
func plans(ctx context.Context, f field) error {
	dir, err := os.MkdirTemp("", "cordon-bench-plan-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "cordon")
	if err := build(program, "./cmd/cordon"); err != nil {
		return err
	}
	runs, staged := stand{program: program, dir: filepath.Join(dir, "runs")}, stand{program: program, dir: filepath.Join(dir, "plan")}
	for _, s := range []stand{runs, staged} {
		if err := s.field(ctx); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(staged.dir, "plan.yaml"), []byte(f.text()), 0o644); err != nil {
		return err
	}
	began := time.Now()
	done, err := f.apart(ctx, runs, func() error {
		_, err := staged.run(ctx, program, "plan", "run", "--merge", filepath.Join(staged.dir, "plan.yaml"))
		return err
	})
	if err != nil {
		return err
	}
	took := time.Since(began)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%d stages, %d at once, while as many workers run for themselves\teach\t× cordon run\n", f.stages, f.parallel)
	fmt.Fprintf(out, "cordon run\t%.0f ms\t1.00\n", ms(took)/float64(done))
	fmt.Fprintf(out, "cordon plan run\t%.0f ms\t%.2f\n", ms(took)/float64(f.stages), float64(done)/float64(f.stages))
	if err := f.looks(ctx, out, staged, runs); err != nil {
		return err
	}
	return out.Flush()
}

// looks measures commands that only look, after the plan and after the single runs.
func (f field) looks(ctx context.Context, out *tabwriter.Writer, staged, runs stand) error {
	fmt.Fprintf(out, "\nafterwards\tafter the plan\tafter the runs\n")
	for _, args := range [][]string{{"ls"}, {"ls", "--all-states"}, {"inbox"}, {"plan", "ls"}, {"plan", "show", "bench"}} {
		var took [2]time.Duration
		for i, s := range []stand{staged, runs} {
			if i == 1 && args[0] == "plan" {
				continue
			}
			took[i] = time.Hour
			for range 5 {
				began := time.Now()
				if _, err := s.run(ctx, append([]string{s.program}, args...)...); err != nil {
					return err
				}
				took[i] = min(took[i], time.Since(began))
			}
		}
		other := "–"
		if took[1] > 0 {
			other = fmt.Sprintf("%.0f ms", ms(took[1]))
		}
		fmt.Fprintf(out, "cordon %s\t%.0f ms\t%s\n", strings.Join(args, " "), ms(took[0]), other)
	}
	return nil
}

// field makes a small repository.
func (s stand) field(ctx context.Context) error {
	files := map[string]string{
		"repo/cordon.yaml": "version: 1\nfilesystem: {write_roots: [out]}\nacceptance: [test -d out]\n", "repo/out/base": "",
		"home/.config/cordon/config.yaml": "version: 1\nidentity: {name: b, email: b@localhost}\n",
	}
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return s.firstCommit(ctx)
}

// text is the plan: columns of stages, each of which waits for the one above it.
func (f field) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nplan: bench\nparallel: %d\nstages:\n", f.parallel)
	for i := range f.stages {
		after := ""
		if i >= f.columns {
			after = fmt.Sprintf(", after: [s%d]", i-f.columns)
		}
		fmt.Fprintf(&b, "  - {id: s%d, task: t, write: [out/%d]%s, command: [sh, -c, %q], artifacts: [out/%d]}\n", i, i, after, labour(i), i)
	}
	return b.String()
}

func labour(i int) string { return fmt.Sprintf("echo %d >out/%d", i, i) }

// apart runs the commands of stages as single workers, as many at once as the plan does, until
// something else has ended, and counts them.
func (f field) apart(ctx context.Context, s stand, other func() error) (done int, err error) {
	var ended, counted atomic.Int64
	errs := make(chan error, f.parallel)
	for slot := range f.parallel {
		go func() {
			for i := slot; ended.Load() == 0; i += f.parallel {
				if _, err := s.run(ctx, s.program, "run", "--merge", "--write", fmt.Sprintf("out/%d", i), "--", "sh", "-c", labour(i)); err != nil {
					errs <- err
					return
				}
				counted.Add(1)
			}
			errs <- nil
		}()
	}
	err = other()
	done = int(counted.Load())
	ended.Store(1)
	for range f.parallel {
		err = errors.Join(err, <-errs)
	}
	return done, err
}
