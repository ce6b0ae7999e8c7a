package briefing

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"cordon/internal/policy"
)

// How much of a list is shown, and of one entry. An entry that is longer is left out
// rather than cut: the beginning of a pattern means something else.
const (
	listRoom  = 400
	entryRoom = 100
)

// relative is how an absolute glob of the lease's rules is shown: below the tree, or
// below ~. What lies elsewhere is not.
func (t terms) relative(pattern string) (string, bool) {
	if tail, ok := below(pattern, t.Worktree); ok {
		return tail, true
	}
	if tail, ok := below(pattern, t.Home); ok && t.Home != "/" && tail != "." {
		return "~/" + tail, true
	}
	return "", false
}

// below cuts a directory off a glob that is written below it.
func below(pattern, dir string) (string, bool) {
	tail, ok := strings.CutPrefix(pattern, policy.EscapeGlob(dir))
	switch {
	case ok && tail == "":
		return ".", true
	case ok && tail[0] == '/':
		return tail[1:], true
	}
	return "", false
}

// places are patterns to be shown, and how many may not be.
type places struct {
	shown  []string
	unsaid int
}

func (p *places) add(pattern string, ok bool) {
	if ok {
		p.shown = append(p.shown, pattern)
	} else {
		p.unsaid++
	}
}

func (t terms) places(p places, unsaid string) string {
	switch {
	case p.unsaid == 0 && len(p.shown) == 0:
		return ""
	case p.unsaid == 0:
		return t.list(p.shown)
	case len(p.shown) == 0:
		return unsaid
	}
	return t.list(p.shown) + " and " + unsaid
}

// list shows entries as long as there is room, and counts the others.
func (t terms) list(entries []string) string {
	var shown []string
	room := listRoom
	for _, e := range entries {
		if text := code(e); len(text) <= min(entryRoom, room) && !t.tells(e) {
			shown = append(shown, text)
			room -= len(text) + len(", ")
		}
	}
	left := len(entries) - len(shown)
	switch {
	case left == 0:
		return strings.Join(shown, ", ")
	case len(shown) == 0:
		return fmt.Sprintf("%d entries that are not shown here (`cordon status` has them)", left)
	}
	return fmt.Sprintf("%s and %d more (`cordon status` has them)", strings.Join(shown, ", "), left)
}

// commands shows what the gate runs. A command that names a place of the operator's
// machine is only counted.
func (t terms) commands(lines []string) string {
	var shown []string
	room := listRoom
	for _, line := range lines {
		if text := code(line); len(text) <= room && !t.tells(line) {
			shown = append(shown, text)
			room -= len(text) + len(", ")
		}
	}
	if left := len(lines) - len(shown); left > 0 {
		shown = append(shown, fmt.Sprintf("%d of the operator's that are not shown", left))
	}
	return strings.Join(shown, ", ")
}

// rooted finds an absolute path: a slash that nothing of a relative one precedes.
var rooted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^\pL\pN_.~*?\])}@%+-])/`) })

// tells reports whether a text names a place of the machine.
func (t terms) tells(s string) bool {
	return rooted().MatchString(s) || strings.Contains(s, t.Worktree) || t.Home != "/" && strings.Contains(s, t.Home)
}

// branch shows a branch by its short name, or in other words where that cannot be.
func (t terms) branch(ref, otherwise string) string {
	name := code(strings.TrimPrefix(ref, "refs/heads/"))
	if len(name) > entryRoom || t.tells(ref) {
		return otherwise
	}
	return "the branch " + name
}

// code is a text of somebody else's, on one line, in backticks that it cannot close.
// What cannot be printed becomes ?, which in a pattern stands for it.
func code(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 || strings.TrimSpace(s) == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}
