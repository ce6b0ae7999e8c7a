package worksite

import (
	"fmt"

	"cordon/internal/audit"
)

// Shorten is a command in one line, safe for a terminal.
func Shorten(command []string) string {
	text := ""
	for i, word := range command {
		if i > 0 {
			text += " "
		}
		text += word
	}
	return audit.Path(text).String()
}

// Count is a number of things.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// maxReasons bounds what is repeated from the report.
const maxReasons = 20

// Capped shortens a list for the journal; the manifest has all of it.
func Capped(list []string) []string {
	if n := len(list) - maxReasons; n > 0 {
		return append(append([]string{}, list[:maxReasons]...), fmt.Sprintf("and %d more", n))
	}
	return list
}

// ViolationLines lists findings, a line each, and counts those that are too many.
func ViolationLines(found []audit.Finding) []string {
	var list []string
	for i, f := range found {
		if i == maxReasons {
			return append(list, fmt.Sprintf("and %d more", len(found)-i))
		}
		list = append(list, Line(f))
	}
	return list
}

// Line is a finding in one line.
func Line(f audit.Finding) string {
	text := string(f.Kind)
	if f.Path != "" {
		text += " " + f.Path.String()
	}
	if f.Detail != "" {
		text += " (" + f.Detail + ")"
	}
	if f.Source != "" && f.Source != string(f.Kind) {
		text += ", in " + f.Source
	}
	return text + ": " + f.Rule
}

// SayFetching says that the operator's git fetches what a partial clone lacks.
func (s *Site) SayFetching(count int, remote string) {
	s.Voice.Step("", "fetch", fmt.Sprintf("%s that this partial clone lacks, from %s", Count(count, "object"), remote))
}
