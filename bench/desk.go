package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/session"
)

// deskRun is how the desk is measured.
type deskRun struct {
	live, rounds int
	only         string
}

// desks prints what the desk costs: the start of cordon with its libraries, how soon an event is on the screen, and what
// its screens cost.
func desks(ctx context.Context, o deskRun) error {
	dir, err := place()
	if err != nil {
		return err
	}
	defer erase(dir)
	cordon := filepath.Join(dir, "cordon")
	if err := build(cordon, "./cmd/cordon"); err != nil {
		return err
	}
	c := choice{only: o.only}
	list := c.rows(ctx, piece{"starts", 10 * time.Minute, func(ctx context.Context) ([]goal, error) {
		return startGoals(ctx, filepath.Join(dir, "start"), o.rounds)
	}})
	list = append(list, c.rows(ctx, piece{"folds", 5 * time.Minute, func(context.Context) ([]goal, error) { return foldGoals() }})...)
	list = append(list, c.rows(ctx, piece{"screens", 10 * time.Minute, screenGoals})...)
	list = append(list, c.rows(ctx, piece{"events", 15 * time.Minute, func(ctx context.Context) ([]goal, error) { return o.eventGoals(ctx, dir, cordon) }})...)
	list = append(list, c.rows(ctx, piece{"notices", 5 * time.Minute, func(ctx context.Context) ([]goal, error) { return o.noticeGoals(ctx, dir, cordon) }})...)
	return writeGoals("", list)
}

// The size of a journal that is folded.
const foldedEvents = 10_000

// foldGoals compare the folding of one event with that of the whole journal.
func foldGoals() ([]goal, error) {
	const place = "XDG_STATE_HOME" // the journal that is folded has another
	defer os.Setenv(place, os.Getenv(place))
	p, err := makePast(foldedEvents)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(p.dir)
	s, err := session.Open(context.Background(), p.repo)
	if err != nil {
		return nil, err
	}
	var one, all []time.Duration
	if err := s.Follow(); err != nil {
		return nil, err
	}
	if _, err := s.Ledger(); err != nil {
		return nil, err
	}
	for range 20 {
		began := time.Now()
		if _, err := s.History(); err != nil { // reads nothing anew, and folds everything
			return nil, err
		}
		all = append(all, time.Since(began))
		if _, err := p.log.Append("", "+bench.append", nil); err != nil {
			return nil, err
		}
		began = time.Now()
		if _, err := s.Ledger(); err != nil { // reads what is new, and folds that
			return nil, err
		}
		one = append(one, time.Since(began))
	}
	return []goal{{fmt.Sprintf("reading and folding one new event, compared with folding %s", grouped(foldedEvents)), "÷ 100", times(one, all)}}, nil
}

// screenGoals are the benchmarks of the packages that draw.
func screenGoals(ctx context.Context) ([]goal, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "-benchtime", "40x", "./internal/deskterm", "./internal/deskweb")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	m := metrics(string(out))
	ms := func(name string) string { return fmt.Sprintf("%.1f ms", m[name]/1e6) }
	ratio := func(a, b string) string { return fmt.Sprintf("× %.2f (%s, %s)", m[a]/m[b], ms(a), ms(b)) }
	return []goal{
		{"terminal, 500 workers: a key and its frame, p95", "16 ms", ms("Key p95-ns")},
		{"terminal: the first screen of a diff of 20,000 lines, compared with one of 20", "× 10", ratio("Diff/first/20000 ns/op", "Diff/first/20 ns/op")},
		{"terminal, 20,000 lines: to the end", "100 ms", ms("Diff/end/20000 ns/op")},
		{"terminal, 20,000 lines: search for the last one", "100 ms", ms("Diff/search/20000 ns/op")},
		{"terminal, 20,000 lines: memory, in sizes of the patch", "10", fmt.Sprintf("%.1f", m["DiffMemory patches"])},
		{"browser: a review with a diff of 20,000 lines, compared with one of 200", "× 2",
			fmt.Sprintf("× %.2f (%.0f ms, %.0f ms)", m["BrowserDiff ratio"], m["BrowserDiff ms-of-20000"], m["BrowserDiff ms-of-200"])},
		{"browser, 20,000 lines: longest task while scrolling", "200 ms", fmt.Sprintf("%.0f ms", m["BrowserDiff ms-task-scroll"])},
		{"browser, 20,000 lines: longest task while it is unfolded", "", fmt.Sprintf("%.0f ms", m["BrowserDiff ms-task-unfold"])},
	}, nil
}

// metrics reads the output of go test -bench: each value by the name of its benchmark and its unit.
func metrics(text string) map[string]float64 {
	m := map[string]float64{}
	pair := regexp.MustCompile(`([0-9.e+]+) ([a-z][^\s]*)`)
	for line := range strings.Lines(text) {
		name, rest, found := strings.Cut(line, "\t")
		if name = strings.TrimSpace(name); !found || !strings.HasPrefix(name, "Benchmark") {
			continue
		}
		name = regexp.MustCompile(`-\d+$`).ReplaceAllString(strings.TrimPrefix(name, "Benchmark"), "")
		for _, p := range pair.FindAllStringSubmatch(rest, -1) {
			if v, err := strconv.ParseFloat(p[1], 64); err == nil {
				m[name+" "+p[2]] = v
			}
		}
	}
	return m
}

// eventGoals measure how long a question of a worker takes from its append to the screen, while others run.
func (o deskRun) eventGoals(ctx context.Context, dir, cordon string) (list []goal, err error) {
	repo := filepath.Join(dir, "host")
	if err := generate(ctx, repo, 100); err != nil {
		return nil, err
	}
	if err := o.start(ctx, cordon, repo); err != nil {
		return nil, err
	}
	s, err := session.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	defer o.stop(repo, cordon, s)
	for _, f := range []struct {
		what string
		open opener
	}{
		{"the desk in the terminal", openTerminal},
		{"the desk in the browser, as it is asked for", openServer},
		{"the desk in the browser, painted by Chromium", openBrowser},
	} {
		times, err := o.appear(ctx, s, cordon, repo, f.open)
		if err != nil {
			return list, fmt.Errorf("%s: %w", f.what, err)
		}
		list = append(list, goal{fmt.Sprintf("a question of a worker is on %s, %d workers running, p95 of %d", f.what, o.live, len(times)), "250 ms",
			fmt.Sprintf("%s; median %s", short(float64(centile(times, 95))), short(float64(centile(times, 50))))})
	}
	return list, nil
}

// start starts workers that run until they are stopped.
func (o deskRun) start(ctx context.Context, cordon, repo string) error {
	var wait sync.WaitGroup
	slots, failed := make(chan struct{}, 4), make(chan error, o.live)
	for range o.live {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			cmd := exec.CommandContext(ctx, cordon, "run", "--detach", "--no-merge", "--", "sleep", "3600")
			cmd.Dir = repo
			if out, err := cmd.CombinedOutput(); err != nil {
				failed <- fmt.Errorf("cordon run --detach: %w: %s", err, out)
			}
		})
	}
	wait.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// stop stops them.
func (o deskRun) stop(repo, cordon string, s *session.Session) {
	now, err := s.Ledger()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: workers may still run:", err)
		return
	}
	for _, w := range now.Workers {
		cmd := exec.Command(cordon, "stop", string(w.ID))
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s may still run: %v: %s\n", w.ID, err, out)
		}
	}
}

// face is a screen that is watched.
type face interface {
	// Watch begins to look for a text, and returns a function that waits until it is there and tells when it came.
	Watch(text string) func() (time.Time, error)
	Close()
}

// opener opens a desk of a repository.
type opener func(ctx context.Context, cordon, repo string) (face, error)

// appear has workers ask, one after the other, and measures how long each question takes to a screen. Each is answered before the
// next, so that there is one at a time.
func (o deskRun) appear(ctx context.Context, s *session.Session, cordon, repo string, open opener) (list []time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil { // of the browser
			err = fmt.Errorf("%v", p)
		}
	}()
	f, err := open(ctx, cordon, repo)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &past{taken: map[lease.ID]bool{}}
	if err := p.open(s); err != nil {
		return nil, err
	}
	now, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	for i := range o.rounds {
		w := now.Workers[i%len(now.Workers)]
		text := fmt.Sprintf("shall-i-%d-%d", time.Now().UnixNano()%1e6, i)
		seen := f.Watch(text)
		began := time.Now()
		if err := p.append(w.ID, ledger.Asked, ledger.Question{Text: text}); err != nil {
			return nil, err
		}
		at, err := seen()
		if err != nil {
			return nil, err
		}
		list = append(list, at.Sub(began))
		fresh, err := s.Ledger()
		if err != nil {
			return nil, err
		}
		asking, err := fresh.Find(string(w.ID))
		if err != nil {
			return nil, err
		}
		if err := p.append(w.ID, ledger.Answered, ledger.Answer{Question: len(asking.Questions), Text: "yes", Who: "bench"}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// centile is the n-th of a hundred.
func centile(times []time.Duration, n int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, len(sorted)*n/100)]
}
