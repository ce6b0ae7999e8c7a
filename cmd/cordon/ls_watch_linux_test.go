package main

import "testing"

// cordon ls --watch shows what changes without being asked, and gives the terminal back.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{6}, "run", "--", "sh", "-c", "exit 3")
	c := newConsole(s, nil, "ls", "--watch")
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
}
