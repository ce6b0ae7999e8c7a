package deskterm

import (
	"fmt"

	"cordon/internal/desk"
)

// half is one side of a row, with the language of its file.
type half struct {
	number int
	sign   string
	text   string
	g      ground
}

// side draws one side: its number, its sign and as much of its text as fits.
func (h half) side(lang *desk.Language, width, left int) line {
	l := look{ground: h.g}
	head := clean(l.with(inkDim), fmt.Sprintf("%5s ", numberOf(h.number)))
	head = append(head, clean(l.with(signInk(h.sign)), h.sign+" ")...)
	room := max(width-head.width(), 0)
	body := highlight(lang, begun(l, h.text, left+room))
	return join(head, body.skip(left)).fit(width, l)
}

func numberOf(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func signInk(sign string) ink {
	switch sign {
	case "+":
		return inkOK
	case "-":
		return inkBad
	}
	return inkDim
}

// unified draws one side of a row of a patch with both numbers.
func unified(r *desk.Row, side byte, lang *desk.Language, width, left int) line {
	old, now, sign, text, g := r.Old, r.New, " ", r.Is, groundNone
	switch side {
	case '-':
		now, sign, text, g = 0, "-", r.Was, groundRemoved
	case '+':
		old, sign, g = 0, "+", groundAdded
	}
	before := clean(look{inkDim, g}, fmt.Sprintf("%5s", numberOf(old)))
	l := half{now, sign, text, g}.side(lang, width-len(before), left)
	if r.Kind == '~' {
		was, is := beginning(r.Was, left+width), beginning(r.Is, left+width)
		from, to := differ(clean(look{}, was), clean(look{}, is), side == '-')
		l = emphasise(l, 8+from-left, 8+to-left, side)
	}
	return join(before, l)
}

// beside draws both sides of a row of a patch.
func beside(r *desk.Row, lang *desk.Language, width, left int) line {
	room := (width - 1) / 2
	was, is := half{r.Old, " ", r.Was, groundNone}, half{r.New, " ", r.Is, groundNone}
	switch r.Kind {
	case '~':
		was.sign, was.g, is.sign, is.g = "-", groundRemoved, "+", groundAdded
	case '-':
		was.sign, was.g = "-", groundRemoved
	case '+':
		is.sign, is.g = "+", groundAdded
	}
	a, b := was.side(lang, room, left), is.side(lang, width-1-room, left)
	switch r.Kind {
	case '-':
		b = nothing(width - 1 - room)
	case '+':
		a = nothing(room)
	case '~':
		w, i := clean(look{}, beginning(r.Was, left+room)), clean(look{}, beginning(r.Is, left+room))
		from, to := differ(w, i, true)
		a = emphasise(a, 8+from-left, 8+to-left, '-')
		from, to = differ(w, i, false)
		b = emphasise(b, 8+from-left, 8+to-left, '+')
	}
	return join(a, clean(in(inkRule), "│"), b)
}

// nothing is a side on which there is no line.
func nothing(width int) line {
	out := blank(look{}, min(8, width))
	for len(out) < width {
		out = append(out, cell{"╱", 1, in(inkRule)})
	}
	return out
}

// differ is where two lines begin and end to differ, in columns of one of them.
func differ(was, is line, first bool) (from, to int) {
	for from < len(was) && from < len(is) && was[from].text == is[from].text {
		from++
	}
	a, b := len(was), len(is)
	for a > from && b > from && was[a-1].text == is[b-1].text {
		a--
		b--
	}
	l, end := is, b
	if first {
		l, end = was, a
	}
	if from == 0 && end == len(l) { // nothing is common: the signs say enough
		return 0, 0
	}
	return l[:from].width(), l[:end].width()
}

// emphasise marks the columns that differ.
func emphasise(l line, from, to int, side byte) line {
	g := groundAddedWord
	if side == '-' {
		g = groundRemovedWord
	}
	out := append(line{}, l...)
	at := 0
	for i := range out {
		if at >= max(from, 8) && at < to {
			out[i].look.ground = g
		}
		at += out[i].width
	}
	return out
}
