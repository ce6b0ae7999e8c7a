package stages

import (
	"testing"

	"cordon/internal/fleet/protocol"
)

func keys(list []protocol.Stroke) (text string) {
	for _, s := range list {
		text += string(s.Keys)
		if s.Rows > 0 {
			text += "#"
		}
	}
	return text
}

// Every stroke reaches the node that has the grant once, in order, however often it asks.
func TestStrokes(t *testing.T) {
	s := &screen{}
	s.take(nil, 33, 77)
	s.take([]byte("a"), 0, 0)
	s.grant(5, 0)
	for range 2 { // the first answer was lost
		if got := keys(s.after(0)); got != "#a" {
			t.Errorf("typed %q", got)
		}
	}
	s.take([]byte("b"), 0, 0)
	for heard, want := range map[uint64]string{2: "b", 1: "", 0: "", 9: ""} {
		if heard != 2 {
			s.after(2)
		}
		if got := keys(s.after(heard)); got != want {
			t.Errorf("after %d strokes: %q, not %q", heard, got, want)
		}
	}
	if got := keys(s.after(2)); got != "b" {
		t.Errorf("questions that came late have changed what is typed to %q", got)
	}
	// Another grant is another process: it is told the size, and nothing that was typed before.
	s.grant(8, 0)
	if got := keys(s.after(0)); got != "#" {
		t.Errorf("another grant hears %q", got)
	}
	// A home that was started anew.
	again := &screen{}
	again.grant(8, 4)
	again.take([]byte("c"), 0, 0)
	if got := keys(again.after(4)); got != "c" {
		t.Errorf("after a new start: %q", got)
	}
}

// What is typed has bounds, whoever asks for it and whoever does not.
func TestStrokesAreBounded(t *testing.T) {
	s := &screen{}
	s.grant(5, 0)
	for range 2 * maxWaiting {
		s.take(make([]byte, 1000), 0, 0)
	}
	if len(s.waiting) != maxWaiting {
		t.Errorf("%d strokes wait", len(s.waiting))
	}
	list := s.after(0)
	if got := len(keys(list)); got == 0 || got > maxAnswer {
		t.Errorf("an answer has %d bytes", got)
	}
	if next := s.after(uint64(len(list))); len(next) != len(list) {
		t.Errorf("the next answer has %d strokes", len(next))
	}
}
