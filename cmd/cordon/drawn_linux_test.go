package main

import (
	"strings"
	"testing"
)

// A program that draws has the screen for itself: what cordon has to say meanwhile comes
// afterwards, in order. What it drew is kept as text that can be read.
func TestDrawing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	script := `printf '\033[?1049h\033[2J\033[H\033[31mhello\033[0m \033[5;3Hthere'; read x; cordon ask 'Which one?' --wait 0s >/dev/null 2>&1; ` +
		`printf '\033[7;1Hasked'; read y; printf '\033[?1049l'; echo over`
	c := newConsole(s, nil, "run", "--no-merge", "-i", "--", "sh", "-c", script)
	c.expect(` running +sh -c [^\r\n]*\r\n`)
	if before := c.text(); strings.Contains(strings.ReplaceAll(before, "\r\n", ""), "\n") {
		t.Errorf("a line does not begin in the first column: %q", before)
	}
	drawn := len(c.text())
	c.expect(`there`)
	id := s.only().Worker
	c.send("\n")
	c.expect(`asked`)
	follow := s.start(nil, "logs", "-f", id)
	follow.await("logs -f shows it", func() bool { return strings.Contains(follow.out.String(), "there") })
	if meanwhile := c.text()[drawn:]; strings.Contains(meanwhile, id) {
		t.Errorf("cordon writes on the screen: %q", meanwhile)
	}
	c.send("\n")
	c.expect(`over\r\n`)
	c.expect(id + ` +asks +q1: Which one\?[^\r\n]*\r\n`)
	c.end(5)
	follow.awaitEnd()
	const want = "hello\n\n  there\n\nasked\nover\n"
	for _, got := range []string{s.cordon([]int{0}, "logs", id).out, follow.out.String()} {
		if plain := strings.ReplaceAll(got, "\n\n", "\n"); plain != strings.ReplaceAll(want, "\n\n", "\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var printed struct{ Text string }
	s.parse(s.cordon([]int{0}, "logs", "--json", id).out, &printed)
	if strings.Contains(printed.Text, "\x1b") || !strings.Contains(printed.Text, "  there\n") {
		t.Errorf("%q", printed.Text)
	}
}
