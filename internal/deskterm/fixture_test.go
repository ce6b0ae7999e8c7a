package deskterm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"cordon/internal/decide"
	"cordon/internal/desk"
	"cordon/internal/view"
)

// sight is what a review was seen as.
const sight = "2.quarantined.0.5be1c0a9d2f41b7e.9f3ac1d2e4b5a6c7d8e9f0a1.c08ec06812ab4f5e.-"

// noon is when the desk of the tests is looked at.
var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

func init() { time.Local = time.UTC }

// fake is a source that says what a test wants. evil is added to every text that a worker chooses.
type fake struct {
	desk    Desk
	reviews map[string]*Review
	plans   []view.Plan
	journal Journal
	fleet   view.Fleet
	changes chan struct{}
	decided []decide.Decision
	noted   []string
	answer  error
	reads   func(ctx context.Context, worker string) // while a result is read
}

// acts keeps what was done.
func (f *fake) acts() Acts {
	return Acts{Decide: f.decide, Alert: func(view.Worker) string { return "\a" },
		Shell: func(worker string) Program {
			f.noted = append(f.noted, "a shell for "+worker)
			return nil
		},
		See: func(_ context.Context, worker, blob string, seen bool) error {
			f.noted = append(f.noted, fmt.Sprint(worker, " ", blob, " ", seen))
			return nil
		},
		Comment: func(_ context.Context, worker string, on Lines, text string) error {
			f.noted = append(f.noted, fmt.Sprintf("%s %+v %s", worker, on, text))
			return f.answer
		},
		Uncomment: func(_ context.Context, worker, id string) error {
			f.noted = append(f.noted, worker+" without "+id)
			return nil
		}}
}

// decide keeps what was decided.
func (f *fake) decide(_ context.Context, d decide.Decision) (string, error) {
	f.decided = append(f.decided, d)
	return "done", f.answer
}

func (f *fake) Desk(context.Context) (*Desk, error)              { d := f.desk; return &d, nil }
func (f *fake) Plans(context.Context) ([]view.Plan, error)       { return f.plans, nil }
func (f *fake) Journal(context.Context) (*Journal, error)        { j := f.journal; return &j, nil }
func (f *fake) Fleet(context.Context) (*view.Fleet, error)       { l := f.fleet; return &l, nil }
func (f *fake) Changes(context.Context) (<-chan struct{}, error) { return f.changes, nil }
func (f *fake) Verdict(_ context.Context, name string) (*Review, error) {
	r, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return &Review{Review: r.Review, Partial: true, Client: r.Client, Result: desk.Result{NoPatch: "It is being read."}}, nil
}

func (f *fake) Review(ctx context.Context, name string) (*Review, error) {
	if f.reads != nil {
		f.reads(ctx, name)
	}
	return f.find(name)
}

func (f *fake) find(name string) (*Review, error) {
	r, ok := f.reviews[name]
	if !ok {
		return nil, fmt.Errorf("no worker is called %q", name)
	}
	return r, nil
}

const patchText = `diff --git a/docs/guide.md b/docs/guide.md
index 1f0c11aa..98c00419 100644
--- a/docs/guide.md
+++ b/docs/guide.md
@@ -1,3 +1,4 @@ # Guide
 # Guide
 
 Run src/greet.sh.
+Call me.%s
diff --git a/src/greet.go b/src/greet.go
index 2b6f3d10..353b6f04 100644
--- a/src/greet.go
+++ b/src/greet.go
@@ -11,5 +11,8 @@ package greet
 // Greet says hello to name.
-func Greet(name string) string {
+func Greet(name string) (string, error) {
+	if name == "" {
+		name = "world"
+	}
-	return "hello, " + name
+	return "hello, " + name, nil
 }
`

// payments is a desk with a worker in each group; evil is part of every text of a worker's.
func payments(evil string) *fake {
	min := func(n int) time.Time { return noon.Add(-time.Duration(n) * time.Minute) }
	found := []view.Finding{
		{Path: "docs/guide.md", Kind: "modified", Class: "violation", Rule: "outside write_roots"},
		{Path: "src/greet.go", Kind: "modified", Class: "landing", Rule: `write_roots "src"`},
	}
	files, _ := desk.Files(fmt.Sprintf(patchText, evil), found)
	events := []view.Event{
		{Seq: 4182, Time: min(6), Worker: "famed-curlew", Type: "worker.quarantined", Data: json.RawMessage(`{"reasons":2}`), Hash: "f93306e3"},
		{Seq: 4181, Time: min(7), Worker: "famed-curlew", Type: "audit.done", Data: json.RawMessage(`{"landing":1}`), Hash: "c08ec068"},
	}
	if evil != "" {
		quoted, _ := json.Marshal(evil)
		events[0].Data = quoted
	}
	f := &fake{changes: make(chan struct{}, 1), reviews: map[string]*Review{}}
	f.desk = Desk{Repository: "payments", Branch: "main", Tip: "c08ec068", Journal: view.Verify{Events: 4182, Sound: true, Last: "f93306e3"}, Recent: events,
		Workers: []view.Worker{
			{ID: "curious-parrot", Status: "running", Group: view.NeedsYou, Since: min(8), Questions: []view.Question{{ID: "q1", Text: "capitals, or small letters?" + evil}}},
			{ID: "famed-curlew", Status: "quarantined", Group: view.NeedsYou, Since: min(6), Reason: "Quarantined: docs/guide.md: outside write_roots" + evil,
				Title: "Greet the world" + evil, Next: []string{"cordon quarantine show famed-curlew"}},
			{ID: "quiet-heron", Status: "conflict", Group: view.NeedsYou, Since: min(4), Reason: "Conflict: src/ledger/fold.go" + evil},
			{ID: "calm-mink", Status: "running", Group: view.AtWork, Since: min(2), Activity: "Edit src/retry.go" + evil},
			{ID: "sonic-marmot", Status: "running", Group: view.AtWork, Since: min(9), Silent: true, Activity: "2 processes alive"},
			{ID: "placid-albatross", Status: "merged", Group: view.Landed, Since: min(30), Title: "Add a farewell" + evil},
			{ID: "old-owl", Status: "merged", Group: view.Landed, Since: min(3000), Title: "of last week"},
		},
		Stages: []view.Attention{{Plan: "release", Stage: "sign", Need: "review", Why: "somebody has to look" + evil, Since: min(3), Next: "cordon plan review release sign approve"}},
	}
	f.desk.Machine = desk.Machine{Running: 2, Processors: 8, Load: 1.25, Memory: 11 << 30, MemoryTotal: 32 << 30, Disk: 3 << 29, DiskFree: 1 << 40, Cost: 6.12, Tokens: 1_400_000}
	f.plans = []view.Plan{{PlanSummary: view.PlanSummary{Plan: "release", State: "running", Done: 3, Total: 6, Opened: min(60)}, Critical: []string{"schema", "web", "tag"},
		Stages: []view.StageNow{
			{ID: "schema", State: "done", Worker: "calm-mink", Began: min(58), Since: min(50), Cost: 0.25, Tokens: 1200},
			{ID: "api", State: "done", After: []string{"schema"}, Worker: "placid-albatross", Since: min(30), Cost: 0.4},
			{ID: "cli", State: "done", After: []string{"schema"}, Worker: "old-owl", Since: min(40)},
			{ID: "docs", State: "running", After: []string{"api", "cli"}, Worker: "sonic-marmot", Since: min(9)},
			{ID: "web", State: "needs", Need: "violation", After: []string{"schema"}, Worker: "famed-curlew", Began: min(49), Since: min(6), Why: "outside its lease" + evil, Blocks: 1, Next: "cordon quarantine show famed-curlew"},
			{ID: "tag", State: "waiting", After: []string{"web"}, Why: "waits for web"},
		}}}
	f.desk.Plans = f.plans
	heard := noon.Add(-3 * time.Second)
	f.fleet = view.Fleet{Running: true, URL: "tls://build.example:4222" + evil, Nodes: []view.FleetNode{
		{Name: "big-box" + evil, State: "ready", Key: "UA5X7", Joined: min(90), Heard: &heard, Program: "v0.2.0" + evil, Holds: []string{"calm-mink"}, Returned: 7, Next: "cordon fleet drain big-box" + evil},
		{Name: "old-box", State: "draining", Key: "UB2K9", Joined: min(900), Returned: 3, Refused: 1, Next: "cordon fleet resume old-box"},
		{Name: "lost-box", State: "removed", Key: "UC3M1", Joined: min(2400)},
	}, Waiting: []view.FleetWaiting{
		{Worker: "sonic-marmot", Why: "no node can run it: big-box does not have the client codex; old-box does not have the client codex" + evil},
		{Worker: "solar-stork", Why: "it waits until 12:04:00: the provider anthropic is asked too often"},
	}}
	f.journal = Journal{Verify: f.desk.Journal, Events: events}
	for _, w := range f.desk.Workers {
		f.reviews[w.ID] = &Review{Review: view.Review{Worker: w.ID, Status: w.Status, Group: w.Group, Title: w.Title, Since: w.Since, Questions: w.Questions,
			Verdict: "Nothing is judged yet." + evil, Says: evil, Why: &view.Fact{Name: "why", State: view.FactNone, Text: "The result is not judged yet."}}, Result: desk.Result{NoPatch: "There is no worktree yet."}}
	}
	f.reviews["famed-curlew"] = &Review{Client: "some client 2.1", Cost: 0.41, Result: desk.Result{Files: files, Events: events, Transcript: "I tidy up.\nDone." + evil},
		Review: view.Review{Worker: "famed-curlew", Status: "quarantined", Group: view.NeedsYou, Title: "Greet the world" + evil, Says: evil, Since: min(6),
			Verdict: "One of two changes is outside its lease. Nothing of it is in main.",
			Facts: []view.Fact{{Name: "audit", State: view.FactBad, Text: "1 violation, 1 may land"}, {Name: "acceptance", State: view.FactNone, Text: "not run"},
				{Name: "cell", State: view.FactGood, Text: "held, 15 acts proven"}, {Name: "guard", State: view.FactNote, Text: "1 of 38 denied"},
				{Name: "network", State: view.FactNote, Text: "1 refused"}, {Name: "base", State: view.FactGood, Text: "up to date with main"}},
			Reasons: []view.Breach{{Cause: "lease", Path: view.Text("docs/guide.md" + evil), Kind: "modified", Rule: "outside write_roots", Evidence: "98c00419 instead of 353b6f04" + evil,
				Origin: view.Origin{Setting: "write_roots: [src]", Policy: "cordon.yaml:4 at c08ec068"}}},
			Changes: []view.Change{{Finding: found[0]}, {Finding: found[1], Inside: true, Lands: true},
				{Finding: view.Finding{Path: view.Text("/tmp/loot" + evil), Kind: "added", Class: "violation", Rule: "outside its tree"}}},
			Acceptance: []view.Acceptance{{Command: "go test ./...", Code: 1, Took: 2e9, Output: "FAIL" + evil + "\n"}},
			Guard:      &view.Guard{Calls: 38, Denied: 1},
			Denied:     []view.Decision{{Time: min(8), Tool: "Bash", Input: "cd /srv && git commit" + evil, Verdict: "deny", Reason: "not your worktree"}},
			Network:    &view.Tally{Allowed: 12, Refused: 1},
			Refused:    []view.Attempt{{Time: min(9), Name: "telemetry.example" + evil, Port: 443, Verdict: "refuse", Reason: "not in allowed_domains", Count: 12}},
			Digests:    view.Digests{Audit: "aa", Target: "refs/heads/main", Seen: sight},
			Choices: []view.Choice{
				{Name: view.ChooseInside, Command: "cordon merge --inside famed-curlew", Does: "Only the 1 change inside its lease goes on."},
				{Name: view.ChooseRelease, Command: "cordon quarantine release famed-curlew --write docs --reason …", Does: "The faults are waived.", Needs: []string{"reason"}, Roots: []view.Text{view.Text("docs/guide.md" + evil)}},
				{Name: view.ChooseBack, Command: `cordon resume famed-curlew -- "…"`, Does: "Another attempt begins.", Needs: []string{"comments"}},
				{Name: view.ChooseDiscard, Command: "cordon discard famed-curlew", Does: "The result goes to the trash."},
			}}}
	return f
}

// opened is a desk of a size, with everything read.
func opened(t testing.TB, f *fake, width, height int) *Model {
	t.Helper()
	m := New(context.Background(), f, f.acts(), func() time.Time { return noon })
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	feed(m, m.load())
	m.draw()
	return m
}

// feed runs a command and everything that comes of it, but nothing that waits.
func feed(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			feed(m, c)
		}
	case deskMsg, reviewMsg, plansMsg, journalMsg, fleetMsg, failedMsg, sentMsg:
		_, next := m.Update(msg)
		feed(m, next)
	}
}

// press types keys: names between spaces.
func press(m *Model, keys string) {
	for _, k := range strings.Fields(keys) {
		_, cmd := m.Update(keyOfName(k))
		feed(m, cmd)
		m.draw() // as a terminal does after every key
	}
}

func keyOfName(name string) tea.KeyPressMsg {
	for text, code := range map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "down": tea.KeyDown, "up": tea.KeyUp, "right": tea.KeyRight,
		"left": tea.KeyLeft, "backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown, "space": tea.KeySpace} {
		if name == text {
			return tea.KeyPressMsg{Code: code}
		}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// screen is what is on the screen, without colours.
func screen(m *Model) string { return ansi.Strip(m.Screen()) }
