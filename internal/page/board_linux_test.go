package page

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"cordon/internal/view"
)

// shownAt is a board on a terminal of so many columns, without its colours.
func shownAt(t *testing.T, columns uint16, workers []view.Worker, now time.Time) []string {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	outer, inner, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	if err := pty.Setsize(outer, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	Page{Out: inner, Err: os.Stderr}.Board(workers, false, now)
	inner.Close()
	text, _ := io.ReadAll(outer) // it ends with an error when nobody has the inner side
	return strings.Split(strings.TrimRight(strings.ReplaceAll(string(text), "\r", ""), "\n"), "\n")
}

func someWorkers(now time.Time) []view.Worker {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	return []view.Worker{
		{ID: "placid-albatross", Status: "merged", Group: view.Landed, Since: ago(time.Minute), Title: "Greet in capitals", Reason: "Merged into main as d26809d8eb."},
		{ID: "old-owl", Status: "merged", Group: view.Landed, Since: ago(72 * time.Hour), Title: "Long ago", Reason: "Merged into main as 1234567890."},
		{ID: "calm-mink", Status: "running", Group: view.AtWork, Since: ago(time.Hour), LastSign: ago(12 * time.Second), Title: "Port the client to the new API, all of it, also the parts that nobody likes", Activity: "Edit src/retry.go"},
		{ID: "sonic-marmot", Status: "running", Group: view.AtWork, Silent: true, Since: ago(time.Hour), LastSign: ago(9 * time.Minute), Title: "Hang"},
		{ID: "famed-curlew", Status: "quarantined", Group: view.NeedsYou, Since: ago(6 * time.Minute), Title: "Greet the world when nobody is named, and make greeting faster",
			Reason: "Quarantined: file docs/guide.md (modified): outside write_roots (and 1 more).", Next: []string{"cordon quarantine show famed-curlew", "cordon discard famed-curlew"}},
		{ID: "curious-parrot", Status: "running", Group: view.NeedsYou, Since: ago(20 * time.Minute), LastSign: now, Title: "Choose the letters", Reason: "The command runs.",
			Questions: []view.Question{{ID: "q1", Text: "capitals, or\nsmall \u202eletters?"}}, Next: []string{`cordon answer curious-parrot "…"`}},
	}
}

// At 80 columns nothing is cut: what does not fit goes below. The order is: who waits for an
// answer, who else needs a person, who runs, what landed today.
func TestBoardNarrow(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	lines := shownAt(t, 80, someWorkers(now), now)
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	text := strings.Join(lines, "\n")
	if strings.ContainsAny(text, "\u202e\x1b") {
		t.Errorf("a worker's characters act: %q", text)
	}
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"NEEDS YOU STATE AGE TASK curious-parrot asks 20m Choose the letters capitals, or",
		`cordon answer curious-parrot "…" famed-curlew quarantined 6m Greet the world when nobody is named, and make greeting faster file docs/guide.md (modified): outside write_roots (and 1 more). cordon quarantine show famed-curlew RUNNING`,
		"RUNNING STATE HEARD TASK", "silent 9m Hang", "calm-mink running 12s Port the client to the new API", "Edit src/retry.go",
		"LANDED TODAY STATE AGE TASK", "placid-albatross merged 1m Greet in capitals", "into main as d26809d8eb.",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "old-owl") {
		t.Errorf("what landed before today is shown:\n%s", text)
	}
}

// Where there is room, every worker is one line.
func TestBoardWide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	var out bytes.Buffer
	if hidden := (Page{Out: &out, Err: os.Stderr}).Board(someWorkers(now), false, now); hidden != 1 {
		t.Errorf("%d are hidden", hidden)
	}
	if n := strings.Count(out.String(), "\n"); n != 5+3+2 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
	out.Reset()
	if hidden := (Page{Out: &out, Err: os.Stderr}).Board(someWorkers(now), true, now); hidden != 0 || !strings.Contains(out.String(), "EARLIER") {
		t.Errorf("%d are hidden:\n%s", hidden, out.String())
	}
}
