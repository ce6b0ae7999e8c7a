package deskterm

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/desk"
	"cordon/internal/legible"
	"cordon/internal/view"
)

// place is a screen.
type place string

const (
	onDesk    place = "desk"
	onReview  place = "review"
	onPlan    place = "plan"
	onJournal place = "journal"
	onFleet   place = "fleet"
)

// Model is the desk: what was read last, and where the operator is. Update and View are its only doors.
type Model struct {
	ctx    context.Context
	source Source
	acts   Acts
	clock  func() time.Time

	width, height int
	palette       palette
	focused       bool            // the operator looks at this terminal
	told          map[string]bool // who needed them when it was read last; nil: it was not

	desk     *Desk
	failure  error // of the last reading
	loading  bool
	again    bool // something changed while it was read
	place    place
	note     string // what was said last, at the foot
	all      bool   // workers of earlier days too
	filter   string
	cursor   string // the chosen row of the desk
	listTop  int
	listRoom int   // lines that the list had above the last preview
	pane     bool  // keys move the preview
	sideways *bool // the operator's word on side by side; nil: as wide as the terminal is

	review *Review // of the chosen worker
	wanted string  // its name
	asked  asked   // the reading of a review that is under way
	pager  pager
	open   map[string]bool // unfolded files
	seen   map[string]bool // contents that were marked as seen
	marks  int             // how often that has changed
	doc    *document
	docFor docKey
	found  string // what was searched for

	plans   []view.Plan
	planAt  int
	stageAt int
	asList  bool // stages as a list, not as a graph
	journal *Journal
	rowAt   int // of the journal
	fleet   *view.Fleet
	nodeAt  int

	prompt *prompt
	help   *help
	form   *form
}

// pager is how far a document was read.
type pager struct {
	top, left int
	at        int // the row of the cursor
	begun     int // the row at which a range begins, from 1; 0: there is none
	room      int // how many rows were drawn last
}

// asked is a reading of a review.
type asked struct {
	worker string // empty: none is under way
	stale  bool   // something may have changed since it began
	giveUp context.CancelFunc
}

// docKey says what a document was made of.
type docKey struct {
	review *Review
	width  int
	wide   bool
	marks  int
}

// New is a desk.
func New(ctx context.Context, source Source, acts Acts, clock func() time.Time) *Model {
	return &Model{
		ctx: ctx, source: source, acts: acts, clock: clock, focused: true, palette: palette{dark: true}, place: onDesk,
		open: map[string]bool{}, seen: map[string]bool{},
	}
}

// The messages of the desk.
type (
	deskMsg    struct{ desk *Desk }
	reviewMsg  struct{ review *Review }
	plansMsg   struct{ plans []view.Plan }
	journalMsg struct{ journal *Journal }
	fleetMsg   struct{ fleet *view.Fleet }
	failedMsg  struct {
		what string
		err  error
	}
	changedMsg struct{ more <-chan struct{} }
	tickMsg    time.Time
)

// tick is how often ages are brought up to date; freshen is how many of them until what workers do now is
// read again, which no event tells.
const (
	tick    = time.Second
	freshen = 5
)

// Init reads what there is, and begins to follow the journal.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.load(), m.follow(), nextTick(), tea.RequestBackgroundColor)
}

func nextTick() tea.Cmd { return tea.Tick(tick, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// ask reads something outside of the goroutine that draws.
func ask[T any](m *Model, what string, read func(context.Context) (T, error), wrap func(T) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		got, err := read(m.ctx)
		if err != nil {
			return failedMsg{what, err}
		}
		return wrap(got)
	}
}

// load reads the desk, once at a time.
func (m *Model) load() tea.Cmd {
	if m.loading {
		m.again = true
		return nil
	}
	m.loading = true
	cmds := []tea.Cmd{ask(m, "the desk", m.source.Desk, func(d *Desk) tea.Msg { return deskMsg{d} })}
	switch m.place {
	case onPlan:
		cmds = append(cmds, m.loadPlans())
	case onJournal:
		cmds = append(cmds, m.loadJournal())
	case onFleet:
		cmds = append(cmds, m.loadFleet())
	}
	return tea.Batch(append(cmds, m.loadReview())...)
}

func (m *Model) loadPlans() tea.Cmd {
	return ask(m, "the plans", m.source.Plans, func(p []view.Plan) tea.Msg { return plansMsg{p} })
}

func (m *Model) loadJournal() tea.Cmd {
	return ask(m, "the journal", m.source.Journal, func(j *Journal) tea.Msg { return journalMsg{j} })
}

// loadReview reads the chosen worker, the verdict first if nothing of it is on the screen. One review is read at a time:
// that of another worker is given up, however large its result is.
func (m *Model) loadReview() tea.Cmd {
	name := m.wanted
	if name != "" && name == m.asked.worker {
		m.asked.stale = true
		return nil
	}
	if m.asked.giveUp != nil {
		m.asked.giveUp()
	}
	if m.asked = (asked{}); name == "" {
		return nil
	}
	ctx, giveUp := context.WithCancel(m.ctx)
	m.asked = asked{worker: name, giveUp: giveUp}
	read := m.source.Review
	if m.review == nil {
		read = m.source.Verdict
	}
	return func() tea.Msg {
		r, err := read(ctx, name)
		switch {
		case ctx.Err() != nil: // nobody waits for it
			return nil
		case err != nil:
			return failedMsg{name, err}
		}
		return reviewMsg{r}
	}
}

// follow waits for the journal.
func (m *Model) follow() tea.Cmd {
	return func() tea.Msg {
		changes, err := m.source.Changes(m.ctx)
		if err != nil {
			return failedMsg{"the journal", err}
		}
		return waitFor(m.ctx, changes)()
	}
}

// pause is how long the desk leaves the journal alone after a change: events come in groups, and the first of them is shown at once.
const pause = 100 * time.Millisecond

func waitFor(ctx context.Context, changes <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-changes:
			if !ok {
				return nil
			}
		}
		return changedMsg{changes}
	}
}

// waitOn is waitFor after a pause.
func waitOn(ctx context.Context, changes <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		time.Sleep(pause)
		return waitFor(ctx, changes)()
	}
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.palette.dark = msg.IsDark()
	case tea.FocusMsg:
		m.focused = true
	case tea.BlurMsg:
		m.focused = false
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseClickMsg:
		return m, m.click(msg.Mouse())
	case tea.MouseMotionMsg:
		m.drag(msg.Mouse())
	case tea.MouseWheelMsg:
		m.wheel(msg.Mouse())
	case tickMsg:
		if time.Time(msg).Unix()%freshen == 0 {
			return m, tea.Batch(nextTick(), m.load())
		}
		return m, nextTick()
	case changedMsg:
		return m, tea.Batch(m.load(), waitOn(m.ctx, msg.more))
	default:
		return m, m.read(msg)
	}
	return m, nil
}

// read takes over what was read.
func (m *Model) read(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case deskMsg:
		first := m.desk == nil
		m.desk, m.failure, m.loading = msg.desk, nil, false
		cmd := tea.Batch(m.choose(), m.tell())
		if first { // a window that changed its size before the desk listened told nobody
			cmd = tea.Batch(cmd, tea.RequestWindowSize)
		}
		if m.again {
			m.again = false
			return tea.Batch(cmd, m.load())
		}
		return cmd
	case reviewMsg:
		if msg.review.Worker != m.wanted {
			return nil
		}
		m.review = msg.review
		clear(m.seen)
		for _, blob := range msg.review.Seen {
			m.seen[blob] = true
		}
		m.asked.worker = ""
		if msg.review.Partial || m.asked.stale {
			return m.loadReview()
		}
	case plansMsg:
		m.plans = msg.plans
	case journalMsg:
		m.journal = msg.journal
	case fleetMsg:
		m.fleet = msg.fleet
	case sentMsg:
		return m.sent(msg)
	case visitedMsg:
		return m.visited(msg)
	case failedMsg:
		m.failure, m.loading = fmt.Errorf("%s: %w", msg.what, msg.err), false
		if msg.what == m.asked.worker {
			m.asked.worker = ""
		}
	}
	return nil
}

// tell rings for each worker that needs the operator since the last reading, once. Those that were there when
// the desk was opened are on the screen, and so is the one that the operator looks at.
func (m *Model) tell() tea.Cmd {
	now, sound := map[string]bool{}, ""
	for _, w := range m.desk.of(view.NeedsYou) {
		key := w.ID + " " + desk.State(w)
		now[key] = true
		if m.told != nil && !m.told[key] && !(m.focused && m.wanted == w.ID) {
			sound += m.acts.Alert(w)
		}
	}
	m.told = now
	if sound == "" {
		return nil
	}
	return tea.Raw(sound)
}

// choose keeps a row chosen that is there, and reads its worker if that is another than before.
func (m *Model) choose() tea.Cmd {
	items := m.items()
	if len(items) == 0 {
		m.cursor = ""
		return nil
	}
	at := m.at(items)
	m.cursor = items[at].key()
	name := items[at].name()
	if name == m.wanted || m.place == onReview || name == "" {
		return nil
	}
	return m.want(name)
}

// want makes a worker the one that is shown.
func (m *Model) want(name string) tea.Cmd {
	m.wanted, m.review, m.pager, m.found = name, nil, pager{}, ""
	return m.loadReview()
}

// at is the place of the chosen row in a list.
func (m *Model) at(items []item) int {
	for i, it := range items {
		if it.key() == m.cursor {
			return i
		}
	}
	return 0 // its row is gone: the first needs a person most
}

// View draws everything.
func (m *Model) View() tea.View {
	v := tea.NewView(m.Screen())
	v.AltScreen, v.MouseMode, v.ReportFocus = true, tea.MouseModeCellMotion, true
	v.WindowTitle = m.title()
	return v
}

// title is that of the terminal's window: how many need the operator.
func (m *Model) title() string {
	if m.desk == nil {
		return "cordon"
	}
	text := "cordon · " + m.desk.Repository
	if n := m.desk.needs(); n > 0 {
		text = fmt.Sprintf("(%d) %s", n, text)
	}
	return legible.Line(text)
}

// Screen is the screen as text with colours.
func (m *Model) Screen() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	c := m.draw()
	out := make([]string, len(c.lines))
	for i, l := range c.lines {
		out[i] = m.palette.paint(l.fit(m.width, look{}))
	}
	return strings.Join(out, "\n")
}

// needs is how many workers and stages wait for a person.
func (d *Desk) needs() int { return len(d.of(view.NeedsYou)) + len(d.loose()) }

// of are the workers of a group in their order. They are put in order once, since every key asks for them.
func (d *Desk) of(group string) []view.Worker {
	if d.ordered == nil {
		d.ordered = map[string][]view.Worker{}
		for _, w := range d.Workers {
			d.ordered[w.Group] = append(d.ordered[w.Group], w)
		}
		for name, list := range d.ordered {
			desk.Order(list, name == view.NeedsYou)
		}
	}
	return d.ordered[group]
}

// loose are the stages that need a person and have no worker that does.
func (d *Desk) loose() (list []view.Attention) {
	waits := map[string]bool{}
	for _, w := range d.of(view.NeedsYou) {
		waits[w.ID] = true
	}
	for _, s := range d.Stages {
		if !waits[s.Worker] {
			list = append(list, s)
		}
	}
	return list
}
