package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/terminal"
)

// The columns of a screen: what a stage or a worker may take, and what is left for its work.
const (
	stageColumns  = 24
	workerColumns = 20
	fewestRows    = 6
)

// Progress draws a plan that runs into as many columns and rows as a screen has. What does not fit
// is counted. paint colours a state.
func Progress(v present.Progress, now time.Time, columns, rows int, paint func(string) string) []string {
	columns, rows = max(columns, 20), max(rows, fewestRows)
	lines := []string{terminal.Clip(headline(v, now), columns)}
	if len(v.Chain) > 0 && rows > fewestRows {
		lines = append(lines, wayLeft(v, columns))
	}
	below := trailer(v, rows)
	room := rows - len(lines) - len(below) - 2 // a blank line, and the heading
	lines = append(lines, "")
	shown := v.Stages
	if len(shown) > room {
		shown = shown[:max(room-1, 1)]
	}
	lines = append(lines, stageTable(shown, now, columns, paint)...)
	if more := v.Stages[len(shown):]; len(more) > 0 {
		lines = append(lines, terminal.Clip("… and "+counted(more), columns))
	}
	for _, l := range below {
		lines = append(lines, terminal.Clip(legible.Line(l), columns))
	}
	return lines
}

// headline says how far the plan is.
func headline(v present.Progress, now time.Time) string {
	text := fmt.Sprintf("%s: %d of %s done", v.Plan, v.Done, terminal.Plural(v.Total, "stage"))
	for _, state := range []string{"running", "needs"} {
		n := 0
		for _, s := range v.Stages {
			if s.State == state {
				n++
			}
		}
		switch {
		case n > 0 && state == "needs":
			text += ", " + needsYou(n)
		case n > 0:
			text += fmt.Sprintf(", %d %s", n, state)
		}
	}
	text += ", began " + terminal.Age(max(now.Sub(v.Opened), 0)) + " ago"
	if v.Cost > 0 {
		text += fmt.Sprintf(", $%.2f", v.Cost)
	}
	return text
}

// wayLeft names the chain that is expected to take longest. Its middle is left out where it is long.
func wayLeft(v present.Progress, columns int) string {
	rest := ""
	if v.Rest > 0 {
		rest = " (about " + terminal.Age(v.Rest) + ")"
	}
	for keep := len(v.Chain); ; keep-- {
		chain := slices.Clone(v.Chain)
		if cut := len(chain) - keep; cut > 0 {
			chain = append(chain[:keep-1:keep-1], fmt.Sprintf("%d more", cut), chain[len(chain)-1])
		}
		line := "critical path: " + strings.Join(chain, " → ") + rest
		if len([]rune(line)) <= columns || keep <= 2 {
			return terminal.Clip(line, columns)
		}
	}
}

// trailer is what goes below the stages: what to type, and what happened last.
func trailer(v present.Progress, rows int) []string {
	if rows < 12 {
		return nil
	}
	lines := v.Lines[max(0, len(v.Lines)-rows/6):]
	if v.Next != "" {
		lines = append([]string{"next: " + v.Next}, lines...)
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// stageTable is a heading and a row for each stage.
func stageTable(stages []present.StageLine, now time.Time, columns int, paint func(string) string) []string {
	rows := [][]string{{"STAGE", "STATE", "TIME", "WORKER", "DOING"}}
	for _, s := range stages {
		rows = append(rows, []string{terminal.Clip(s.ID, stageColumns), s.State, stageTime(s, now), terminal.Clip(s.Worker, workerColumns), legible.Line(s.Doing)})
	}
	widths := make([]int, 4)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	var lines []string
	for _, row := range rows {
		line, used := "", 0
		for i, n := range widths {
			if used+n > columns {
				break
			}
			line += paint(row[i]) + strings.Repeat(" ", n-len([]rune(row[i]))+2)
			used += n + 2
		}
		if room := columns - used; room > 3 {
			line += terminal.Clip(row[4], room)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// stageTime is how long a stage has been in its state, or how long it took.
func stageTime(s present.StageLine, now time.Time) string {
	switch {
	case s.Took > 0:
		return terminal.Age(s.Took)
	case s.Since.IsZero():
		return ""
	}
	return terminal.Age(max(now.Sub(s.Since), 0))
}

// counted says how many stages there are, and in which states.
func counted(stages []present.StageLine) string {
	number, order := map[string]int{}, []string(nil)
	for _, s := range stages {
		if number[s.State] == 0 {
			order = append(order, s.State)
		}
		number[s.State]++
	}
	var parts []string
	for _, state := range order {
		parts = append(parts, fmt.Sprintf("%d %s", number[state], state))
	}
	return fmt.Sprintf("%d more: %s", len(stages), strings.Join(parts, ", "))
}

func needsYou(n int) string {
	if n == 1 {
		return "1 needs you"
	}
	return fmt.Sprintf("%d need you", n)
}
