package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// After a repair the journal may have another event under the number that a client knows. A stream does not go on after
// that one, as if nothing was missed. The control: it does while the journal has what the client knows.
func TestServeEventsAfterRepair(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	secret := s.token("bot", "read")
	s.cordon([]int{0}, "run", "--", "true")
	count := func() int {
		var log struct{ Events []json.RawMessage }
		s.parse(s.cordon([]int{0}, "journal", "--json").out, &log)
		return len(log.Events)
	}
	known, id := count(), ""
	stream := s.follow(secret, "", false)
	for range known {
		id = stream.next()["id"]
	}
	s.follow(secret, id, false)
	files, err := filepath.Glob(s.place("state/cordon/*/journal.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(bytes.TrimSpace(text), '\n') + 1
	copy(text[last:], "x")
	if err := os.WriteFile(files[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.cordon([]int{0}, "journal", "repair", "--yes")
	for count() <= known {
		s.cordon([]int{0}, "run", "--", "true")
	}
	if got := s.events(secret, id, false); got.StatusCode != 410 {
		t.Error(got.Status)
	}
}
