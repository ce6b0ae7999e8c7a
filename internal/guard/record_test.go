package guard

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A record that a full disk cut off takes no other with it.
func TestRecordAfterHalfARecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "decisions")
	whole := Record{Time: time.Now().UTC(), Client: "claude", Tool: "Bash", Verdict: Deny}
	for range 2 {
		if err := whole.Append(name); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"time`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := whole.Append(name); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tally, err := ReadRecords(bytes.NewReader(b), nil)
	if err != nil || tally.Calls != 3 || tally.Denied != 3 || tally.Broken != 1 {
		t.Errorf("%+v, %v", tally, err)
	}
}

// A line has at most 4 KB, whatever its texts are made of, and stays JSON.
func TestRecordIsBounded(t *testing.T) {
	for _, text := range []string{"x", "<", "\x01", "\xff", "é", "\u2028", "\U0001F600", "é\xff<"} {
		long := strings.Repeat(text, 1<<16)
		line, err := Record{Time: time.Now(), Client: long, Session: long, Call: long, Event: long, Tool: long, Input: long, Verdict: Allow, Reason: long}.line()
		if err != nil || len(line) > 4<<10 || !utf8.Valid(line) {
			t.Errorf("%q: %d bytes, %v", text, len(line), err)
		}
		var back Record
		if err := json.Unmarshal(line, &back); err != nil || back.Verdict != Allow || !strings.HasSuffix(back.Input, "…") {
			t.Errorf("%q: %v: %s", text, err, line)
		}
	}
	plain := Record{Tool: "Bash", Input: strings.Repeat("x", 200), Verdict: Deny, Reason: "no"}
	line, err := plain.line()
	var back Record
	if err != nil || json.Unmarshal(line, &back) != nil || back != plain {
		t.Errorf("a short one is changed: %s, %v", line, err)
	}
}

// What is only reported is recorded, and is no call.
func TestRecordOfAnEvent(t *testing.T) {
	name := filepath.Join(t.TempDir(), "decisions")
	for _, r := range []Record{{Event: "SessionStart", Verdict: Allow}, {Tool: "Bash", Verdict: Allow}} {
		if err := r.Append(name); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	tally, err := ReadRecords(bytes.NewReader(b), func(Record) { seen++ })
	if err != nil || tally.Calls != 1 || seen != 2 {
		t.Errorf("%+v, %d seen, %v", tally, seen, err)
	}
}

// A decision that is sent is read as it is written, and nothing else is one.
func TestReadRecord(t *testing.T) {
	given := Record{Time: time.Now().UTC(), Client: "claude", Tool: "Bash", Input: "ls", Verdict: Ask, Reason: "x"}
	b, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := ReadRecord(b); err != nil || r != given {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{"", "null", "{}", "[]", `"deny"`, `{"decision":"maybe"}`, `{"decision":"deny","worker":"other"}`, `{"decision":"deny"}{}`, `{"decision":"deny"} x`} {
		if r, err := ReadRecord([]byte(text)); err == nil || r != (Record{}) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}
