package deskterm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/view"
)

// binding is a key and what it does.
type binding struct {
	keys  []string
	label string // for the foot; empty: only the help has it
	help  string
	on    []place // empty: everywhere
	do    func(*Model) tea.Cmd
	dead  func(*Model) string // why it does nothing now; empty: it does
}

// sign is a key as it is written.
func (b binding) sign() string {
	k := b.keys[0]
	switch k {
	case "enter":
		return "⏎"
	case "tab":
		return "⇥"
	}
	return k
}

// choiceKeys are the keys of the decisions. Each opens a form; none decides.
var choiceKeys = [...]struct{ key, choice string }{
	{"a", view.ChooseAnswer}, {"m", view.ChooseMerge}, {"l", view.ChooseInside}, {"w", view.ChooseWait}, {"r", view.ChooseRelease}, {"s", view.ChooseBack},
	{"R", view.ChooseResume}, {"t", view.ChooseRetry}, {"S", view.ChooseStop}, {"D", view.ChooseDiscard},
}

// keyOf is the key of a choice.
func keyOf(c view.Choice) string {
	for _, k := range choiceKeys {
		if k.choice == c.Name {
			return k.key
		}
	}
	return ":"
}

// bindings are all keys, in the order of the foot and of the help.
func bindings() []binding {
	list := []binding{
		{keys: []string{"enter"}, label: "review", help: "open the review of the chosen worker, or the plan of the chosen stage", on: []place{onDesk}, do: (*Model).enter},
		{keys: []string{"esc", "q", "backspace"}, label: "desk", help: "go back to the desk", on: []place{onReview, onPlan, onJournal, onFleet}, do: (*Model).back},
	}
	for _, k := range choiceKeys {
		list = append(list, binding{keys: []string{k.key}, label: k.choice, help: "open the form: " + k.choice, on: []place{onDesk, onReview},
			do: func(m *Model) tea.Cmd { return m.choice(k.choice) }, dead: func(m *Model) string { return m.undecidable(k.choice) }})
	}
	list = append(list, binding{keys: []string{"x"}, label: "shell", help: "a shell in the worker's cell, as cordon shell opens it; the desk comes back when it ends",
		on: []place{onDesk, onReview}, do: (*Model).shell, dead: noWorker})
	list = append(list, movement()...)
	list = append(list, reviewKeys()...)
	list = append(list, planKeys()...)
	return append(list,
		binding{keys: []string{"/"}, label: "find", help: "filter the desk or the journal; search in a review", on: []place{onDesk, onReview, onJournal}, do: (*Model).find},
		binding{keys: []string{":"}, help: "go to a worker or a screen by its name", do: (*Model).command},
		binding{keys: []string{"n"}, label: "next", help: "the next place where the text was found, else the next worker that needs you", do: (*Model).next},
		binding{keys: []string{"N"}, help: "the place before where the text was found", on: []place{onReview}, do: func(m *Model) tea.Cmd { return m.search(-1) }, dead: notSearched},
		binding{keys: []string{"y"}, label: "copy", help: "copy the usual command for this worker or node", on: []place{onDesk, onReview, onFleet}, do: (*Model).copy, dead: nothingToCopy},
		binding{keys: []string{"d"}, help: "the desk", do: func(m *Model) tea.Cmd { return m.visit(onDesk) }},
		binding{keys: []string{"p"}, label: "plan", help: "the plans", do: func(m *Model) tea.Cmd { return m.visit(onPlan) }},
		binding{keys: []string{"J"}, label: "journal", help: "the journal, verified anew", do: func(m *Model) tea.Cmd { return m.visit(onJournal) }},
		binding{keys: []string{"F"}, label: "fleet", help: "the nodes of the fleet", do: func(m *Model) tea.Cmd { return m.visit(onFleet) }, dead: noFleet},
		binding{keys: []string{"A"}, help: "show or hide workers of earlier days", on: []place{onDesk}, do: func(m *Model) tea.Cmd { m.all = !m.all; return m.choose() }},
		binding{keys: []string{"?"}, label: "help", help: "all keys; type to search", do: func(m *Model) tea.Cmd { m.help = &help{}; return nil }},
		binding{keys: []string{"esc"}, help: "show all workers again", on: []place{onDesk}, do: func(m *Model) tea.Cmd { m.filter = ""; return m.choose() }},
		binding{keys: []string{"q", "ctrl+c"}, label: "quit", help: "close the desk; it stops no worker", on: []place{onDesk}, do: func(*Model) tea.Cmd { return tea.Quit }},
		binding{keys: []string{"ctrl+c"}, help: "close the desk; it stops no worker", do: func(*Model) tea.Cmd { return tea.Quit }},
	)
}

// far is beyond every end.
const far = 1 << 20

// movement are the keys that go up and down.
func movement() []binding {
	by := func(n func(*Model) int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.move(n(m)) } }
	return []binding{
		{keys: []string{"j", "down"}, help: "down", do: by(func(*Model) int { return 1 })},
		{keys: []string{"k", "up"}, help: "up", do: by(func(*Model) int { return -1 })},
		{keys: []string{"space", "pgdown", "ctrl+f"}, help: "a page down", do: by(func(m *Model) int { return m.pageSize() })},
		{keys: []string{"b", "pgup", "ctrl+b"}, help: "a page up", do: by(func(m *Model) int { return -m.pageSize() })},
		{keys: []string{"g", "home"}, help: "the beginning", do: by(func(*Model) int { return -far })},
		{keys: []string{"G", "end"}, help: "the end", do: by(func(*Model) int { return far })},
		{keys: []string{"tab"}, help: "move between the list and the preview", on: []place{onDesk}, do: func(m *Model) tea.Cmd { m.pane = !m.pane; return nil }, dead: noWorker},
	}
}

// reviewKeys are those of a review.
func reviewKeys() []binding {
	at := []place{onReview, onDesk}
	list := []binding{
		{keys: []string{"]"}, label: "file", help: "the next file", on: at, do: func(m *Model) tea.Cmd { return m.jump(1, isHead) }, dead: noReview},
		{keys: []string{"["}, help: "the file before", on: at, do: func(m *Model) tea.Cmd { return m.jump(-1, isHead) }, dead: noReview},
		{keys: []string{"}"}, label: "hunk", help: "the next hunk", on: at, do: func(m *Model) tea.Cmd { return m.jump(1, isHunk) }, dead: noReview},
		{keys: []string{"{"}, help: "the hunk before", on: at, do: func(m *Model) tea.Cmd { return m.jump(-1, isHunk) }, dead: noReview},
		{keys: []string{"v"}, label: "seen", help: "mark the file of the cursor as seen, or not; a file that changes is unseen again", on: at, do: (*Model).see, dead: noFile},
		{keys: []string{"c"}, label: "comment", help: "comment on the line of the cursor, or on the range; comments are sent when you send the result back", on: at, do: (*Model).comment, dead: noLine},
		{keys: []string{"V"}, label: "range", help: "begin a range of lines at the cursor, or end it", on: at, do: (*Model).rangeFrom, dead: noLine},
		{keys: []string{"X", "delete"}, label: "remove comment", help: "remove the comment at the cursor", on: at, do: (*Model).uncomment, dead: noComment},
		{keys: []string{"enter"}, help: "fold or unfold the file of the cursor", on: []place{onReview}, do: (*Model).fold, dead: noFile},
		{keys: []string{"|"}, label: "side by side", help: "show the patch side by side, or not", on: at, do: (*Model).turn, dead: noReview},
		{keys: []string{"left"}, help: "scroll the patch to the left", on: at, do: func(m *Model) tea.Cmd { m.pager.left = max(0, m.pager.left-shift); return nil }},
		{keys: []string{"right"}, help: "scroll the patch to the right", on: at, do: func(m *Model) tea.Cmd { m.pager.left += shift; return nil }},
	}
	for i, name := range []string{partWhy, partChanges, partAcceptance, partGuard, partNetwork, partTranscript, partJournal} {
		list = append(list, binding{keys: []string{fmt.Sprint(i + 1)}, help: "the section: " + name, on: at,
			do: func(m *Model) tea.Cmd { return m.toSection(i) }, dead: noReview})
	}
	return list
}

// planKeys are those of a plan.
func planKeys() []binding {
	at := []place{onPlan}
	return []binding{
		{keys: []string{"enter"}, label: "review", help: "open the review of the stage's worker", on: at, do: (*Model).openStage, dead: noStageWorker},
		{keys: []string{"left"}, help: "the stage that this one waits for", on: at, do: func(m *Model) tea.Cmd { return m.along(true) }},
		{keys: []string{"right"}, help: "the stage that waits for this one", on: at, do: func(m *Model) tea.Cmd { return m.along(false) }},
		{keys: []string{"|"}, label: "list or graph", help: "show the stages as a list, or as a graph", on: at, do: func(m *Model) tea.Cmd { m.asList = !m.asList; return nil }},
	}
}

// shift is how far a patch is scrolled sideways.
const shift = 16

func isHead(r row) bool { return r.head }
func isHunk(r row) bool { return r.hunk }

func noWorker(m *Model) string {
	if m.wanted == "" {
		return "no worker is chosen"
	}
	return ""
}

func noReview(m *Model) string {
	if why := noWorker(m); why != "" {
		return why
	}
	if m.review == nil || m.review.Worker != m.wanted {
		return m.wanted + " is being read"
	}
	return ""
}

func noFile(m *Model) string {
	why := noReview(m)
	switch {
	case why != "":
		return why
	case !m.reads():
		return "⇥ moves to the review first, ⏎ opens it"
	case m.file() == 0:
		return "the cursor is in no file: ] goes to the next one"
	}
	return ""
}

func noLine(m *Model) string {
	if why := noFile(m); why != "" {
		return why
	}
	if m.lines().From == 0 {
		return "the cursor is on no line of the file: j goes down"
	}
	return ""
}

func noComment(m *Model) string {
	if d := m.shown(); d == nil || !m.reads() || m.pager.at >= len(d.rows) || d.rows[m.pager.at].comment == "" {
		return "the cursor is on no comment"
	}
	return ""
}

func notSearched(m *Model) string {
	if m.found == "" {
		return "nothing was searched for: / searches"
	}
	return ""
}

// readingKeys are the labels of the keys that move in a patch and note something about it.
var readingKeys = []string{"file", "hunk", "seen", "comment", "range", "remove comment", "side by side"}

func (m *Model) footRank(b binding) int {
	if b.keys[0] == "esc" || slices.Contains(readingKeys, b.label) {
		return 0
	}
	return 1
}

// footKeys are the bindings that the foot names.
func (m *Model) footKeys() (list []binding) {
	for _, b := range bindings() {
		if b.label == "" || !m.reaches(b) || b.dead != nil && b.dead(m) != "" {
			continue
		}
		if m.place == onDesk && !m.pane && slices.Contains(readingKeys, b.label) {
			continue // they work, and the foot is short
		}
		list = append(list, b)
	}
	if m.reads() && m.file() > 0 { // whoever reads a file decides later
		slices.SortStableFunc(list, func(a, b binding) int { return cmp.Compare(m.footRank(a), m.footRank(b)) })
	}
	return list
}

// reaches reports whether a key belongs to the screen.
func (m *Model) reaches(b binding) bool { return len(b.on) == 0 || slices.Contains(b.on, m.place) }

// key takes a key.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	m.note = ""
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.form != nil:
		return m.formKey(k)
	case m.prompt != nil:
		return m.promptKey(k)
	case m.help != nil:
		return m.helpKey(k)
	case m.width < leastWidth || m.height < leastHeight:
		if name == "q" {
			return tea.Quit
		}
		return nil
	}
	for _, b := range bindings() {
		if slices.Contains(b.keys, name) && m.reaches(b) {
			return m.press(b)
		}
	}
	m.note = m.useless(name)
	return nil
}

// press does what a key does, or says why it does not.
func (m *Model) press(b binding) tea.Cmd {
	if b.dead != nil {
		if why := b.dead(m); why != "" {
			m.note = b.sign() + ": " + why
			return nil
		}
	}
	return b.do(m)
}

// useless says where a key works that does nothing here.
func (m *Model) useless(name string) string {
	for _, b := range bindings() {
		if slices.Contains(b.keys, name) {
			where := []string{}
			for _, p := range b.on {
				where = append(where, string(p))
			}
			return fmt.Sprintf("%s works on the screen: %s (%s)", name, strings.Join(where, ", "), b.help)
		}
	}
	return name + " does nothing here; ? lists the keys"
}

// nothingToCopy says why there is no command.
func nothingToCopy(m *Model) string {
	switch {
	case m.place != onFleet:
		return noWorker(m)
	case m.fleet == nil || m.nodeAt >= len(m.fleet.Nodes):
		return "no node is chosen"
	case m.fleet.Nodes[m.nodeAt].Next == "":
		return "the node was removed: there is nothing to decide about it"
	}
	return ""
}

// copy copies the usual command.
func (m *Model) copy() tea.Cmd {
	if m.place == onFleet {
		command := m.fleet.Nodes[m.nodeAt].Next
		m.note = "copied: " + command
		return tea.SetClipboard(command)
	}
	for _, w := range m.desk.Workers {
		if w.ID == m.wanted && len(w.Next) > 0 {
			m.note = "copied: " + w.Next[0]
			return tea.SetClipboard(w.Next[0])
		}
	}
	m.note = "there is nothing to decide about " + m.wanted
	return nil
}
