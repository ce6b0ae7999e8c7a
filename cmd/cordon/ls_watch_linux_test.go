package main

import (
	"slices"
	"strings"
	"testing"
)

// cordon ls --watch shows what changes without being asked, and gives the terminal back. It
// asks git how the commits of its workers stand to the branch once, as long as that stays.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{6}, "run", "--", "sh", "-c", "exit 3")
	s.git("commit", "-q", "--allow-empty", "-m", "the worker is behind now")
	path, log := s.counting()
	cmd := s.command("ls", "--watch")
	cmd.Env = append(slices.Clone(cmd.Env), "PATH="+path)
	c := consoleOf(s, "dumb", cmd, nil)
	c.expect(`\x1b\[\?1049h`)
	c.expect(`NEEDS YOU`)
	c.expect(`failed`)
	id, _ := s.detached("--", "sleep", "600")
	c.expect(`RUNNING`)
	c.expect(id + ` +running`) // stopped before, it would be ready, not interrupted
	s.cordon([]int{0}, "stop", id)
	c.expect(`interrupted`)
	c.send("\x03")
	c.expect(`\x1b\[\?25h\x1b\[\?1049l`)
	c.end(0)
	graphs := slices.DeleteFunc(s.calls(log), func(line string) bool { return !strings.Contains(line, " rev-list ") })
	if len(graphs) != 1 {
		t.Errorf("git was asked for the history %d times, want once:\n%s", len(graphs), strings.Join(graphs, "\n"))
	}
}
