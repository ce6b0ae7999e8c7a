package stream_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/client"

	"cordon/internal/agent/clients"
	. "cordon/internal/stream"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// recorded is a real stream and what the hooks of the same run were asked. They come
// from Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0, OpenCode 1.18.33,
// Copilot CLI 1.0.102, Qwen Code 0.24.4 and pi 0.73.1 with a scripted model and a hook that refuses every call that
// has FORBIDDEN in it (exit code 2, a text on stderr). Paths, times, identifiers and
// lists of what the clients have installed were replaced.
type recorded struct {
	name    string
	client  client.Name
	stream  []byte
	decided []Decision
}

func recordings(t testing.TB) []recorded {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 25 {
		t.Fatal("streams are missing", len(files), err)
	}
	var list []recorded
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".jsonl")
		word, _, _ := strings.Cut(name, "_")
		n := client.Name(word)
		if _, err := clients.Of(n); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, recorded{name, n, b, decisions(t, strings.TrimSuffix(f, ".jsonl")+".hooks")})
	}
	return list
}

func decisions(t testing.TB, name string) (list []Decision) {
	t.Helper()
	b, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil // nobody was asked
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var d Decision
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

func recording(t testing.TB, name string) recorded {
	t.Helper()
	for _, r := range recordings(t) {
		if r.name == name {
			return r
		}
	}
	t.Fatalf("there is no stream %s", name)
	return recorded{}
}

// read takes a stream in pieces of a length.
func (r recorded) read(piece int) (human string, items []Item, s Summary) {
	var out bytes.Buffer
	w := NewWriter(clients.Stream(r.client), &out, nil)
	w.OnItem = func(i Item) { items = append(items, i) }
	for b := r.stream; len(b) > 0; {
		n := min(piece, len(b))
		w.Write(b[:n])
		b = b[n:]
	}
	w.Close()
	return out.String(), items, w.Summary()
}

// TestRecorded reads every stream, and compares with what was read before.
func TestRecorded(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			human, items, s := r.read(1 << 20)
			gap, why := Gap(r.client, clients.Stream(r.client), s, r.decided)
			var b strings.Builder
			fmt.Fprintf(&b, "-- transcript --\n%s-- items --\n", human)
			for _, i := range items {
				b.WriteString(itemLine(i) + "\n")
			}
			fmt.Fprintf(&b, "-- summary --\n%s\n-- gap --\n%s\nwhy: %s\n", summaryLine(s), strings.Join(gap, "\n"), why)
			golden(t, "testdata/"+r.name+".golden", b.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is another (-update writes it):\n%s", name, got)
	}
}

func itemLine(i Item) string {
	c := i.Call
	s := fmt.Sprintf("%s %q", i.Kind, Cut(i.Text, 100))
	if i.Kind == Called || i.Kind == Told {
		s += fmt.Sprintf(" call=%s tool=%s input=%q ran=%v ended=%v", c.ID, c.Tool, c.Input, c.Ran, c.Ended)
	}
	if i.Kind == Used {
		s += fmt.Sprintf(" %+v", i.Usage)
	}
	for _, f := range [][2]string{{"session", i.Session}, {"model", i.Model}, {"reason", i.Reason}, {"under", i.Under}} {
		if f[1] != "" {
			s += fmt.Sprintf(" %s=%s", f[0], f[1])
		}
	}
	if i.Failed {
		s += " failed"
	}
	return s
}

func summaryLine(s Summary) string {
	ran, failed := 0, 0
	for _, c := range s.Calls {
		if c.Ran {
			ran++
		}
		if c.Failed {
			failed++
		}
	}
	return fmt.Sprintf("%d calls, %d ran, %d failed, %d lines unknown\nsession %s, model %s\nended: %s, failed %v\nlast: %q\n%+v",
		len(s.Calls), ran, failed, s.Unknown, s.Session, s.Model, s.Reason, s.Failed, s.Last, s.Usage)
}
