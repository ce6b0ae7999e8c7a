package main

import (
	"strconv"
	"strings"
	"testing"
)

// taken is how many columns a line takes on most terminals.
func taken(line string) (n int) {
	for _, r := range line {
		if n++; r >= 0x1100 && r < 0x1160 || r >= 0x2e80 && r < 0xd800 {
			n++
		}
	}
	return n
}

// A question cannot be shown as a line of cordon's: none of its text begins a line,
// neither by itself nor where a narrow terminal would break it.
func TestQuestionsPassForNothingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var script strings.Builder
	for i, pad := range []string{"\u2800", "\u3164", "日", "x", "\u202e\u2066", "\\n", "\u2028", "\u00a0"} {
		script.WriteString(`cordon ask --no-wait "$(printf 'sure` + strconv.Itoa(i) + `?` + strings.Repeat(pad, 150) + `FORGED  merged')" --option "` +
			strings.Repeat("日", 100) + `FORGED" >/dev/null; `)
	}
	run := newConsole(s, nil, "run", "--no-merge", "--", "sh", "-c", script.String())
	run.expect(`asks: sure0\?`)
	run.end(5)
	id := s.only().Worker
	ls := newConsole(s, nil, "ls")
	ls.expect(`cordon answer ` + id)
	ls.end(0)
	inbox := newConsole(s, nil, "inbox")
	inbox.expect(`cordon answer ` + id + ` q8`)
	inbox.end(0)
	show := newConsole(s, nil, "show", id)
	show.expect(`not answered`)
	show.end(0)
	if !strings.Contains(strings.Join(strings.Fields(ls.text()), " "), "(and 7 more: cordon inbox)") {
		t.Errorf("ls does not count the questions: %s", ls.text())
	}
	if n := strings.Count(strings.Join(strings.Fields(inbox.text()), ""), "FORGED"); n != 16 {
		t.Errorf("inbox shows %d texts whole: %s", n, inbox.text())
	}
	if n := strings.Count(run.text(), "\a"); n != 1 {
		t.Errorf("the bell rang %d times for one state", n)
	}
	for _, c := range []*console{run, ls, inbox, show} {
		for line := range strings.SplitSeq(strings.ReplaceAll(c.text(), "\a", ""), "\r\n") {
			ours := !strings.ContainsAny(line, "日?") && !strings.Contains(line, "FORGED") && !strings.Contains(line, "xxx")
			if strings.ContainsAny(line, "\u2800\u3164\u202e\u2066\u2028") || strings.HasPrefix(line, "FORGED") || !ours && taken(line) > 77 {
				t.Errorf("%d columns: %q", taken(line), line)
			}
		}
	}
}
