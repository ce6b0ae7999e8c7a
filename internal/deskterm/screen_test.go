package deskterm

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"cordon/internal/view"
)

var update = flag.Bool("update", false, "write the golden screens")

// golden compares a screen with the one that is kept.
func golden(t *testing.T, name, got string) {
	t.Helper()
	var lines []string
	for _, l := range strings.Split(got, "\n") {
		lines = append(lines, strings.TrimRight(l, " "))
	}
	got = strings.Join(lines, "\n") + "\n"
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not as it is kept (go test -update writes it):\n%s", name, got)
	}
}

// The screens at both sizes. Every line fills the terminal and no more.
func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 50}} {
		for _, c := range []struct{ name, keys string }{
			{"desk", ""}, {"review", "j j enter"}, {"changes", "j j enter 2"}, {"plan", "p j j j j"}, {"stages", "p j j j j |"}, {"journal", "J"}, {"help", "?"}, {"form", "j j r"}, {"comment", "j j enter ] j j c"},
			{"range", "j j enter ] ] j j V j j"}, {"fleet", "F j"}, {"filter", "/ h e r o n"}, {"dead", "j j m"},
		} {
			name := fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				f := payments("")
				f.desk.Home = c.name == "fleet"
				m := opened(t, f, size[0], size[1])
				press(m, c.keys)
				got := screen(m)
				lines := strings.Split(got, "\n")
				if len(lines) != size[1] {
					t.Errorf("%d lines", len(lines))
				}
				for i, l := range lines {
					if w := ansi.StringWidth(l); w != size[0] {
						t.Errorf("line %d has %d columns: %q", i+1, w, l)
					}
				}
				golden(t, name, got)
			})
		}
	}
}

// The screen in docs/desk.md is the one that the desk draws.
func TestDocumentedScreen(t *testing.T) {
	const file, mark = "../../docs/desk.md", "<!-- made by go test ./internal/deskterm -update -->\n```\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), mark)
	old, after, closed := strings.Cut(after, "```\n")
	if !found || !closed {
		t.Fatal("docs/desk.md has no place for the screen")
	}
	f := payments("")
	f.desk.Stages = nil
	m := opened(t, f, 80, 24)
	press(m, "j")
	var shown strings.Builder
	for _, l := range strings.Split(screen(m), "\n") {
		shown.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	switch {
	case *update:
		if err := os.WriteFile(file, []byte(before+mark+shown.String()+"```\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case old != shown.String():
		t.Errorf("docs/desk.md shows another screen (go test -update writes it):\n%s", shown.String())
	}
}

// A terminal that is too small says what the desk needs, and a larger one shows where the operator was.
func TestResize(t *testing.T) {
	m := opened(t, payments(""), 80, 24)
	press(m, "j j enter 2")
	before := screen(m)
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 15})
	if got := screen(m); !strings.Contains(got, "needs 72 columns and 18 rows") || len(strings.Split(got, "\n")) > 15 {
		t.Errorf("%s", got)
	}
	press(m, "j D") // nothing happens to what nobody sees
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
	screen(m)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if got := screen(m); got != before {
		t.Errorf("after resizing:\n%s\nbefore:\n%s", got, before)
	}
}

// hostile are texts that act on a terminal or hide.
var hostile = []string{
	"\x1b[2J", "\x1b[1A\x1b[2K", "\x1b]0;title\a", "\x1b]52;c;ZXZpbA==\a", "\x1b]8;;http://evil\x1b\\x", "\x1b[6n", "\x1b[5n", "\x1bc", "\x1bP1$r\x1b\\", "\x1b_x\x1b\\",
	"\x1b^x\x1b\\", "\x1b[8m", "\x1b[?1049l", "\x1b[?25l", "\x1b(0", "\x1b#8", "\x1b[3J", "\x1b[1000D", "\x1b[999B", "\x1bM", "\u009b2J", "\u009d0;x\u009c", "\u0090x\u009c",
	"\u0085", "\x9b2J", "\r", "\rEVIL", "\b\b\bEVIL", "\a", "\x00", "\x7f", "\x0b\x0c", "\x0e\x0f", "\n", "a\nb", "\t\t", "\u202e", "\u2066x\u2069", "\u200b\u200d", "\u2028\u2029",
	"\ufeff", "\U000e0041", "\xff\xfe", "e\u0301\u0302\u0303\u0304\u0305", strings.Repeat("A", 1<<20), strings.Repeat("日本", 300), "⚠\ufe0f👩‍👩‍👧", "\u3164", "\x1b[31m", "\x18\x1a",
}

// Whatever a worker writes, the screen holds no control but our own colours, every line has its width, and
// rows that have nothing of the worker's stay as they are.
func TestHostileText(t *testing.T) {
	if len(hostile) < 40 {
		t.Fatal(len(hostile))
	}
	for _, size := range [][2]int{{80, 24}, {160, 50}} {
		for _, keys := range []string{"", "j j enter", "j j enter 2", "j j enter 4", "j j enter 6", "p j", "J", "j j r", "/ m i n k", "G", "F"} {
			calm := opened(t, payments(""), size[0], size[1])
			press(calm, keys)
			neighbours := untouched(screen(calm))
			for _, evil := range hostile {
				f := payments(evil)
				f.desk.Home = keys == "F"
				m := opened(t, f, size[0], size[1])
				press(m, keys)
				raw := m.Screen()
				for _, r := range ansi.Strip(raw) {
					if r != '\n' && !unicode.IsPrint(r) && r != '\ufe0f' {
						t.Fatalf("%.40q on %v after %q: %U is on the screen", evil, size, keys, r)
					}
				}
				if rest := ours(raw); strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
					t.Fatalf("%.40q on %v after %q: a control that is not ours", evil, size, keys)
				}
				if title := m.View().WindowTitle; strings.ContainsFunc(title, unicode.IsControl) {
					t.Errorf("%q", title)
				}
				lines := strings.Split(ansi.Strip(raw), "\n")
				if len(lines) != size[1] {
					t.Fatalf("%.40q on %v after %q: %d lines", evil, size, keys, len(lines))
				}
				if keys == "" || keys == "G" {
					for i, want := range neighbours {
						if want != "" && lines[i] != want {
							t.Errorf("%.40q on %v: line %d became %q", evil, size, i+1, lines[i])
						}
					}
				}
			}
		}
	}
}

// untouched are the lines of the list that have nothing of a worker's, by their number.
func untouched(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !strings.Contains(l, "sonic-marmot") && !strings.Contains(l, "NEEDS YOU") && i > 1 {
			lines[i] = ""
		}
	}
	if len([]rune(lines[2])) > 80 { // beside the list is text of a worker's
		return nil
	}
	return lines
}

// ours takes the sequences out that choose colours.
func ours(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.TrimLeft(after, "0123456789;:")
		if !strings.HasPrefix(end, "m") {
			return b.String() + "\x1b"
		}
		s = end[1:]
	}
}

// allChoices are the names of everything that can be decided.
var allChoices = []string{view.ChooseAnswer, view.ChooseMerge, view.ChooseInside, view.ChooseWait, view.ChooseRelease, view.ChooseBack, view.ChooseResume,
	view.ChooseRetry, view.ChooseStop, view.ChooseDiscard}

// Every state has a row with a sign, a word and a reason. TestParity of cmd/cordon compares what real workers in every state offer.
func TestEveryStateHasARow(t *testing.T) {
	for _, s := range view.States() {
		f := payments("")
		f.desk.Workers = []view.Worker{{ID: "brisk-otter", Status: s.Word, Group: view.NeedsYou, Since: noon, Reason: "because of this"}}
		f.desk.Stages = nil
		f.reviews["brisk-otter"] = &Review{Review: view.Review{Worker: "brisk-otter", Status: s.Word}}
		got := screen(opened(t, f, 80, 24))
		if !strings.Contains(got, "brisk-otter") || !strings.Contains(got, s.Word) || !strings.Contains(got, "because of this") || strings.Contains(got, "! brisk-otter") {
			t.Errorf("%s has no row:\n%s", s.Word, got)
		}
	}
}

// The key of a choice opens its form if the review offers it, and says why not if it does not.
func TestEveryChoiceOpensItsForm(t *testing.T) {
	for _, name := range allChoices {
		f := payments("")
		f.desk.Workers, f.desk.Stages = []view.Worker{{ID: "brisk-otter", Status: "review", Group: view.NeedsYou, Since: noon}}, nil
		offered := view.Review{Worker: "brisk-otter", Status: "review", Questions: []view.Question{{ID: "q1", Text: "left?"}}, Choices: []view.Choice{{Name: name, Does: "it does"}}}
		f.reviews["brisk-otter"] = &Review{Review: offered}
		m := opened(t, f, 80, 24)
		for _, other := range allChoices {
			press(m, keyOf(view.Choice{Name: other}))
			if opens := m.form != nil; opens != (other == name) || opens && m.form.choice.Name != name {
				t.Errorf("%s is offered; the key of %s opens a form: %v", name, other, opens)
			}
			m.form = nil
		}
	}
}

// Every choice of a review has a key of its own, and no key of a choice does anything else.
func TestChoicesHaveKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range allChoices {
		k := keyOf(view.Choice{Name: name})
		if k == ":" || seen[k] {
			t.Errorf("%s has the key %q", name, k)
		}
		seen[k] = true
	}
	for _, p := range []place{onDesk, onReview, onPlan, onJournal, onFleet} {
		used := map[string]string{}
		for _, b := range bindings() {
			for _, k := range b.keys {
				m := &Model{place: p}
				if other, twice := used[k]; twice && m.reaches(b) && k != "ctrl+c" {
					t.Errorf("on %s, %s is %q and %q", p, k, other, b.help)
				} else if m.reaches(b) {
					used[k] = b.help
				}
			}
		}
	}
}

// Keys on a real model: search, jumps, seen marks, side by side, folding, the next that needs you.
func TestKeys(t *testing.T) {
	m := opened(t, payments(""), 120, 30)
	press(m, "j j enter ]")
	if m.review.Files[m.file()-1].Name != "docs/guide.md" {
		t.Fatalf("] went to %d", m.file())
	}
	press(m, "v")
	if f := m.source.(*fake); strings.Join(f.noted, ", ") != "famed-curlew 98c00419 true" || len(m.seen) != 1 || m.review.Files[m.file()-1].Name != "src/greet.go" {
		t.Errorf("v: %v, at file %d", m.seen, m.file())
	}
	m.review.Files[0].New = "other"
	if m.isSeen(m.review.Files[0]) {
		t.Error("a file that has changed is still seen")
	}
	press(m, "}")
	if !m.shown().rows[m.pager.at].hunk {
		t.Error("} went to no hunk")
	}
	press(m, "g / w o r l d enter")
	if !m.shown().contains(m.pager.at, "world") {
		t.Errorf("/ went to row %d", m.pager.at)
	}
	at := m.pager.at
	press(m, "n")
	if m.pager.at == at || !m.shown().contains(m.pager.at, "world") {
		t.Error("n did not go on")
	}
	wide := m.shown().wide
	press(m, "|")
	if m.shown().wide == wide {
		t.Error("| did not turn it")
	}
	press(m, "esc n")
	if m.wanted != "quiet-heron" || m.place != onReview {
		t.Errorf("n went to %s", m.wanted)
	}
	press(m, "esc : c a l m enter")
	if m.wanted != "calm-mink" {
		t.Errorf(": went to %s", m.wanted)
	}
	press(m, "esc z")
	if !strings.Contains(m.note, "does nothing") {
		t.Errorf("a dead key said %q", m.note)
	}
}

// A long name is whole as long as the reasons keep some room, and what the preview leaves over shows more of the list.
func TestListTakesRoom(t *testing.T) {
	f := payments("")
	f.desk.Stages = nil
	f.desk.Workers[2].ID = "extraordinarily-quiet-heron"
	m := opened(t, f, 80, 24)
	if got := screen(m); !strings.Contains(got, "extraordinarily-quiet-heron conflict") || !strings.Contains(got, "src/ledger/fold.go") {
		t.Errorf("a long name:\n%s", got)
	}
	f.desk.Workers[2].ID = strings.Repeat("long-", 20) + "heron"
	if got := screen(opened(t, f, 80, 24)); !strings.Contains(got, "src/ledger/fold") {
		t.Errorf("a name that does not fit leaves no reason:\n%s", got)
	}
	f = payments("")
	for i := range 12 {
		f.desk.Workers = append(f.desk.Workers, view.Worker{ID: fmt.Sprintf("calm-mink-%d", i), Status: "running", Group: view.AtWork, Since: noon})
	}
	m = opened(t, f, 80, 40) // the first row is a stage, of which there is little to say
	if got := screen(m); !strings.Contains(got, "placid-albatross") || !strings.Contains(got, "opens the plan") {
		t.Errorf("a short preview:\n%s", got)
	}
	press(m, "j j")
	if got := screen(m); strings.Contains(got, "placid-albatross") || !strings.Contains(got, " more") {
		t.Errorf("a long preview:\n%s", got)
	}
}

// A node that was removed is not to be drained or resumed, and the screen says why stages wait for a node.
func TestRemovedNode(t *testing.T) {
	f := payments("")
	f.desk.Home = true
	m := opened(t, f, 80, 24)
	press(m, "F")
	if text := screen(m); !strings.Contains(text, "cordon fleet drain big-box") || !strings.Contains(text, "the provider anthropic is asked") {
		t.Errorf("the first node:\n%s", text)
	}
	press(m, "j j y")
	if text := screen(m); !strings.Contains(text, "lost-box") || strings.Contains(text, "cordon fleet ") || !strings.Contains(text, "the node was removed") {
		t.Errorf("the removed node:\n%s", text)
	}
	f.fleet.Nodes, f.fleet.Waiting = nil, nil
	for i := range 40 {
		f.fleet.Waiting = append(f.fleet.Waiting, view.FleetWaiting{Worker: fmt.Sprintf("worker-%d", i), Why: "no node is ready"})
	}
	m = opened(t, f, 80, 24)
	press(m, "F")
	if text := screen(m); !strings.Contains(text, "worker-1 ") || !strings.Contains(text, " more: cordon fleet ls lists all") {
		t.Errorf("many stages that wait:\n%s", text)
	}
}
