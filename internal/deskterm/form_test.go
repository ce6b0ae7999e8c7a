package deskterm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/decide"
	"cordon/internal/fault"
	"cordon/internal/view"
)

// reviewing is a desk at the worker that is quarantined.
func reviewing(t *testing.T) (*Model, *fake) {
	f := payments("")
	m := opened(t, f, 120, 40)
	press(m, "j j")
	if m.wanted != "famed-curlew" {
		t.Fatal(m.wanted)
	}
	return m, f
}

// Only ctrl-s decides, and what is sent is the command that was shown.
func TestRelease(t *testing.T) {
	m, f := reviewing(t)
	press(m, "r")
	shown := screen(m)
	for _, want := range []string{"release famed-curlew", "The faults are waived.", "0 of 1 paths chosen", "[ ] docs/guide.md", "reason", "cordon quarantine release famed-curlew --reason=", "ctrl-s"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the form does not show %q:\n%s", want, shown)
		}
	}
	press(m, "ctrl+s")
	if len(f.decided) != 0 || m.form == nil || !strings.Contains(screen(m), "needs a reason") {
		t.Errorf("a release without a reason: %v\n%s", f.decided, screen(m))
	}
	press(m, "tab o k enter y esc")
	if len(f.decided) != 0 || m.form != nil {
		t.Errorf("decided without ctrl-s: %v", f.decided)
	}
	press(m, "r space o k")
	if shown := screen(m); !strings.Contains(shown, "1 of 1 paths chosen") || !strings.Contains(shown, "[x] docs/guide.md") || !strings.Contains(shown, "--write=docs/guide.md") {
		t.Errorf("the form does not show what is chosen:\n%s", shown)
	}
	press(m, "ctrl+s")
	want := decide.Decision{Worker: "famed-curlew", Choice: view.ChooseRelease, Seen: sight, Face: "tui", Reason: "ok", Roots: []string{"docs/guide.md"}}
	if len(f.decided) != 1 || decide.Line(decide.Command(f.decided[0])) != decide.Line(decide.Command(want)) || f.decided[0].Face != "tui" || m.form != nil {
		t.Errorf("%+v", f.decided)
	}
}

// A decision about something that has changed is refused, and the form shows what changed.
func TestStaleDecision(t *testing.T) {
	m, f := reviewing(t)
	f.answer = &fault.StaleError{What: "famed-curlew", Moved: []string{"anna decided at 14:03: discard"}}
	press(m, "D ctrl+s")
	if got := screen(m); len(f.decided) != 1 || m.form == nil || !strings.Contains(got, "is not as you saw it") || !strings.Contains(got, "anna decided at 14:03") {
		t.Errorf("%s", got)
	}
}

// A root that opens much is typed a second time.
func TestGraveRoot(t *testing.T) {
	m, f := reviewing(t)
	m.review.Choices[1].Roots = []view.Text{".envrc"}
	press(m, "r space")
	if got := screen(m); !strings.Contains(got, "type once more") {
		t.Fatalf("%s", got)
	}
	press(m, "tab o k ctrl+s")
	if len(f.decided) != 0 {
		t.Errorf("%+v", f.decided)
	}
	press(m, "up . e n v r c ctrl+s")
	if len(f.decided) != 1 || !slices.Equal(f.decided[0].Roots, []string{".envrc"}) {
		t.Errorf("%+v", f.decided)
	}
}

// No path is chosen that was not on the screen: a long list is chosen path by path, and the count and the path of the cursor stay in sight.
func TestManyRoots(t *testing.T) {
	f := payments("")
	m := opened(t, f, 80, 24)
	press(m, "j j")
	var roots []view.Text
	for i := range 40 {
		roots = append(roots, view.Text(fmt.Sprintf("docs/translated chapter-of-the-long-manual-%d.md", i+1)))
	}
	roots = append(roots, "docs/a\u202eb/"+view.Text(strings.Repeat("long-", 20))+"install.sh")
	m.review.Choices[1].Roots, m.review.Choices[1].Accepts = roots, []string{"--accept-host"}
	press(m, "r")
	for i := range roots {
		shown := screen(m)
		for _, want := range []string{fmt.Sprintf("%d of 41 paths chosen", i), "▌ [ ] docs/", "--accept-host", "ctrl-s", "release famed-curlew"} {
			if !strings.Contains(shown, want) {
				t.Fatalf("at path %d the form does not show %q:\n%s", i+1, want, shown)
			}
		}
		if last := i == len(roots)-1; last != strings.Contains(shown, "install.sh") {
			t.Fatalf("path %d:\n%s", i+1, shown)
		}
		press(m, "space")
	}
	press(m, "space o k ctrl+s")
	if len(f.decided) != 1 || len(f.decided[0].Roots) != 41 || f.decided[0].Roots[40] != string(roots[40]) {
		t.Errorf("%+v", f.decided)
	}
}

// A bare number answers with the option that has it; other words are sent as they are.
func TestAnswerByNumber(t *testing.T) {
	for typed, c := range map[string]struct {
		options []string
		sent    string
	}{
		"1": {[]string{"red", "blue"}, "red"}, "2": {[]string{"red", "blue"}, "blue"}, "3": {[]string{"red", "blue"}, "3"}, "4": {nil, "4"},
		"r e d": {[]string{"red", "blue"}, "red"}, "0 1": {[]string{"red"}, "01"}, "7": {[]string{"8", "7"}, "7"},
	} {
		f := payments("")
		m := opened(t, f, 80, 24)
		press(m, "j")
		m.review.Questions[0].Options = c.options
		m.review.Choices, m.review.Digests.Seen = []view.Choice{{Name: view.ChooseAnswer, Needs: []string{"answer"}}}, sight
		press(m, "a "+typed)
		if shown := screen(m); c.sent == "red" && typed == "1" && (!strings.Contains(shown, "sends “red”") || !strings.Contains(shown, "q1 red")) {
			t.Errorf("the form does not show what is sent:\n%s", shown)
		}
		press(m, "ctrl+s")
		if len(f.decided) != 1 || f.decided[0].Text != c.sent {
			t.Errorf("%s of %q: %+v", typed, c.options, f.decided)
		}
	}
}

// No key decides by itself: every key of every screen, pressed twice, sends nothing.
func TestNoKeyDecides(t *testing.T) {
	for _, before := range []string{"", "enter", "p", "J"} {
		for _, b := range bindings() {
			for _, k := range b.keys {
				m, f := reviewing(t)
				press(m, before)
				if k == "space" {
					continue
				}
				press(m, k+" "+k)
				press(m, "enter enter y")
				if len(f.decided) > 0 {
					t.Errorf("%s after %q decided %+v", k, before, f.decided)
				}
			}
		}
	}
}

// x gives the terminal to a shell for the worker, and what it says is read again afterwards.
func TestShell(t *testing.T) {
	m, f := reviewing(t)
	press(m, "x")
	if len(f.noted) != 1 || f.noted[0] != "a shell for famed-curlew" {
		t.Errorf("%v", f.noted)
	}
	f.desk.Workers = f.desk.Workers[:1]
	_, cmd := m.Update(visitedMsg{worker: "famed-curlew"})
	feed(m, cmd)
	if len(m.desk.Workers) != 1 || !strings.Contains(screen(m), "the visit to famed-curlew has ended") {
		t.Errorf("%s", screen(m))
	}
}

// A worker that comes to need the operator rings once, and none that was there before.
func TestTell(t *testing.T) {
	f := payments("")
	m := opened(t, f, 80, 24)
	ring := func() bool { return m.tell() != nil }
	if ring() {
		t.Error("it rings for those that were there")
	}
	f.desk.Workers[3].Group, f.desk.Workers[3].Status = view.NeedsYou, "failed"
	m.desk = &f.desk
	if !ring() || ring() {
		t.Error("it does not ring once")
	}
	if !strings.HasPrefix(m.title(), "(5)") {
		t.Error(m.title())
	}
}

// A comment is about the lines of the cursor, is kept with the content that was shown, and goes along when the result is sent back.
func TestComment(t *testing.T) {
	m, f := reviewing(t)
	press(m, "enter ] ] j j c")
	if got := screen(m); !strings.Contains(got, "cordon comments add famed-curlew src/greet.go:11 ") {
		t.Fatalf("%s", got)
	}
	press(m, "ctrl+s")
	if len(f.noted) != 0 || !strings.Contains(screen(m), "needs a text") {
		t.Errorf("%v", f.noted)
	}
	press(m, "W h y ? up - 1 2 ctrl+s")
	if want := "famed-curlew {Path:src/greet.go Side:new Blob:353b6f04 From:11 To:12} Why?"; len(f.noted) != 1 || f.noted[0] != want || m.form != nil {
		t.Fatalf("%v", f.noted)
	}
	r := *f.reviews["famed-curlew"]
	r.Comments = []view.Comment{{ID: "c1", Path: "src/greet.go", Side: view.SideNew, From: 12, To: 12, Text: "Why an error?"},
		{ID: "c2", Path: "src/greet.go", Side: view.SideOld, From: 12, To: 12, Text: "Keep this.", Sent: &noon}, {ID: "c3", Path: "gone.go", Text: "Old.", Outdated: true}}
	f.reviews["famed-curlew"] = &r
	feed(m, m.loadReview())
	press(m, "2")
	for _, want := range []string{"you, not sent: Why an error?", "you, sent: Keep this.", "earlier content of gone.go"} {
		if got := screen(m); !strings.Contains(got, want) {
			t.Errorf("no %q:\n%s", want, got)
		}
	}
	for range 40 {
		if m.shown().rows[m.pager.at].comment == "c2" {
			break
		}
		press(m, "j")
	}
	press(m, "X")
	if got := screen(m); !strings.Contains(got, "cordon comments rm famed-curlew c2") || !strings.Contains(got, "was sent it") {
		t.Errorf("%s", got)
	}
	press(m, "ctrl+s")
	if len(f.noted) != 2 || f.noted[1] != "famed-curlew without c2" {
		t.Errorf("%v", f.noted)
	}
	press(m, "s ctrl+s")
	if len(f.decided) != 1 || !f.decided[0].Comments {
		t.Errorf("%+v", f.decided)
	}
}

// A result that takes long to read delays neither its own verdict nor the review of another worker, and is read once at a time.
func TestSlowResult(t *testing.T) {
	f := payments("")
	begun, left := 0, make(chan string, 9)
	f.reads = func(ctx context.Context, worker string) {
		if worker == "famed-curlew" {
			begun++
			<-ctx.Done()
			left <- worker
		}
	}
	m := opened(t, f, 120, 40)
	press(m, "j")
	_, verdict := m.Update(keyOfName("j"))
	_, rest := m.Update(verdict())
	if got := screen(m); m.wanted != "famed-curlew" || !strings.Contains(got, "One of two changes is outside its lease") || !m.review.Partial {
		t.Fatalf("the verdict is not there before the result:\n%s", got)
	}
	if m.loadReview() != nil {
		t.Error("it is read twice at once")
	}
	press(m, "s")
	if m.form != nil || !strings.Contains(m.note, "comments") {
		t.Error("it can be sent back before the comments on it were read")
	}
	told := make(chan tea.Msg)
	go func() { told <- rest() }()
	_, next := m.Update(keyOfName("j"))
	if got := <-left; got != "famed-curlew" {
		t.Error(got)
	}
	if msg := <-told; msg != nil {
		t.Errorf("a review that nobody waits for comes as %+v", msg)
	}
	feed(m, next)
	if got := screen(m); m.review == nil || m.review.Worker != "quiet-heron" || m.review.Partial || m.failure != nil || begun != 1 {
		t.Errorf("the other review is not there, or the first was read %d times:\n%s", begun, got)
	}
}
