package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// On a narrow terminal, ls leaves out what is the same for every worker before it cuts
// anything.
func TestSqueezed(t *testing.T) {
	row := func(cells ...string) []string { return cells }
	rows := func() [][]string {
		return [][]string{
			row("WORKER", "STATUS", "AGE", "BASE", "BEHIND", "COMMAND"),
			row("brisk-otter", "merged", "1m", "0123456789", "0", "a long command line"),
			row("calm-crab", "quarantined", "2m", "0123456789", "0", "another one"),
		}
	}
	for _, c := range []struct {
		room int
		want string
	}{
		{200, "WORKER STATUS AGE BASE BEHIND COMMAND"},
		{74, "WORKER STATUS AGE BASE COMMAND"},
		{60, "WORKER STATUS AGE COMMAND"},
		{20, "WORKER STATUS AGE COMMAND"},
	} {
		if got := strings.Join(Squeezed(rows(), c.room)[0], " "); got != c.want {
			t.Errorf("%d columns: %s, want %s", c.room, got, c.want)
		}
	}
	if got := Squeezed(rows()[:2], 20); len(got[0]) != 6 {
		t.Errorf("one worker: %v", got)
	}
}

// States have a colour on a terminal, unless NO_COLOR is set, and nowhere else.
func TestInk(t *testing.T) {
	show := func(noColor string) string {
		t.Setenv("NO_COLOR", noColor)
		t.Setenv("TERM", "xterm")
		ptmx, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer ptmx.Close()
		Table(tty, [][]string{{"brisk-otter", "quarantined", "x"}})
		tty.Close()
		buf := make([]byte, 4096)
		n, _ := ptmx.Read(buf)
		return string(buf[:n])
	}
	if got := show(""); !strings.Contains(got, "\x1b[31mquarantined\x1b[0m  x") {
		t.Errorf("on a terminal: %q", got)
	}
	if got := show("1"); strings.Contains(got, "\x1b") {
		t.Errorf("with NO_COLOR: %q", got)
	}
	os.Unsetenv("NO_COLOR")
	var b bytes.Buffer
	Table(&b, [][]string{{"brisk-otter", "quarantined", "x"}})
	if b.String() != "brisk-otter  quarantined  x\n" {
		t.Errorf("in a pipe: %q", b.String())
	}
}
