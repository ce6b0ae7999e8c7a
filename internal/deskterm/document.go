package deskterm

import (
	"strings"

	"cordon/internal/desk"
	"cordon/internal/view"
)

// document is something long that is read from the top: its rows are made once, and those of a patch are
// drawn only while they are in sight.
type document struct {
	rows     []row
	sections []section
	files    []desk.File
	comments []view.Comment
	langs    []*desk.Language
	width    int
	wide     bool // both sides of a patch beside each other
}

// row is a row of a document: a line, or a row of a patch.
type row struct {
	text    line
	diff    *desk.Row
	side    byte   // of a unified patch: '-', '+' or ' '
	file    int    // the file that it belongs to, from 1; 0: none
	head    bool   // the file begins here
	hunk    bool   // a hunk begins here
	comment string // ID of the comment that it shows; empty: none
}

// section is a part of a document that a key leads to.
type section struct {
	name string
	at   int
}

// say adds lines.
func (d *document) say(lines ...line) {
	for _, l := range lines {
		d.rows = append(d.rows, row{text: l})
	}
}

// wrapped adds a text in as many lines as it takes, those after the first indented.
func (d *document) wrapped(indent int, first line, text line) {
	for i, l := range text.wrap(d.width - indent - 2) {
		if i == 0 {
			d.say(join(first.fit(indent, look{}), l))
			continue
		}
		d.say(join(blank(look{}, indent), l))
	}
}

// few is wrapped with at most so many lines.
func (d *document) few(most, indent int, first, text line) {
	n := len(d.rows)
	d.wrapped(indent, first, text)
	if len(d.rows) > n+most {
		d.rows = d.rows[:n+most]
		last := &d.rows[n+most-1].text
		*last = join((*last).clip(d.width-4), clean(in(inkDim), " …"))
	}
}

// lines are those of a document without a patch.
func (d *document) lines() (list []line) {
	for _, r := range d.rows {
		list = append(list, r.text)
	}
	return list
}

// begin begins a section.
func (d *document) begin(name string, more string) {
	d.say(nil)
	d.sections = append(d.sections, section{name, len(d.rows)})
	d.say(join(clean(in(inkHead), strings.ToUpper(name)), clean(in(inkDim), "  "+more)))
}

// draw is a row as it is seen, shifted to the left.
func (d *document) draw(i, left int) line {
	if i < 0 || i >= len(d.rows) {
		return nil
	}
	r := d.rows[i]
	switch {
	case r.diff == nil:
		return r.text
	case r.diff.Kind == '@':
		return begun(in(inkAccent), " "+r.diff.Was, d.width)
	case r.diff.Kind == '\\':
		return begun(in(inkDim), "      "+r.diff.Was, d.width)
	case d.wide:
		return beside(r.diff, d.langs[r.file-1], d.width, left)
	}
	return unified(r.diff, r.side, d.langs[r.file-1], d.width, left)
}

// contains reports whether a row has a text; letters of both cases are the same.
func (d *document) contains(i int, low string) bool {
	r := d.rows[i]
	if r.diff == nil {
		return strings.Contains(strings.ToLower(r.text.text()), low)
	}
	return r.side != '-' && has(r.diff.Is, low) || r.side != '+' && has(r.diff.Was, low)
}

func has(s, low string) bool { return strings.Contains(strings.ToLower(s), low) }

// commented adds the comments that end at a row.
func (d *document) commented(n int, name string, r *desk.Row, side byte) {
	for _, c := range d.comments {
		is := c.Side == view.SideNew && side != '-' && c.To == r.New || c.Side == view.SideOld && side != '+' && c.To == r.Old
		if !is || string(c.Path) != name || c.Outdated {
			continue
		}
		sent := "you, not sent: "
		if c.Sent != nil {
			sent = "you, sent: "
		}
		first := len(d.rows)
		d.wrapped(12, clean(in(inkAsk), "          └"), words(in(inkAsk), sent+c.Text))
		for i := first; i < len(d.rows); i++ {
			d.rows[i].file, d.rows[i].comment = n, c.ID
		}
	}
}

// patch adds the rows of a file.
func (d *document) patch(n int, f desk.File) {
	var block []*desk.Row // changed rows of a unified patch: what was comes before what is
	flush := func() {
		for _, side := range []byte{'-', '+'} {
			for _, r := range block {
				if side == '-' && r.Kind != '+' || side == '+' && r.Kind != '-' {
					d.rows = append(d.rows, row{diff: r, side: side, file: n})
					d.commented(n, f.Name, r, side)
				}
			}
		}
		block = block[:0]
	}
	for i := range f.Rows {
		r := &f.Rows[i]
		if changed := r.Kind == '~' || r.Kind == '-' || r.Kind == '+'; changed && !d.wide {
			block = append(block, r)
			continue
		}
		flush()
		d.rows = append(d.rows, row{diff: r, side: ' ', file: n, hunk: r.Kind == '@'})
		d.commented(n, f.Name, r, ' ')
	}
	flush()
}
