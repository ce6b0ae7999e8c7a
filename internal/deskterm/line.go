package deskterm

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/legible"
)

// line is a line of the screen. It is made by clean and by putting lines together, and by nothing else, so
// that it holds no control character.
type line []cell

// cell is a character with the columns that it takes.
type cell struct {
	text  string
	width int
	look  look
}

// tabStop is how far a tab goes.
const tabStop = 4

// clean makes any text one line: characters that cannot be seen are chips, as in the browser.
func clean(l look, s string) line {
	var out line
	at := 0
	write := func(s string, l look) {
		for _, r := range s {
			switch r {
			case '\t':
				n := tabStop - at%tabStop
				out = append(out, blank(l, n)...)
				at += n
			case '\n':
				out = append(out, cell{"⏎", 1, l.with(inkChip)})
				at++
			default:
				w := ansi.StringWidth(string(r))
				if w == 0 && len(out) > 0 { // a mark belongs to its letter
					out[len(out)-1].text += string(r)
					continue
				}
				out = append(out, cell{string(r), w, l})
				at += w
			}
		}
	}
	for _, p := range legible.Parts(s) {
		if p.Chip != "" {
			write("⟨"+p.Chip+"⟩", l.with(inkChip))
			continue
		}
		write(p.Text, l)
	}
	return out
}

// begun is clean for a text of which only so many columns can be seen. What is left out is counted: a chip may stand for
// more of it than there are columns.
func begun(l look, s string, columns int) line {
	shown := beginning(s, columns)
	out := clean(l, shown)
	if left := len(s) - len(shown); left > 0 {
		out = join(out, clean(l.with(inkChip), fmt.Sprintf("⟨and %d more bytes⟩", left)))
	}
	return out
}

// words is clean for a text of several lines, with one space at a time. Spaces before it stay: they are ours.
func words(l look, s string) line {
	rest := strings.TrimLeft(s, " ")
	before := blank(l, min(len(s)-len(rest), tabStop))
	return join(before, begun(l, strings.Join(strings.Fields(rest), " "), mostWords))
}

// mostWords is how many columns of one text a screen shows, at least.
const mostWords = 250

func blank(l look, n int) line {
	out := make(line, 0, max(n, 0))
	for range n {
		out = append(out, cell{" ", 1, l})
	}
	return out
}

func (l line) width() (n int) {
	for _, c := range l {
		n += c.width
	}
	return n
}

// join puts lines one after the other.
func join(parts ...line) (out line) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// clip shortens a line to so many columns.
func (l line) clip(room int) line {
	if l.width() <= room {
		return l
	}
	if room <= 0 {
		return nil
	}
	out, used := line{}, 0
	for _, c := range l {
		if used+c.width > room-1 {
			out = append(out, cell{"…", 1, c.look})
			break
		}
		out = append(out, c)
		used += c.width
	}
	return out
}

// fit makes a line exactly so wide.
func (l line) fit(room int, fill look) line {
	out := l.clip(room)
	return append(out[:len(out):len(out)], blank(fill, room-out.width())...)
}

// skip leaves out the first columns.
func (l line) skip(n int) line {
	for i, c := range l {
		if n <= 0 {
			return l[i:]
		}
		n -= c.width
	}
	return nil
}

// on gives all of a line a background.
func (l line) on(g ground) line {
	out := make(line, len(l))
	for i, c := range l {
		c.look.ground = g
		out[i] = c
	}
	return out
}

// wrap breaks a line between words where it can.
func (l line) wrap(room int) (list []line) {
	room = max(room, 8)
	begin, space, used := 0, -1, 0
	for i := 0; i < len(l); i++ {
		if l[i].text == " " {
			space = i
		}
		if used += l[i].width; used <= room {
			continue
		}
		end := i
		if space > begin {
			end = space
		}
		list = append(list, l[begin:end:end])
		for begin = end; begin < len(l) && l[begin].text == " "; begin++ {
		}
		i, space, used = begin-1, -1, 0
	}
	return append(list, l[begin:])
}

// text is a line without its looks.
func (l line) text() string {
	var b strings.Builder
	for _, c := range l {
		b.WriteString(c.text)
	}
	return b.String()
}

// beginning is as much of a text as can be seen in so many columns: a line may have a megabyte.
func beginning(s string, columns int) string {
	n := 16*columns + 64 // a letter with its marks has no more bytes than that
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// take are the first columns.
func (l line) take(n int) line {
	for i, c := range l {
		if n -= c.width; n < 0 {
			return l[:i:i]
		}
	}
	return l[:len(l):len(l)]
}
