package stream_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"cordon/internal/client"

	"cordon/internal/agent/clients"
	. "cordon/internal/stream"
)

// A stream says the same in whatever pieces it comes.
func TestPieces(t *testing.T) {
	for _, r := range recordings(t) {
		human, items, s := r.read(1 << 20)
		for _, piece := range []int{1, 7, 4096} {
			h, i, sum := r.read(piece)
			if h != human || !reflect.DeepEqual(i, items) || !reflect.DeepEqual(sum, s) {
				t.Errorf("%s: in pieces of %d it says something else", r.name, piece)
			}
		}
	}
}

// broken fails, and counts how often it was asked.
type broken int

func (b *broken) Write([]byte) (int, error) { *b++; return 0, errors.New("no") }

func TestWriterPassesTheStreamOn(t *testing.T) {
	r := recording(t, "claude_work")
	var raw bytes.Buffer
	human := new(broken)
	w := NewWriter(clients.Stream(r.client), human, &raw)
	if n, err := w.Write(r.stream); n != len(r.stream) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	w.Close()
	if !bytes.Equal(raw.Bytes(), r.stream) {
		t.Error("the stream is another")
	}
	if *human != 1 || len(w.Summary().Calls) != 13 {
		t.Errorf("a screen that fails: %d writes, %d calls", *human, len(w.Summary().Calls))
	}
	gone := new(broken)
	w = NewWriter(clients.Stream(r.client), nil, gone)
	w.Write(r.stream)
	w.Write(r.stream)
	if *gone != 1 {
		t.Errorf("a file that fails: %d writes", *gone)
	}
}

// Whoever is told an item may look at the summary.
func TestWriterTellsWithoutItsLock(t *testing.T) {
	r := recording(t, "codex_work")
	w := NewWriter(clients.Stream(r.client), nil, nil)
	calls := 0
	w.OnItem = func(i Item) {
		if i.Kind == Called {
			calls = len(w.Summary().Calls)
		}
	}
	w.Write(r.stream)
	if calls != 4 {
		t.Errorf("it saw %d calls", calls)
	}
}

func TestWriterEndsOnce(t *testing.T) {
	var human bytes.Buffer
	w := NewWriter(clients.Stream("gemini"), &human, nil)
	w.Write([]byte(`{"type":"message","role":"assistant","content":"half ","delta":true}` + "\n"))
	w.Write([]byte(`{"type":"message","role":"assistant","content":"a word","delta":true}`)) // no line break
	if human.Len() > 0 {
		t.Errorf("words in pieces: %q", human.String())
	}
	w.Close()
	w.Close()
	if human.String() != "half a word\n" || w.Summary().Last != "half a word" {
		t.Errorf("%q", human.String())
	}
}

// A line that is too long costs itself and nothing else.
func TestWriterLongLine(t *testing.T) {
	r := recording(t, "opencode_plain")
	w := NewWriter(clients.Stream(r.client), nil, nil)
	w.Write([]byte(`{"type":"text","part":{"text":"`))
	for range MaxLine/len(filler) + 1 {
		w.Write([]byte(filler))
	}
	w.Write([]byte("\"}}\n"))
	if n := w.Unended(); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
	w.Write(r.stream)
	w.Close()
	s := w.Summary()
	if s.Unknown != 1 || s.Last != "Hello there.\nSecond line." || s.Usage.Turns != 1 {
		t.Errorf("%+v", s)
	}
}

var filler = strings.Repeat("x", 64<<10)

// What a client prints beside its stream is shown, without what could act on a
// terminal, and counted.
func TestWriterUnknown(t *testing.T) {
	var human bytes.Buffer
	w := NewWriter(clients.Stream("claude"), &human, nil)
	w.Write([]byte("\x1b]0;title\x07Warning: \x1b[31mold\u202e node\r\n\n{\"type\":\"brand_new\"}\n{\"type\":\n[1]\n"))
	w.Close()
	if got := human.String(); got != "]0;titleWarning: [31mold node\n[1]\n" {
		t.Errorf("%q", got)
	}
	if n := w.Summary().Unknown; n != 4 {
		t.Errorf("%d lines", n)
	}
	w = NewWriter(clients.Stream("cursor"), nil, nil)
	w.Write([]byte("{\"type\":\"system\"}\n"))
	if w.Summary().Unknown != 1 {
		t.Error("the stream of a client that nobody knows was understood")
	}
}

// A member that has become something else does not cost the line.
func TestWriterOtherTypes(t *testing.T) {
	w := NewWriter(clients.Stream("codex"), nil, nil)
	w.Write([]byte(`{"type":"item.completed","item":{"id":7,"type":"command_execution","command":["sh"],"exit_code":"3","status":"completed"}}` + "\n"))
	s := w.Summary()
	if len(s.Calls) != 1 || s.Calls[0].Tool != "Bash" || !s.Calls[0].Ran || s.Unknown != 0 {
		t.Errorf("%+v", s)
	}
}

func TestTexts(t *testing.T) {
	for got, want := range map[string]string{
		Thousands(7):                  "7",
		Thousands(999):                "999",
		Thousands(1000):               "1,000",
		Thousands(1234567):            "1,234,567",
		OneLine(" a\n\tb\x07 c ", 20): "a b c",
		OneLine("äöüß", 3):            "äö…",
		Cut("äö", 3):                  "ä",
		FirstLine("\n \n x \ny", 9):   "x",
		Reason(`[API Error: {"error":{"message":"no model"}}]`): "no model",
		Reason(`{"message":"m"}`):                               "m",
		Reason(`plain {text}`):                                  "plain {text}",
		Summary{Calls: make([]Call, 12), Usage: Usage{Input: 34120, Output: 1204, Cost: 0.12, Turns: 3}}.Line(): "12 calls, 34,120 tokens in, " +
			"1,204 out, $0.12, 3 turns",
		Summary{}.Line(): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzWriter(f *testing.F) {
	for i, r := range recordings(f) {
		for line := range bytes.Lines(r.stream) {
			f.Add(uint8(i), line)
		}
		f.Add(uint8(i), r.stream)
	}
	f.Add(uint8(0), []byte("{\"type\":\"assistant\",\"message\":{\"content\":[null,{},{\"type\":\"tool_use\"}]}}\n\n{}\n\xff\x00"))
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		n := clients.Names()[int(which)%len(clients.Names())]
		whole, raw, sum := garbage(n, b, len(b)+1)
		if !bytes.Equal(raw, b) {
			t.Error("the stream is another")
		}
		if strings.ContainsFunc(whole, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) {
			t.Errorf("the transcript could act on a terminal: %q", whole)
		}
		if sum.Unknown > bytes.Count(b, []byte{'\n'})+1 {
			t.Errorf("%d lines were not understood", sum.Unknown)
		}
		if pieces, _, again := garbage(n, b, 3); pieces != whole || !reflect.DeepEqual(again, sum) {
			t.Error("in pieces it says something else")
		}
		gap, _ := Gap(n, clients.Stream(n), sum, nil)
		if len(gap) > len(sum.Calls) {
			t.Errorf("%d calls, %d gaps", len(sum.Calls), len(gap))
		}
	})
}

func garbage(n client.Name, b []byte, piece int) (human string, raw []byte, s Summary) {
	var out, through bytes.Buffer
	w := NewWriter(clients.Stream(n), &out, &through)
	for len(b) > 0 {
		k := min(piece, len(b))
		w.Write(b[:k])
		b = b[k:]
	}
	w.Close()
	return out.String(), through.Bytes(), w.Summary()
}
