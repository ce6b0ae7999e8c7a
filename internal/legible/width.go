package legible

import "strings"

// columns is how many columns of a terminal a rune takes at most. Terminals do not
// agree: what may be wide is taken to be.
func columns(r rune) int {
	switch {
	case r < 0x1100, r > 0x11ff && r < 0x2300, r >= 0x2500 && r < 0x2600:
		return 1
	}
	return 2
}

// fits is how much of a text, in bytes, takes at most so many columns.
func fits(s string, room int) int {
	for i, r := range s {
		if room -= columns(r); room < 0 {
			return i
		}
	}
	return len(s)
}

// Clip shortens a line to so many columns.
func Clip(s string, room int) string {
	if fits(s, room) == len(s) {
		return s
	}
	return s[:fits(s, room-1)] + "…"
}

// leastRoom is what a line is not made narrower than.
const leastRoom = 8

// Wrap breaks a text into lines of at most so many columns, between words where it can.
func Wrap(s string, room int) (lines []string) {
	room = max(room, leastRoom)
	for _, line := range strings.Split(Text(s), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		for {
			n := fits(line, room)
			if n == len(line) {
				lines = append(lines, strings.TrimRight(line, " "))
				break
			}
			if at := strings.LastIndexByte(line[:n+1], ' '); at > 0 && strings.TrimSpace(line[:at]) != "" {
				n = at
			}
			lines = append(lines, strings.TrimRight(line[:n], " "))
			line = strings.TrimLeft(line[n:], " ")
		}
	}
	return lines
}
