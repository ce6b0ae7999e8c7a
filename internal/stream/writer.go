package stream

import (
	"bytes"
	"io"
	"sync"
)

// Writer takes what a client prints on stdout. It passes the stream on as it is,
// makes a transcript of it for a person, and collects the summary. It never fails:
// what cannot be passed on is left out, and the client is not to suffer for it.
type Writer struct {
	// OnItem is told each item as it comes, if it is set before the first Write. The
	// client waits for its return.
	OnItem func(Item)

	mu      sync.Mutex
	raw     sink
	human   transcript
	lines   splitter
	parser  Parser
	collect collector
	news    []Item // that OnItem has not been told
	closed  bool
}

// NewWriter writes the transcript to human and the stream to raw. Either may be nil.
// Without a form nothing is understood.
func NewWriter(f *Form, human, raw io.Writer) *Writer {
	w := &Writer{raw: sink{raw}, human: transcript{to: sink{human}}, parser: nobody{}}
	if f != nil {
		w.parser = f.Parser()
	}
	return w
}

// Write takes everything.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.raw.write(p)
	w.lines.write(p, w.line)
	w.mu.Unlock()
	w.tell()
	return len(p), nil
}

// Close takes the end of the stream for one of the last line, and says in the
// transcript what was used. What is written afterwards is still taken.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.lines.flush(w.line)
	for _, i := range w.parser.End() {
		w.add(i)
	}
	if !w.closed {
		w.closed = true
		w.human.end(w.collect.sum)
	}
	w.mu.Unlock()
	w.tell()
	return nil
}

// Summary is what was said so far. It is complete after Close.
func (w *Writer) Summary() Summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.collect.sum
	s.Calls = append([]Call{}, s.Calls...)
	return s
}

// line reads one line.
func (w *Writer) line(b []byte, long bool) {
	items, ok := w.parse(b, long)
	if !ok {
		items = []Item{{Kind: Unknown, Text: cut(string(b), MaxText)}}
	}
	for _, i := range items {
		w.add(i)
	}
}

// parse asks the parser. One that fails has not understood the line.
func (w *Writer) parse(b []byte, long bool) (items []Item, ok bool) {
	defer func() {
		if recover() != nil {
			items, ok = nil, false
		}
	}()
	if bytes.TrimSpace(b)[0] != '{' {
		return nil, false
	}
	if again, is := w.parser.(Repeater); is {
		if items, ok := again.Repeats(b); ok {
			return items, true
		}
	}
	if long || !sparse(b) {
		w.collect.sum.Unread++
		return nil, false
	}
	return w.parser.Line(b)
}

func (w *Writer) add(i Item) {
	i = i.bounded()
	if i.Kind == Told && i.Call.Tool == "" {
		i.Call.Tool = w.collect.tool(i.Call.ID)
		// A client that goes on tells what became of a call of the launch before.
		i.Call.Ran = i.Call.Ran && (i.Call.Tool != "" || !i.Failed)
	}
	w.collect.add(i)
	w.human.add(i)
	if w.OnItem != nil {
		w.news = append(w.news, i)
	}
}

// tell hands the news over, without the lock: who is told may ask for the summary.
func (w *Writer) tell() {
	w.mu.Lock()
	news := w.news
	w.news = nil
	w.mu.Unlock()
	for _, i := range news {
		w.OnItem(i)
	}
}

// sink is where something is written until that fails.
type sink struct{ w io.Writer }

func (s *sink) write(b []byte) {
	if s.w == nil {
		return
	}
	if _, err := s.w.Write(b); err != nil {
		s.w = nil
	}
}
