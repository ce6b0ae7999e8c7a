package main

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cordon/internal/egress/record"
	"cordon/internal/policy"
	"cordon/internal/present"
	"cordon/internal/view"
)

func TestReachedLine(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for want, r := range map[string]view.Attempt{
		"refuse  telemetry.example:443                     curl[12]":                       {Kind: string(record.Connect), Name: "telemetry.example", Port: 443, Verdict: string(record.Refused), Process: "curl[12]"},
		"refuse  telemetry.example                                         name ×3":        {Kind: string(record.Resolve), Name: "telemetry.example", Verdict: string(record.Refused), Count: 3},
		"allow   x.wild.example                                            name looked up": {Kind: string(record.Resolve), Name: "x.wild.example", Verdict: string(record.Allowed)},
		"refuse  [2001:db8::1]:80                                          packet":         {Kind: string(record.Packet), Address: "2001:db8::1", Port: 80, Verdict: string(record.Refused)},
		"fail    192.0.2.1:80": {Kind: string(record.Connect), Address: "192.0.2.1", Port: 80, Verdict: string(record.Failed)},
		"end     a.example:443 192.0.2.1                                   10 B sent, 2 KiB received, 1.5s": {Kind: string(record.End), Name: "a.example", Address: "192.0.2.1", Port: 443, Verdict: string(record.Allowed), Sent: 10, Received: 2048, Millis: 1500},
		"refuse  ^[[31m": {Kind: string(record.Resolve + "x"), Name: "\x1b[31m", Verdict: string(record.Refused)},
	} {
		r.Time = at
		if got := present.ReachedLines(r, math.MaxInt)[0]; got != "2026-01-02 03:04:05  "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// On a terminal it fits, and what matters is in it.
func TestReachedLinesNarrow(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	refused := view.Attempt{
		Time: at, Kind: string(record.Connect), Name: "telemetry.example.net", Port: 443, Verdict: string(record.Refused), Process: "curl[12345]",
		Reason: strings.Repeat("why not ", 20), Various: true,
	}
	end := view.Attempt{Time: at, Kind: string(record.End), Name: strings.Repeat("long.", 20) + "example", Address: "192.0.2.1", Port: 443,
		Verdict: string(record.Allowed), Sent: 900 << 20, Received: 900 << 20, Millis: 99_999}
	for _, room := range []int{40, 80, 100, 129, 130} {
		for _, line := range append(present.ReachedLines(refused, room), present.ReachedLines(end, room)...) {
			if n := utf8.RuneCountInString(line); n > room {
				t.Errorf("%d columns in %d: %q", n, room, line)
			}
		}
	}
	if got, want := present.ReachedLines(refused, 80)[0], "03:04:05  refuse  telemetry.example.net:443     curl[123…"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := strings.Join(present.ReachedLines(refused, 80)[1:], "\n"); !strings.HasPrefix(got, "          at first: why not why") || strings.Count(got, "why") != 13 {
		t.Errorf("%q", got)
	}
	if got := present.ReachedLines(end, 80)[0]; !strings.Contains(got, "900.0 MiB out") {
		t.Errorf("%q", got)
	}
	if got := present.ReachedLines(end, 100)[0]; !strings.Contains(got, "long.long.long.long.long.long.") {
		t.Errorf("%q does not use the room", got)
	}
}

// What a worker may reach is shown whole, over as many lines as it takes.
func TestWrapped(t *testing.T) {
	text := "a.example, " + strings.Repeat("x", 30) + ", b.example and host port 1"
	got := present.Wrapped(text, 20)
	if strings.Join(got, " ") != text || len(got) != 4 || got[3] != "and host port 1" && got[2] != "b.example and host" {
		t.Errorf("%q", got)
	}
	if present.Wrapped("", 20) != nil {
		t.Error("nothing is a line")
	}
}

// What is suggested can be pasted into a policy, whatever YAML thinks of it.
func TestYAMLWord(t *testing.T) {
	for _, entry := range []string{"a.example", "*.a.example:8443", "10.1.0.0/16:5432", "[2001:db8::1]:443", "192.0.2.1:99", "@npm"} {
		p, err := policy.Parse("suggested", []byte("version: 1\nnetwork:\n  allowed_domains:\n    - "+record.Quoted(entry)+"\n"))
		if err != nil || len(p.Network.AllowedDomains) != 1 || p.Network.AllowedDomains[0] != entry {
			t.Errorf("%s as %s: %q %v", entry, record.Quoted(entry), p.Network.AllowedDomains, err)
		}
	}
	if record.Quoted("a.example") != "a.example" {
		t.Error("what needs no quotes has some")
	}
}
