package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/agent"
)

// A record is read from where it was at the launch, line by line, and nothing in the
// client's directory is followed or waited for.
func TestConversation(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	record := &agent.Record{Files: []string{"sessions/*.jsonl"}, Quiet: []string{`"meta"`}, Calls: []string{`"call"`}}
	o := &clientSetup{adapter: &agent.Adapter{Record: record}, state: dir}
	at("sessions/earlier.jsonl", `{"call":"of the launch before"}`+"\n")
	if beginConversation(o, false, false) != nil {
		t.Error("a headless client has a stream")
	}
	c := beginConversation(o, true, true)
	looks := func(want agent.Sign) {
		t.Helper()
		if got := c.look(); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	looks(agent.NoSign)
	at("sessions/new.jsonl", `{"meta":1}`+"\n"+`{"pro`)
	looks(agent.NoSign) // a line that is not whole tells nothing yet
	at("sessions/new.jsonl", `mpt":1}`+"\n")
	looks(agent.Prompted)
	looks(agent.NoSign)
	at("sessions/earlier.jsonl", `{"call":"now"}`+"\n")
	looks(agent.CallMade)

	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte(`{"call":1}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "sessions/link.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "sessions/pipe.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	looks(agent.NoSign)
	at("sessions/long.jsonl", strings.Repeat("x", lookRoom))
	looks(agent.Prompted)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	looks(agent.NoSign)
}
