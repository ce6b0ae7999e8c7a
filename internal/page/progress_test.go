package page

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/present"
)

var update = flag.Bool("update", false, "write the golden files")

// running is a plan of n stages: one needs a person, four run, half are done.
func running(n int, now time.Time) present.Progress {
	v := present.Progress{
		Plan: "isolation", Total: n, Opened: now.Add(-95 * time.Minute), Cost: 12.345, Rest: 40 * time.Minute,
		Next:  `cordon answer witty-swan "…", then cordon plan run isolation`,
		Lines: []string{"stage-1 start: clever-wolf may change src/a", "old", "stage-2 done: rosy-lobster", "clever-wolf audit: 1 file", "clever-wolf accept: 2 commands"},
	}
	for i := range n {
		s := present.StageLine{ID: fmt.Sprintf("stage-%d", i), State: "waiting", Doing: "waits for stage-3"}
		switch {
		case i == 0:
			s.State, s.Worker, s.Since, s.Doing = "needs", "witty-swan", now.Add(-3*time.Minute), "Which word is for a goodbye?\nmore"
		case i < 5:
			s.State, s.Worker, s.Since, s.Doing = "running", "clever-wolf", now.Add(-time.Duration(i)*time.Minute), "Bash go test ./internal/... -run 'TestOne|TestOther' \x1b[31m-count=1"
			v.Chain = append(v.Chain, s.ID)
		case i >= n/2:
			s.State, s.Worker, s.Doing, s.Since, s.Took = "done", "rosy-lobster", "", now.Add(-time.Hour), time.Duration(i)*time.Second
			v.Done++
		default:
			v.Chain = append(v.Chain, s.ID)
		}
		v.Stages = append(v.Stages, s)
	}
	return v
}

// A plan fits the screen, whatever its size, and nothing of a worker acts on the terminal.
func TestProgress(t *testing.T) {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	plain := func(s string) string { return s }
	for _, n := range []int{12, 200} {
		got := strings.Join(Progress(running(n, now), now, 80, 24, plain), "\n") + "\n"
		file := filepath.Join("testdata", fmt.Sprintf("progress_%d.golden", n))
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s differs (go test ./internal/page -update writes it): %v\n%s", file, err, got)
		}
	}
	for _, n := range []int{0, 1, 12, 200} {
		for _, size := range [][2]int{{20, 6}, {40, 10}, {80, 24}, {77, 33}, {300, 100}} {
			lines := Progress(running(n, now), now, size[0], size[1], plain)
			if len(lines) > size[1] {
				t.Errorf("%d stages take %d of %d rows", n, len(lines), size[1])
			}
			for _, l := range lines {
				if len([]rune(l)) > size[0] || strings.ContainsAny(l, "\x1b\n") {
					t.Errorf("%d stages in %d columns: %q", n, size[0], l)
				}
			}
		}
	}
}
