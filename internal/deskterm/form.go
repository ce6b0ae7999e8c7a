package deskterm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/decide"
	"cordon/internal/fault"
	"cordon/internal/legible"
	"cordon/internal/view"
)

// form is one decision before it is made: what will happen, what a person adds, and the command that does it.
// Opening it decides nothing; only ctrl-s sends it.
type form struct {
	choice   view.Choice
	decision decide.Decision // as far as it does not come from the fields
	fields   []field
	at       int
	options  []string // of the question that an answer is about
	boxes    []box    // paths that a release may add to the lease
	box      int      // the one of the cursor
	boxTop   int      // the first one in sight
	sending  bool
	said     []string  // what came of it, or what is missing
	lines    *Lines    // what a comment is about; nil: it is a decision
	blobs    [2]string // contents of that file: what was, what is
	removes  string    // the comment that is removed; empty: none
}

// field is a line that is typed.
type field struct{ name, hint, text string }

// The names of fields.
const (
	fieldAnswer = "answer"
	fieldRoots  = "roots"
	fieldAgain  = "again"
	fieldReason = "reason"
	fieldText   = "comments"
	fieldLines  = "lines"
)

// offered finds a choice of the shown worker.
func (m *Model) offered(name string) (view.Choice, bool) {
	if m.review != nil && m.review.Worker == m.wanted {
		for _, c := range m.review.Choices {
			if c.Name == name {
				return c, true
			}
		}
	}
	return view.Choice{}, false
}

// undecidable says why a decision is not there to be made.
func (m *Model) undecidable(name string) string {
	if why := noReview(m); why != "" {
		return why
	}
	_, ok := m.offered(name)
	switch {
	case ok && name == view.ChooseBack && m.review.Partial:
		return "your comments on " + m.wanted + " are being read"
	case ok:
		return ""
	}
	var can []string
	for _, c := range m.review.Choices {
		can = append(can, keyOf(c)+" "+c.Name)
	}
	if len(can) == 0 {
		return m.wanted + " is " + m.review.Status + ": there is nothing to decide"
	}
	return m.wanted + " is " + m.review.Status + ": you can " + strings.Join(can, ", ")
}

// choice opens the form of a decision.
func (m *Model) choice(name string) tea.Cmd {
	c, _ := m.offered(name)
	r := m.review
	f := &form{choice: c, decision: decide.Decision{Worker: r.Worker, Choice: name, Seen: r.Digests.Seen, Face: "tui"}}
	switch name {
	case view.ChooseAnswer:
		if len(r.Questions) > 0 {
			f.decision.Question = r.Questions[0].ID
			f.options = r.Questions[0].Options
			f.fields = []field{{fieldAnswer, r.Questions[0].Text + options(f.options), ""}}
		}
	case view.ChooseRelease:
		f.decision.Accepts = c.Accepts
		if f.boxes = boxesOf(c.Roots); len(f.boxes) > 0 {
			f.fields = append(f.fields, field{name: fieldRoots})
		}
		f.fields = append(f.fields, field{fieldReason, "goes into the journal", ""})
	case view.ChooseBack:
		n := m.unsent()
		f.decision.Comments = n > 0
		f.fields = []field{{fieldText, "goes to the worker, with " + counted(n, "comment") + " on lines", ""}}
	case view.ChooseDiscard:
		f.fields = []field{{fieldReason, "goes into the journal; may be empty", ""}}
	}
	m.form = f
	return nil
}

func options(list []string) (text string) {
	for i, o := range list {
		text += fmt.Sprintf("  %d %s", i+1, o)
	}
	return text
}

// meant is what an answer says: a bare number is the option that has it, unless an option has these words.
func (f *form) meant(text string) string {
	for i, o := range f.options {
		if text == strconv.Itoa(i+1) && !slices.Contains(f.options, text) {
			return o
		}
	}
	return text
}

// decided is the decision with what was typed.
func (f *form) decided() decide.Decision {
	d := f.decision
	for _, x := range f.fields {
		text := strings.TrimSpace(x.text)
		switch x.name {
		case fieldAnswer, fieldText:
			d.Text = f.meant(text)
		case fieldReason:
			d.Reason = text
		case fieldRoots:
			d.Roots = f.chosen()
		case fieldAgain:
			d.Repeated = append(strings.Fields(text), text)
			for _, root := range d.Roots { // a name may have spaces
				if strings.Contains(" "+text+" ", " "+root+" ") {
					d.Repeated = append(d.Repeated, root)
				}
			}
		}
	}
	return d
}

// command is the command that does the same.
func (f *form) command() string {
	switch {
	case f.lines != nil:
		return f.commentCommand()
	case f.removes != "":
		return decide.Line([]string{"cordon", "comments", "rm", f.decision.Worker, f.removes})
	}
	return decide.Line(decide.Command(f.decided()))
}

// grave keeps a field for the roots that have to be typed a second time, as long as there are some.
func (f *form) grave() {
	var names []string
	for _, root := range f.decided().Roots {
		if why := decide.MustRepeat(root); why != "" {
			names = append(names, root+" "+why)
		}
	}
	at := slices.IndexFunc(f.fields, func(x field) bool { return x.name == fieldAgain })
	switch {
	case len(names) > 0 && at < 0:
		f.fields = slices.Insert(f.fields, 1, field{name: fieldAgain})
		if f.at > 0 {
			f.at++
		}
		at = 1
	case len(names) == 0 && at >= 0:
		f.fields = slices.Delete(f.fields, at, at+1)
		if f.at >= at {
			f.at--
		}
		return
	}
	if at >= 0 {
		f.fields[at].hint = "type once more: " + strings.Join(names, "; ")
	}
}

// sentMsg is what came of a decision.
type sentMsg struct {
	decision decide.Decision
	outcome  string
	err      error
}

// formKey takes a key while a form is open.
func (m *Model) formKey(k tea.KeyPressMsg) tea.Cmd {
	f := m.form
	name := k.String()
	switch {
	case name == "esc":
		m.form = nil
	case f.sending:
	case name == "ctrl+s":
		return m.send()
	case name == "ctrl+y", name == "y" && len(f.fields) == 0:
		f.said = []string{"copied"}
		return tea.SetClipboard(f.command())
	case len(f.fields) == 0:
	case f.onBoxes() && f.boxKey(name):
	case name == "tab", name == "down", name == "enter":
		f.at = (f.at + 1) % len(f.fields)
	case name == "shift+tab", name == "up":
		f.at = (f.at + len(f.fields) - 1) % len(f.fields)
	case f.onBoxes():
	default:
		f.fields[f.at].text = typed(f.fields[f.at].text, k)
		f.said = nil
		f.grave()
	}
	return nil
}

// paste puts a text into the field.
func (f *form) paste(text string) {
	if len(f.fields) > 0 && !f.onBoxes() && !f.sending {
		f.fields[f.at].text += legible.PlainLine(text)
		f.grave()
	}
}

// send carries the decision out, if it is complete.
func (m *Model) send() tea.Cmd {
	f := m.form
	switch {
	case f.lines != nil:
		return m.sendComment()
	case f.removes != "":
		return m.sendRemoval()
	}
	d := f.decided()
	if err := decide.Check(d); err != nil {
		f.said = []string{err.Error()}
		return nil
	}
	f.sending, f.said = true, nil
	return func() tea.Msg {
		outcome, err := m.acts.Decide(context.WithoutCancel(m.ctx), d)
		return sentMsg{d, outcome, err}
	}
}

// sent shows what came of a decision. One that was refused because something changed shows the difference, and
// the review is read again.
func (m *Model) sent(msg sentMsg) tea.Cmd {
	mine := m.form != nil && m.form.sending && m.form.decision.Worker == msg.decision.Worker
	if msg.err == nil {
		if mine {
			m.form = nil
		}
		m.note = msg.decision.Worker + ": " + msg.outcome + "   n goes to the next that needs you"
		return m.load()
	}
	said := []string{msg.err.Error()}
	if stale, ok := errors.AsType[*fault.StaleError](msg.err); ok {
		said = append([]string{"Refused: " + stale.What + " is not as you saw it. Look again before you decide."}, stale.Moved...)
	}
	if mine {
		m.form.sending, m.form.said = false, said
	} else {
		m.note = msg.decision.Worker + ": " + strings.Join(said, " ")
	}
	return tea.Batch(m.load(), m.loadReview())
}

// drawForm draws the form over the end of the screen.
func (m *Model) drawForm(c *canvas) {
	f := m.form
	width := min(m.width-4, 110)
	d := &document{width: width - 4}
	const names = 11
	most := max(2, m.height/8)
	d.few(most, names, clean(in(inkHead), "then"), words(look{}, f.choice.Does))
	if len(f.decision.Accepts) > 0 {
		d.few(most, names, clean(in(inkHead), "waives"), words(look{}, strings.Join(f.decision.Accepts, " ")))
	}
	for i, x := range f.fields {
		if x.name == fieldRoots {
			f.drawBoxes(d, names, max(3, m.height/6))
			continue
		}
		if o := f.meant(strings.TrimSpace(x.text)); o != strings.TrimSpace(x.text) {
			x.hint = "sends “" + o + "”"
		}
		mark, i2 := "", inkHead
		if i == f.at && !f.sending {
			mark, i2 = "▏", inkAccent
		}
		text := join(words(in(inkStrong), x.text), clean(in(inkAccent), mark), words(in(inkDim), "  "+x.hint))
		d.few(most, names, clean(in(i2), x.name), text)
	}
	d.few(most, names, clean(in(inkHead), "same as"), words(in(inkAccent), f.command()))
	for _, s := range f.said {
		d.few(most, names, nil, words(in(inkHold), s))
	}
	if f.sending {
		d.say(clean(in(inkRun), "being carried out; closing the desk does not stop it"))
	} else {
		copying := "ctrl-y"
		if len(f.fields) == 0 {
			copying = "y"
		}
		d.say(join(clean(in(inkKey), "ctrl-s"), clean(in(inkDim), " "+f.choice.Name+"    "), clean(in(inkKey), copying), clean(in(inkDim), " copies the command    "),
			clean(in(inkKey), "esc"), clean(in(inkDim), " back")))
	}
	c.box(m.width, f.choice.Name+" "+f.decision.Worker, width, d)
}

// box draws a document in a frame over the last lines.
func (c *canvas) box(screen int, title string, width int, d *document) {
	left := (screen - width) / 2
	edge := func(s string) line { return clean(in(inkAccent), s) }
	lines := []line{join(edge("┌ "), words(in(inkStrong), title), edge(" "+strings.Repeat("─", max(0, width-4-words(look{}, title).width()))+"┐"))}
	for i := range d.rows {
		lines = append(lines, join(edge("│ "), d.draw(i, 0).fit(width-4, look{}), edge(" │")))
	}
	lines = append(lines, edge("└"+strings.Repeat("─", width-2)+"┘"))
	first := max(0, len(c.lines)-len(lines))
	for i, l := range lines {
		if first+i < len(c.lines) {
			under := c.lines[first+i].fit(screen, look{})
			c.lines[first+i] = join(under.take(left), l, under.skip(left+l.width()))
		}
	}
}
