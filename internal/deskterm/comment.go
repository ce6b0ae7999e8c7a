package deskterm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/decide"
	"cordon/internal/view"
)

// comment opens the form of a comment on the lines of the range, or on that of the cursor.
func (m *Model) comment() tea.Cmd {
	on := m.lines()
	typed := strconv.Itoa(on.From)
	if on.To > on.From {
		typed += "-" + strconv.Itoa(on.To)
	}
	if on.Side == view.SideOld {
		typed = sideOld + typed
	}
	file := m.review.Files[m.file()-1]
	m.form = &form{
		choice:   view.Choice{Name: "comment", Does: "The comment is kept for " + on.Path + " as it is now. It goes to the worker when you send the result back."},
		decision: decide.Decision{Worker: m.wanted}, lines: &on, blobs: [2]string{file.Old, file.New}, at: 1,
		fields: []field{{fieldLines, "12-14 means three lines; old 12 means the side before the change", typed}, {fieldText, "", ""}},
	}
	return nil
}

// sideOld is how a line of the side before the change is typed.
const sideOld = "old "

// about are the lines as they were typed.
func (f *form) about() (Lines, error) {
	on := Lines{Path: f.lines.Path, Side: view.SideNew, Blob: f.blobs[1]}
	typed, old := strings.CutPrefix(strings.TrimSpace(f.fields[0].text), sideOld)
	if old {
		on.Side, on.Blob = view.SideOld, f.blobs[0]
	}
	first, last, ranged := strings.Cut(strings.TrimSpace(typed), "-")
	from, err := strconv.Atoi(first)
	to := from
	if err == nil && ranged {
		to, err = strconv.Atoi(last)
	}
	if err != nil || from < 1 || to < from {
		return on, fmt.Errorf("%q is no line or range of lines, such as 12, 12-14 or old 12", f.fields[0].text)
	}
	on.From, on.To = from, to
	return on, nil
}

func (f *form) commentCommand() string {
	on, _ := f.about()
	lines := strconv.Itoa(on.From)
	if on.To != on.From {
		lines += "-" + strconv.Itoa(on.To)
	}
	words := []string{"cordon", "comments", "add", f.decision.Worker, on.Path + ":" + lines, f.fields[1].text}
	if on.Side == view.SideOld {
		words = append(words, "--old")
	}
	return decide.Line(words)
}

// sendComment keeps the comment.
func (m *Model) sendComment() tea.Cmd {
	f := m.form
	on, err := f.about()
	text := strings.TrimSpace(f.fields[1].text)
	if err == nil && text == "" {
		err = fmt.Errorf("a comment needs a text")
	}
	if err != nil {
		f.said = []string{err.Error()}
		return nil
	}
	f.sending, m.pager.begun = true, 0
	return func() tea.Msg {
		err := m.acts.Comment(context.WithoutCancel(m.ctx), f.decision.Worker, on, text)
		return sentMsg{f.decision, "comment kept, not sent yet.", err}
	}
}

// uncomment opens the form that removes the comment at the cursor.
func (m *Model) uncomment() tea.Cmd {
	id := m.shown().rows[m.pager.at].comment
	does := "The comment is removed."
	for _, c := range m.review.Comments {
		if c.ID == id && c.Sent != nil {
			does += " The worker was sent it, and keeps it."
		}
	}
	m.form = &form{choice: view.Choice{Name: "remove comment", Does: does}, decision: decide.Decision{Worker: m.wanted}, removes: id}
	return nil
}

// sendRemoval removes the comment.
func (m *Model) sendRemoval() tea.Cmd {
	f := m.form
	f.sending = true
	return func() tea.Msg {
		err := m.acts.Uncomment(context.WithoutCancel(m.ctx), f.decision.Worker, f.removes)
		return sentMsg{f.decision, "comment removed.", err}
	}
}
