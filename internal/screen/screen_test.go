package screen

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func drawn(rows, columns int, text string) string {
	s := New(rows, columns)
	_, _ = s.Write([]byte(text)) // it takes everything
	return s.Text()
}

func TestScreen(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"lines", "one\r\ntwo\r\n", "one\ntwo"},
		{"a line feed keeps the column", "one\ntwo", "one\n   two"},
		{"written over", "slow\rfast", "fast"},
		{"back", "abc\b\bX", "aXc"},
		{"wrapped", "0123456789ab", "0123456789\nab"},
		{"full line without another", "0123456789\r\nx", "0123456789\nx"},
		{"tab", "a\tb", "a       b"},
		{"cursor", "\x1b[2;3Hx\x1b[Ay\x1b[1;1Hz", "z  y\n  x"},
		{"erase to the end", "abcdef\x1b[4D\x1b[K", "ab"},
		{"erase everything", "abc\x1b[2J\x1b[Hnew", "new"},
		{"erase below", "a\r\nb\r\nc\x1b[2;1H\x1b[J", "a"},
		{"insert and delete", "abcd\x1b[1G\x1b[2@X\x1b[2P", "Xbcd"},
		{"insert a line", "a\r\nb\x1b[1;1H\x1b[Lnew", "new\na\nb"},
		{"delete a line", "a\r\nb\r\nc\x1b[1;1H\x1b[M", "b\nc"},
		{"scrolled", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5"},
		{"a part scrolls", "head\r\n\x1b[2;3r\x1b[2;1Ha\r\nb\r\nc", "head\nb\nc"},
		{"up at the top", "a\r\nb\x1b[1;1H\x1bMnew", "new\na\nb"},
		{"the other screen", "main\x1b[?1049hother\x1b[2;1Hmore\x1b[?1049l!", "main!"},
		{"title, link, colour", "\x1b]0;title\x07\x1b]8;;http://x\x1b\\a\x1b]8;;\x1b\\\x1b[31mb\x1b[0m\x1b[?2026h", "ab"},
		{"asks", "\x1b[c\x1b[6n\x1bP+q544e\x1b\\x", "x"},
		{"wide", "日本\x1b[1;3Hx", "日x"},
		{"marked", "e\u0301a", "e\u0301a"},
		{"lines and corners", "\x1b(0lqk\x1b(Bq", "┌─┐q"},
		{"repeated", "-\x1b[3b", "----"},
		{"saved", "ab\x1b7cd\x1b8X", "abXd"},
		{"cut letter", "\xe6\x97x", "\ufffdx"},
		{"far away", "\x1b[999;999Hx\x1b[99999999999999999999Cy", "\n\n\n         y"},
		{"reset", "abc\x1bcx", "x"},
	} {
		if got := drawn(4, 10, c.text); got != c.want {
			t.Errorf("%s: %q shows\n%q, want\n%q", c.name, c.text, got, c.want)
		}
	}
}

func TestResize(t *testing.T) {
	s := New(4, 10)
	_, _ = s.Write([]byte("1\r\n2\r\n3\r\n4"))
	s.Resize(2, 4)
	if got := s.Text(); got != "3\n4" {
		t.Errorf("%q", got)
	}
	if got := s.takeScrolled(); strings.Join(got, ",") != "1,2" {
		t.Errorf("%q", got)
	}
	s.Resize(3, 20)
	_, _ = s.Write([]byte(" and more of it\r\nx"))
	if got := s.Text(); got != "3\n4 and more of it\nx" {
		t.Errorf("%q", got)
	}
	s.Resize(1<<30, -5) // bounded
	_, _ = s.Write([]byte("日"))
}

func transcribed(rows, columns int, texts ...string) string {
	var b bytes.Buffer
	t := NewTranscript(&b, rows, columns)
	for _, text := range texts {
		_, _ = t.Write([]byte(text))
	}
	_ = t.End()
	return b.String()
}

// What a shell prints comes whole and once.
func TestTranscriptOfAShell(t *testing.T) {
	var in, want strings.Builder
	for i := range 500 {
		fmt.Fprintf(&in, "line %d\r\n", i)
		fmt.Fprintf(&want, "line %d\n", i)
	}
	if got := transcribed(24, 80, in.String()); got != want.String() {
		t.Errorf("%.300q", got)
	}
	if got := transcribed(24, 80, "a\r\n\r\n\r\nb\r\n"); got != "a\n\nb\n" {
		t.Errorf("%q", got)
	}
}

// Of a program that draws, the lines that stay come once, and neither its spinner nor
// its frames.
func TestTranscriptOfAProgram(t *testing.T) {
	texts := []string{"$ agent\r\n", "\x1b[?1049h\x1b[H"}
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("\x1b[H> do it\r\n\x1b[2Kworking %c %d s\r\n%s", `|/-\`[i%4], i, strings.Repeat("─", 40)))
	}
	for range 50 {
		texts = append(texts, "\x1b[2J\x1b[H> do it\r\nit is done\r\n"+strings.Repeat("─", 40)+strings.Repeat("\x1b[5;1H\x1b[K", 20))
	}
	got := transcribed(10, 40, append(texts, "\x1b[?1049l$ exit\r\n")...)
	for _, once := range []string{"$ agent\n", "> do it\n", "it is done\n", "$ exit\n"} {
		if strings.Count(got, once) != 1 {
			t.Errorf("%q comes %d times in\n%s", once, strings.Count(got, once), got)
		}
	}
	if strings.Contains(got, "─") || strings.Count(got, "working") > 2 || strings.Contains(got, "\x1b") {
		t.Errorf("%s", got)
	}
}

// A record is played by its marks: lines, what was drawn with a size, what stood still.
func TestPlayer(t *testing.T) {
	parts := []string{"setup\n", "\x1b[?1049hone\x1b[2;1Htyped", "\x1b[2J\x1b[Htwo", "\x1b[1;30Hfar", "\x1b[?1049l", "\x1b[31mraw\n"}
	marks := []Mark{{At: 6, Rows: 5, Columns: 20}, {Rest: true}, {Rows: 5, Columns: 40}, {}, {End: true}}
	at := int64(0)
	for i, p := range parts[:5] {
		at += int64(len(p))
		marks[i].At = at
	}
	marks = append(marks[:3], marks[4])
	for _, size := range []int{1, 3, 1000} {
		var b bytes.Buffer
		p := &Player{To: &b, Marks: func() []Mark { return marks }}
		for text := strings.Join(parts, ""); text != ""; {
			n := min(size, len(text))
			if _, err := p.Write([]byte(text[:n])); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if err := p.End(); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), "setup\none\ntyped\ntwo                          far\n\x1b[31mraw\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// film is what a program draws, and when.
type film struct {
	text  strings.Builder
	marks []Mark
}

func filmed(rows, columns int) *film { return &film{marks: []Mark{{Rows: rows, Columns: columns}}} }

func (f *film) frame(now int64, drawn string) {
	if now > 0 {
		f.marks = append(f.marks, Mark{At: int64(f.text.Len()), Clock: now, Still: 100})
	}
	f.text.WriteString(drawn)
}

// shows demands a transcript, however the text arrives.
func (f *film) shows(t *testing.T, want string) {
	t.Helper()
	for _, size := range []int{1, 100, 1 << 20} {
		var b bytes.Buffer
		p := &Player{To: &b, Marks: func() []Mark { return f.marks }}
		for part := range slices.Chunk([]byte(f.text.String()), size) {
			if _, err := p.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.End(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// On a screen that never rests, a line that a person can read comes, but neither a clock
// nor a spinner.
func TestTranscriptOfARestlessProgram(t *testing.T) {
	f := filmed(5, 40)
	f.frame(0, "\x1b[?1049h\x1b[H> do it\x1b[2;1Hit is done")
	for now := int64(100); now <= 3000; now += 100 {
		if now%200 == 0 { // it erases the screen, and draws it again
			f.frame(now, "\x1b[2J")
		}
		f.frame(now, fmt.Sprintf("\x1b[H> do it\x1b[2;1Hit is done\x1b[3;1H\x1b[Kworking %d s\x1b[4;1Hthinking %c", now/1000, "|/-"[now/100%3]))
	}
	f.frame(3100, "\x1b[2J\x1b[Hgone at once")
	f.frame(3200, "\x1b[2J\x1b[Hbye\x1b[?1049l")
	f.shows(t, "> do it\nit is done\nbye\n")
}

// A scrollbar that comes, moves and fades makes no other line of the text before it.
func TestTranscriptBesideAScrollbar(t *testing.T) {
	f := filmed(5, 40)
	f.frame(0, "\x1b[?1049h")
	for now := int64(100); now <= 3000; now += 100 {
		bar := [][2]string{{"│", "█"}, {"█", "│"}, {" ", " "}}[now/1001]
		f.frame(now, fmt.Sprintf("\x1b[H\x1b[2J> do it\x1b[1;40H%s\x1b[2;1Hit is done\x1b[2;40H%s\x1b[4;1H%c", bar[0], bar[1], "|/-"[now/100%3]))
	}
	f.frame(3100, "\x1b[2J\x1b[Hbye\x1b[?1049l")
	f.shows(t, "> do it\nit is done\nbye\n")
}

// A program that draws its history again has it once.
func TestTranscriptDrawnAgain(t *testing.T) {
	var all strings.Builder
	for i := range 30 {
		fmt.Fprintf(&all, "answer %d\r\n", i)
	}
	again := "\x1b[2J\x1b[3J\x1b[H" + all.String()
	got := transcribed(10, 40, all.String(), again, again)
	for i := range 30 {
		if n := strings.Count(got, fmt.Sprintf("answer %d\n", i)); n != 1 {
			t.Errorf("answer %d comes %d times", i, n)
		}
	}
}

func FuzzScreen(f *testing.F) {
	for _, text := range []string{"a\x1b[2;3Hb", "\x1b[?1049h日\x1b[5@\x1b[3;2r\n\n\n", "\x1b[1;1H\x1b[9999P\x1b[L\x1b[M\x1b[T\x1b[S"} {
		f.Add([]byte(text), uint8(5), uint8(7))
	}
	f.Fuzz(func(t *testing.T, text []byte, rows, columns uint8) {
		var b bytes.Buffer
		tr := NewTranscript(&b, int(rows), int(columns))
		_, _ = tr.Write(text)
		tr.Resize(int(columns), int(rows))
		_, _ = tr.Write(text)
		_ = tr.End()
		if bytes.ContainsAny(b.Bytes(), "\x1b\x00\r\b\a") {
			t.Errorf("%q", b.String())
		}
	})
}

func TestBeforeCursor(t *testing.T) {
	s := New(3, 20)
	for _, c := range []struct{ draw, want string }{
		{"> do it ", "> do it "},
		{"\x1b[3D", "> do "},
		{"\x1b[2;1H", ""},
	} {
		if _, err := s.Write([]byte(c.draw)); err != nil {
			t.Fatal(err)
		}
		if got := s.BeforeCursor(); got != c.want {
			t.Errorf("after %q it is %q, want %q", c.draw, got, c.want)
		}
	}
}
