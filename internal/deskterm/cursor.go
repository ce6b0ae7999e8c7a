package deskterm

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/view"
)

// reads reports whether keys move in a document.
func (m *Model) reads() bool { return m.place == onReview || m.place == onDesk && m.pane }

// window are the rows of a document that are in sight, with the cursor and the range in their first column. A click
// puts the cursor on a row; dragging makes a range.
func (m *Model) window(c *canvas, d *document, x, y, room int) (out []line) {
	m.pager.room, m.pager.at = room, max(0, min(m.pager.at, len(d.rows)-1))
	width, top, low := d.width+2, m.pager.sight(d), strings.ToLower(m.found)
	for i := top; i < len(d.rows) && len(out) < room; i++ {
		l := d.draw(i, m.pager.left)
		if low != "" && d.contains(i, low) {
			l = marked(l, low)
		}
		c.hits = append(c.hits, hit{x: x, y: y + len(out), width: width, do: func() tea.Cmd { return m.clickRow(i) }, drag: func() { m.dragTo(i) }})
		before, after := blank(look{}, 1), blank(look{}, 1)
		switch {
		case !m.reads():
		case i == m.pager.at:
			before, after = clean(in(inkAccent), "▌"), clean(in(inkAccent), "▐")
		case m.pager.spans(d, i):
			before = clean(in(inkAccent), "┃")
		}
		out = append(out, join(before, l.fit(width-2, look{}), after))
	}
	return out
}

// sight is the first row in sight. It keeps the cursor there, and leaves no empty rows below the last.
func (p pager) sight(d *document) int {
	top := p.top
	if p.at < top {
		top = p.at
	}
	room := max(1, p.room)
	if p.at > top+room-1 {
		top = p.at - room + 1
	}
	return max(0, min(top, len(d.rows)-room))
}

// span is the range from where it begins to the cursor.
func (p pager) span() (first, last int) {
	if p.begun == 0 {
		return p.at, p.at
	}
	return min(p.begun-1, p.at), max(p.begun-1, p.at)
}

// spans reports whether a row is part of the range. A range has rows of one file.
func (p pager) spans(d *document, i int) bool {
	first, last := p.span()
	return i >= first && i <= last && d.rows[i].file == d.rows[p.at].file
}

// to puts the cursor on a row that is there.
func (m *Model) to(d *document, row int) {
	m.pager.at = max(0, min(row, len(d.rows)-1))
	m.pager.top = m.pager.sight(d)
}

// lead puts the cursor on a row, and that row to the top.
func (m *Model) lead(row int) {
	m.pager.top, m.pager.at, m.pager.begun = row, row, 0
	if m.place == onDesk {
		m.pane = true
	}
}

// page moves the cursor and what is in sight by so many rows.
func (m *Model) page(d *document, n int) {
	m.pager.top = m.pager.sight(d) + n
	m.to(d, m.pager.at+n)
}

// scroll moves what is in sight; the cursor stays where it is as long as it is seen.
func (m *Model) scroll(d *document, n int) {
	top := max(0, min(m.pager.sight(d)+n, len(d.rows)-m.pager.room))
	m.pager.top = top
	m.to(d, max(top, min(m.pager.at, top+m.pager.room-1)))
}

// rangeFrom begins a range at the cursor, or ends it.
func (m *Model) rangeFrom() tea.Cmd {
	if m.pager.begun > 0 {
		m.pager.begun = 0
		return nil
	}
	m.pager.begun = m.pager.at + 1
	m.note = "j and k make the range longer, c comments on it, esc ends it"
	return nil
}

// clickRow puts the cursor on a row of the document.
func (m *Model) clickRow(row int) tea.Cmd {
	d := m.shown()
	if m.place == onDesk {
		m.pane = true
	}
	again := m.pager.at == row
	m.pager.begun = 0
	m.to(d, row)
	if again && d.rows[row].head && m.place == onReview {
		return m.fold()
	}
	return nil
}

// dragTo makes a range from the row that was clicked.
func (m *Model) dragTo(row int) {
	if d := m.shown(); m.reads() && row != m.pager.at && row < len(d.rows) {
		if m.pager.begun == 0 {
			m.pager.begun = m.pager.at + 1
		}
		m.to(d, row)
	}
}

// number is the line of a side that a row shows; 0: none.
func (r row) number(side string) int {
	switch {
	case r.diff == nil || side == view.SideNew && r.side == '-' || side == view.SideOld && r.side == '+':
		return 0
	case side == view.SideOld:
		return r.diff.Old
	}
	return r.diff.New
}

// only reports whether a row shows a line that one side alone has, and the other side as well if it is changed.
func (r row) only(side string) bool {
	other := view.SideOld
	if side == other {
		other = view.SideNew
	}
	return r.number(side) > 0 && (r.number(other) == 0 || r.diff.Kind == '~')
}

// lines are the lines of the range or of the cursor: of the old side if nothing new is among them. From is 0 if
// there are none.
func (m *Model) lines() (on Lines) {
	d := m.shown()
	if m.file() == 0 {
		return on
	}
	f := m.review.Files[m.file()-1]
	first, last := m.pager.span()
	old, now := false, false
	for i := first; i <= last; i++ {
		if m.pager.spans(d, i) {
			old, now = old || d.rows[i].only(view.SideOld), now || d.rows[i].only(view.SideNew)
		}
	}
	on = Lines{Path: f.Name, Side: view.SideNew, Blob: f.New}
	if old && !now {
		on.Side, on.Blob = view.SideOld, f.Old
	}
	for i := first; i <= last; i++ {
		n := d.rows[i].number(on.Side)
		if n == 0 || !m.pager.spans(d, i) {
			continue
		}
		if on.From == 0 {
			on.From = n
		}
		on.To = max(on.To, n)
	}
	return on
}

// whereabouts is the file in which the cursor is, and how many comments wait to be sent.
func (m *Model) whereabouts(d *document) line {
	var parts []string
	if n := m.file(); n > 0 {
		parts = append(parts, fmt.Sprintf("file %d of %d", n, len(d.files)))
	}
	if n := m.unsent(); n > 0 {
		parts = append(parts, counted(n, "comment")+" not sent")
	}
	if len(parts) == 0 {
		return nil
	}
	return clean(in(inkDim), strings.Join(parts, " · ")+" ")
}

// unsent is how many comments the worker was not sent.
func (m *Model) unsent() (n int) {
	for _, c := range m.review.Comments {
		if c.Sent == nil {
			n++
		}
	}
	return n
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// stay keeps the cursor on the line that it is on when a document is made anew.
func (p *pager) stay(old, now *document) {
	if len(old.rows) == 0 {
		return
	}
	at := now.find(old, max(0, min(p.at, len(old.rows)-1)))
	p.top += at - p.at
	if p.begun > 0 {
		p.begun = now.find(old, min(p.begun, len(old.rows))-1) + 1
	}
	p.at = at
}

// find is the row that shows what a row of another document of the same worker shows: the same lines of the patch, else a
// row as far from the beginning of its section.
func (d *document) find(other *document, row int) int {
	r := other.rows[row]
	for i := range d.rows {
		if r.file > 0 && r.same(d.rows[i]) && other.files[r.file-1].Name == d.files[d.rows[i].file-1].Name {
			return i
		}
	}
	for i, s := range other.sections {
		last := i == len(other.sections)-1 || other.sections[i+1].at > row
		if row >= s.at && last && i < len(d.sections) {
			return min(d.sections[i].at+row-s.at, len(d.rows)-1)
		}
	}
	return min(row, len(d.rows)-1)
}

// same reports whether two rows show the same of their files.
func (r row) same(o row) bool {
	switch {
	case o.file == 0 || r.head != o.head || r.hunk != o.hunk || (r.diff == nil) != (o.diff == nil):
		return false
	case r.diff == nil:
		return r.head
	case r.side == '-':
		return r.diff.Old == o.diff.Old && o.number(view.SideOld) > 0
	case r.diff.Kind == '@':
		return r.diff.Was == o.diff.Was
	}
	return r.diff.New == o.diff.New && r.diff.Old == o.diff.Old && o.number(view.SideNew) == o.diff.New
}
