package deskweb

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	patches "cordon/internal/desk"
	"cordon/internal/deskweb/screens"
	"cordon/internal/view"
)

// sample is a desk whose screens are always the same: pictures of it can be compared.
type sample struct {
	fake
	now   time.Time
	patch string
	say   func(string) string // changes every text that a worker chose

	mu      sync.Mutex
	decided []Decision
	noted   []Note
	refuses error // what the next decision is refused with
	fewer   bool  // somebody answered the question meanwhile
	still   bool  // for browsers without scripts
}

// Preview and Decide stand for package decide, which has tests of its own.
func (s *sample) Preview(d Decision) (string, error) {
	if d.Choice == view.ChooseRelease && d.Reason == "" {
		return "", &RefusalError{Code: 400, Text: "a release needs a reason: it goes into the journal"}
	}
	return "cordon " + d.Choice + " " + d.Worker + " " + strings.Join(d.Roots, " ") + " " + d.Reason, nil
}

func (s *sample) Decide(_ context.Context, d Decision) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuses != nil {
		return "", s.refuses
	}
	s.decided = append(s.decided, d)
	return d.Worker + " is merged.", nil
}

// Note stands for package remark: what is kept is on the next screen.
func (s *sample) Note(_ context.Context, n Note) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noted = append(s.noted, n)
	return "Kept: " + n.Do, nil
}

// notes are the notes so far.
func (s *sample) notes() []Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Note(nil), s.noted...)
}

// kept are the comments and the seen contents that came of the notes.
func (s *sample) kept() (list []view.Comment, seen []string) {
	for i, n := range s.notes() {
		switch n.Do {
		case NoteComment:
			list = append(list, view.Comment{ID: fmt.Sprintf("c%d", i+1), Path: view.Text(n.Path), Side: n.Side, Blob: n.Blob, From: n.From, To: n.To,
				Quote: []view.Text{view.Text(s.text("a line"))}, Text: s.text(n.Text), Who: "anna via web", Created: s.now})
		case NoteRemove:
			list = slices.DeleteFunc(list, func(c view.Comment) bool { return c.ID == n.Comment })
		case NoteSeen:
			seen = append(seen, n.Blob)
		case NoteUnseen:
			seen = slices.DeleteFunc(seen, func(b string) bool { return b == n.Blob })
		}
	}
	return list, seen
}

// taken are the decisions so far.
func (s *sample) taken() []Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Decision(nil), s.decided...)
}

// text is a text that a worker chose.
func (s *sample) text(t string) string {
	if s.say != nil {
		return s.say(t)
	}
	return t
}

func newSample() *sample {
	return &sample{fake: fake{make(chan struct{}, 1)}, now: time.Date(2026, 11, 17, 14, 9, 13, 0, time.Local), patch: samplePatch}
}

// sampleDesk serves the sample until the end of the test.
func sampleDesk(t testing.TB) (*Server, *sample) {
	t.Helper()
	source := newSample()
	return serving(t, source), source
}

const samplePatch = `diff --git a/docs/guide.md b/docs/guide.md
index 353b6f04..98c00419 100644
--- a/docs/guide.md
+++ b/docs/guide.md
@@ -3,1 +3,2 @@ # Guide
 Run src/greet.sh.
+Call me.` + "\u202e" + `
diff --git a/src/greet.go b/src/greet.go
index 2b6f3d10..be79321a 100644
--- a/src/greet.go
+++ b/src/greet.go
@@ -11,4 +11,7 @@ package greet
 // Greet says hello to name.
-func Greet(name string) string {
-	return "hello, " + name
+func Greet(name string) (string, error) {
+	if name == "" {
+		name = "world"
+	}
+	return "hello, " + name, nil
 }
`

func (s *sample) ago(d time.Duration) time.Time { return s.now.Add(-d) }

func (s *sample) worker(id, status, group, reason, title string, age time.Duration) view.Worker {
	return view.Worker{
		ID: id, Status: status, Group: group, Reason: s.text(reason), Title: s.text(title), Since: s.ago(age), LastSign: s.ago(age), Expires: s.now.Add(150 * time.Hour),
		Lease: "466b3d26f1a0", Target: "refs/heads/main", BaseShort: "c08ec068", WriteRoots: []string{"src"}, Source: "cordon.yaml at c08ec068",
		Next: []string{"cordon show --review " + id},
	}
}

// workers are those of the sample, one of each kind that an operator meets.
func (s *sample) workers() []view.Worker {
	ask := s.worker("curious-parrot", "running", view.NeedsYou, "asks", "Write the greeting", 2*time.Minute)
	ask.Questions = []view.Question{{ID: "q1", Text: s.text("Greet in capitals, or in small letters?"), Options: []string{"in capitals", "in small letters"}, Asked: s.ago(2 * time.Minute)}}
	held := s.worker("famed-curlew", "quarantined", view.NeedsYou, "docs/guide.md: outside write_roots",
		"Greet the world when nobody is named, and make greeting faster.", 6*time.Minute)
	held.Client = &view.Client{Name: "Claude Code", Wiring: &view.Wiring{Version: "2.1.325"}, Stream: &view.Summary{Calls: 38, Cost: 0.41}}
	held.Audit = &view.Audited{Verdict: "violations"}
	run := func(id, does string, age time.Duration) view.Worker {
		w := s.worker(id, "running", view.AtWork, "runs", "", age)
		w.Activity = does
		return w
	}
	silent := run("sonic-marmot", "silent for 9 min, 2 processes alive", 9*time.Minute)
	silent.Silent = true
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fewer {
		ask.Group, ask.Questions = view.AtWork, nil
	}
	return []view.Worker{
		ask, held,
		s.worker("quiet-heron", "conflict", view.NeedsYou, "conflict: src/ledger/fold.go with main", "Fold events once", 11*time.Minute),
		s.worker("brisk-otter", "quarantined", view.NeedsYou, "acceptance failed: go test ended with 1", "Retry with a pause", 38*time.Minute),
		run("calm-mink", "Edit src/retry.go", 12*time.Second), run("epic-caribou", "Bash go test ./internal/…", 40*time.Second),
		run("modest-puffin", "Read src/api/v2/handler.go", time.Minute), silent,
		s.worker("placid-albatross", "merged", view.Landed, "merged", "Name the default in the help text", 4*time.Minute),
		s.worker("chief-harrier", "merged", view.Landed, "merged", "Read the port from the environment", 22*time.Minute),
	}
}

func (s *sample) frame(screen string) screens.Frame {
	return screens.Frame{
		Screen: screen, Repository: "payments", Branch: "main", Tip: "c08ec068", Now: s.now, Workers: s.workers(),
		Journal: view.Verify{Events: 4182, Sound: true, Last: strings.Repeat("f93306e3", 8)}, Home: screen == "fleet" || s.still, ReadOnly: s.still, NoScript: s.still,
	}
}

func (s *sample) events() (list []view.Event) {
	for i, kind := range []string{"lease.sealed", "worker.started", "audit.done", "worker.quarantined"} {
		data, _ := json.Marshal(map[string]any{"note": s.text("event " + kind)})
		list = append(list, view.Event{Seq: uint64(4179 + i), Time: s.ago(10*time.Minute - time.Duration(i)*time.Minute), Worker: "famed-curlew", Type: kind, Data: view.Document(data)})
	}
	return list
}

func (s *sample) review() screens.Review {
	origin := view.Origin{Setting: "write_roots: [src]", Policy: "cordon.yaml:4 at c08ec068", Line: 4}
	breach := func(kind, evidence string) view.Breach {
		return view.Breach{Cause: "lease", What: "docs/guide.md: " + kind, Path: "docs/guide.md", Kind: kind, Rule: "outside write_roots", Evidence: s.text(evidence), Origin: origin}
	}
	c := view.Review{
		Worker: "famed-curlew", Status: "quarantined", Verdict: "2 of 5 changes are outside its lease. Nothing of it is in main.",
		Facts: []view.Fact{
			{Name: "audit", State: view.FactBad, Text: "2 violations, 3 may land"}, {Name: "acceptance", State: view.FactNone, Text: "not run"},
			{Name: "cell", State: view.FactGood, Text: "held, 15 acts proven"}, {Name: "guard", State: view.FactNote, Text: "1 of 38 denied"},
			{Name: "network", State: view.FactNote, Text: "12 allowed, 1 refused"}, {Name: "base", State: view.FactNote, Text: "2 commits behind main"},
		},
		Reasons: []view.Breach{breach("modified", "98c00419 instead of 353b6f04"), breach("in a commit", "in commit be79321abd on HEAD")},
		Changes: []view.Change{
			{Finding: view.Finding{Path: "docs/guide.md", Class: "violation", Rule: "outside write_roots"}, Shown: "docs/guide.md", Origin: origin},
			{Finding: view.Finding{Path: "src/greet.go", Class: "landing", Rule: `write_roots "src"`}, Shown: "src/greet.go", Lands: true, Inside: true, Origin: origin},
		},
		Guard:   &view.Guard{Calls: 38, Denied: 1},
		Denied:  []view.Decision{{Time: s.ago(7 * time.Minute), Tool: "Bash", Input: s.text(`cd /srv/payments && git commit -qam "Quick fix"`), Verdict: "deny", Reason: "that is the operator's repository, not your worktree"}},
		Network: &view.Tally{Allowed: 12, Refused: 1, Tried: []view.Tried{{Name: s.text("telemetry.example"), Port: 443, Verdict: "refuse", Count: 12, Reason: "not in network.allowed_domains"}}},
		Digests: view.Digests{Audit: "ada6ad534b11", Result: "ada6ad534b11", Target: "refs/heads/main", Lease: "466b3d26f1a0", Seen: "2.quarantined.0.466b3d26"},
		Choices: []view.Choice{
			{Name: view.ChooseInside, Does: "Only the 3 changes inside its lease go on; the others stay in the evidence.", Command: "cordon merge --inside famed-curlew"},
			{Name: view.ChooseRelease, Does: "The faults that the command names are waived, with your reason in the journal, and the stored result is judged again.",
				Command: `cordon quarantine release famed-curlew --write docs/guide.md --reason "…"`, Needs: []string{"reason"}},
			{Name: view.ChooseBack, Does: "Another attempt begins with what is there, your comments and what was wrong.", Command: `cordon resume famed-curlew --say "…"`, Needs: []string{"comments"}},
			{Name: view.ChooseDiscard, Does: "The result goes to the trash for 14 days; then cordon gc removes it.", Command: "cordon discard famed-curlew"},
		},
	}
	r := screens.Review{Frame: s.frame("worker"), Worker: s.workers()[1], Case: c}
	r.Events = s.events()
	r.Comments, r.Seen = s.kept()
	r.Files, r.Left = patches.Files(s.patch, []view.Finding{c.Changes[0].Finding, c.Changes[1].Finding})
	r.Steps = screens.Steps("I read the code first.\n→ Read  src/greet.go\n→ Bash  go test ./...\n✗ Bash  BLOCKED: that is the operator's repository\nDone.\n")
	for i := range r.Steps {
		r.Steps[i].Text = s.text(r.Steps[i].Text)
	}
	for i := range r.Files {
		for j := range r.Files[i].Rows {
			row := &r.Files[i].Rows[j]
			row.Was, row.Is = s.text(row.Was), s.text(row.Is)
		}
	}
	for i, key := range []string{"l", "r", "s", "D"} {
		form := screens.Form{Choice: c.Choices[i], Key: key}
		if key == "r" {
			form.Widen = []screens.Root{{Path: "docs/guide.md"}}
		}
		r.Forms = append(r.Forms, form)
	}
	return r
}

func (s *sample) plan() screens.Plan {
	stage := func(id, state, why string, after ...string) view.StageNow {
		return view.StageNow{ID: id, State: state, Why: s.text(why), After: after, Since: s.ago(12 * time.Minute), Cost: 0.4, Tokens: 61000}
	}
	p := view.Plan{Target: "main", Critical: []string{"schema", "web", "e2e", "tag"}, Stages: []view.StageNow{
		stage("schema", "done", ""), stage("api", "done", "", "schema"), stage("cli", "done", "", "schema"),
		stage("web", "needs", "docs/guide.md: outside write_roots", "schema"), stage("docs", "running", "", "api", "cli"),
		stage("e2e", "waiting", "waits for web", "api", "web"), stage("tag", "waiting", "waits for e2e", "e2e"),
	}}
	p.Stages[3].Worker, p.Stages[3].Blocks = "famed-curlew", 2
	p.Stages[0].Began, p.Stages[3].Began = s.ago(50*time.Minute), s.ago(12*time.Minute)
	p.PlanSummary = view.PlanSummary{Plan: "release-2.4", State: "running", Done: 3, Total: 7, Needs: 1, Opened: s.ago(time.Hour)}
	return screens.Plan{Frame: s.frame("plan"), Plan: p, Graph: screens.Draw(p)}
}

func (s *sample) fleet() screens.Fleet {
	heard := s.ago(3 * time.Second)
	return screens.Fleet{Frame: s.frame("fleet"), Fleet: view.Fleet{Running: true, URL: s.text("tls://build.example:4222"), Nodes: []view.FleetNode{
		{Name: s.text("big-box"), State: "ready", Key: "UA5X7", Joined: s.ago(90 * time.Minute), Heard: &heard, Program: s.text("v0.2.0"), Holds: []string{"calm-mink", "epic-caribou"}, Returned: 7, Next: s.text("cordon fleet drain big-box")},
		{Name: "old-box", State: "draining", Key: "UB2K9", Joined: s.ago(15 * time.Hour), Returned: 3, Refused: 1, Next: "cordon fleet resume old-box"},
		{Name: "lost-box", State: "removed", Key: "UC3M1", Joined: s.ago(40 * time.Hour)},
	}, Waiting: []view.FleetWaiting{
		{Worker: "solar-stork", Why: s.text("no node can run it: big-box does not have the client codex; old-box does not have the client codex")},
	}}}
}

// Screen writes a screen of the sample.
func (s *sample) Screen(_ context.Context, w io.Writer, path string, query url.Values) error {
	switch path {
	case "/":
		return screens.Write(w, screens.Desk{Frame: s.frame("desk")})
	case "/worker/famed-curlew":
		r := s.review()
		r.Whole = s.still || query.Get("rows") == "all"
		return screens.Write(w, r)
	case "/plan/release-2.4":
		return screens.Write(w, s.plan())
	case "/plan":
		return screens.Write(w, screens.Plans{Frame: s.frame("plan"), Plans: []view.PlanSummary{s.plan().Plan.PlanSummary}})
	case "/journal":
		return screens.Write(w, screens.Journal{Frame: s.frame("journal"), Events: s.events(), Total: 4, Worker: query.Get("worker")})
	}
	if path == "/fleet" {
		return screens.Write(w, s.fleet())
	}
	if strings.HasPrefix(path, "/worker/") {
		return screens.Write(w, screens.Review{Frame: s.frame("worker"), Worker: s.workers()[2], Case: view.Review{Verdict: "It conflicts with main."}})
	}
	return ErrNoScreen
}

// sampleScreens are the addresses of the screens.
var sampleScreens = map[string]string{"desk": "/", "review": "/worker/famed-curlew", "plan": "/plan/release-2.4", "journal": "/journal", "fleet": "/fleet"}
