package page

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// boardGroup is one of the tables of the board.
type boardGroup struct {
	heading []string
	rows    [][]string // of name, state, age, task; then what goes below where it is narrow
}

// Boards prints workers in groups, those of several repositories one after the other.
func (p Page) Boards(workers []view.Worker, earlier bool) (hidden int) {
	for len(workers) > 0 {
		repo := workers[0].Repository
		n := slices.IndexFunc(workers, func(v view.Worker) bool { return v.Repository != repo })
		if n < 0 {
			n = len(workers)
		}
		if repo != "" {
			p.Print("%s", repo)
		}
		hidden += p.Board(workers[:n], earlier, time.Now())
		workers = workers[n:]
		if len(workers) > 0 {
			p.Print("")
		}
	}
	return hidden
}

// Board prints who needs a person, who is at work, and what landed today. Everything that
// landed before or is over is shown where earlier says so; it returns how many are not.
func (p Page) Board(workers []view.Worker, earlier bool, now time.Time) (hidden int) {
	sorted := slices.Clone(workers)
	slices.SortStableFunc(sorted, urgentFirst)
	groups := []boardGroup{
		{heading: []string{"NEEDS YOU", "STATE", "AGE", "TASK", "WHY", "NEXT"}},
		{heading: []string{"RUNNING", "STATE", "HEARD", "TASK", "ACTIVITY"}},
		{heading: []string{"LANDED TODAY", "STATE", "AGE", "TASK", "RESULT"}},
		{heading: []string{"EARLIER", "STATE", "AGE", "TASK", "RESULT"}},
	}
	for _, w := range sorted {
		at := groupNumber(w, now)
		if at == 3 && !earlier {
			hidden++
			continue
		}
		groups[at].rows = append(groups[at].rows, boardRow(w, at, now))
	}
	first := true
	for _, g := range groups {
		if len(g.rows) == 0 {
			continue
		}
		if !first {
			fmt.Fprintln(p.Out)
		}
		first = false
		p.group(g)
	}
	return hidden
}

// urgentFirst puts workers that wait for an answer first, and then the latest.
func urgentFirst(a, b view.Worker) int {
	asks := func(w view.Worker) bool { return w.Group == view.NeedsYou && present.Doing(w) == string(ledger.Asking) }
	switch {
	case asks(a) != asks(b) && asks(a):
		return -1
	case asks(a) != asks(b):
		return 1
	}
	return b.Since.Compare(a.Since)
}

func groupNumber(w view.Worker, now time.Time) int {
	switch w.Group {
	case view.NeedsYou:
		return 0
	case view.AtWork:
		return 1
	case view.Landed:
		y, m, d := now.Local().Date()
		if ty, tm, td := w.Since.Local().Date(); y == ty && m == tm && d == td {
			return 2
		}
	}
	return 3
}

// taskColumns is how much of a task a list shows: enough to tell it from others.
const taskColumns = 72

func boardRow(w view.Worker, group int, now time.Time) []string {
	w.Title = terminal.Clip(w.Title, taskColumns)
	age := terminal.Age(now.Sub(w.Since))
	switch group {
	case 0:
		next := ""
		if len(w.Next) > 0 {
			next = w.Next[0]
		}
		return []string{w.ID, present.Doing(w), age, w.Title, present.Why(w), next}
	case 1:
		return []string{w.ID, present.Doing(w), terminal.Age(now.Sub(w.LastSign)), w.Title, w.Activity}
	}
	return []string{w.ID, w.Status, age, w.Title, present.Why(w)}
}

// group prints a group as a table, or, where the terminal is too narrow for that, with
// what does not fit below each worker. Nothing is cut.
func (p Page) group(g boardGroup) {
	rows := append([][]string{g.heading}, g.rows...)
	widths := make([]int, len(g.heading))
	for _, row := range rows {
		for i := range row {
			row[i] = legible.Line(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	total := 0
	for _, n := range widths {
		total += n + 2
	}
	if room := terminal.Width(p.Out); total-2 > room {
		p.stacked(rows, widths, room)
		return
	}
	terminal.Table(p.Out, rows)
}

// inRow is how many columns of a worker stay beside each other.
const inRow = 3

func (p Page) stacked(rows [][]string, widths []int, room int) {
	paint := terminal.InkFor(p.Out)
	for r, row := range rows {
		var b strings.Builder
		used := 0
		for i, cell := range row[:inRow] {
			b.WriteString(paint(cell) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			used += widths[i] + 2
		}
		left := b.String()
		for _, part := range legible.Wrap(row[inRow], max(room-used, 20)) {
			fmt.Fprintln(p.Out, strings.TrimRight(left+part, " "))
			left = strings.Repeat(" ", used)
		}
		if r == 0 {
			continue // the heading
		}
		for _, cell := range row[inRow+1:] {
			for _, part := range legible.Wrap(cell, max(room-2, 20)) {
				if part != "" {
					fmt.Fprintln(p.Out, "  "+part)
				}
			}
		}
	}
}
