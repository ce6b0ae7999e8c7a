package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"cordon/internal/legible"
)

// table prints rows in columns as wide as their widest cell; the last column
// takes what the terminal has left.
func Table(w io.Writer, rows [][]string) {
	room := Width(w)
	for _, line := range columns(rows, InkFor(w)) {
		fmt.Fprintln(w, strings.TrimRight(line.left+Clip(line.last, max(room-line.width, 1)), " "))
	}
}

// wrappedTable is a table whose last column goes on below itself where the terminal
// is too narrow.
func WrappedTable(w io.Writer, rows [][]string) {
	for _, line := range columns(rows, InkFor(w)) {
		left := line.left
		for _, part := range legible.Wrap(line.last, Width(w)-line.width) {
			fmt.Fprintln(w, strings.TrimRight(left+part, " "))
			left = strings.Repeat(" ", line.width)
		}
	}
}

// tableLine is a row: all columns but the last, how wide they are, and the last.
type tableLine struct {
	left  string
	width int
	last  string
}

func columns(rows [][]string, paint Ink) (lines []tableLine) {
	widths := widest(rows)
	for _, row := range rows {
		var b strings.Builder
		wide := 0
		for i, cell := range row[:len(row)-1] {
			b.WriteString(paint(cell) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			wide += widths[i] + 2
		}
		lines = append(lines, tableLine{b.String(), wide, row[len(row)-1]})
	}
	return lines
}

// widest makes the cells safe to show, and measures the columns.
func widest(rows [][]string) (widths []int) {
	for _, row := range rows {
		for i := range row {
			row[i] = legible.Text(row[i])
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	return widths
}

// lastRoom is how many columns the last cell of a row should have at least.
const lastRoom = 24

// squeezed leaves out columns with the same value in every row, from the right, while
// the table is too wide for the terminal. The first two and the last stay.
func Squeezed(rows [][]string, room int) [][]string {
	if len(rows) < 3 {
		return rows // one worker: every value is the same in every row
	}
	for i := len(rows[0]) - 2; i > 1; i-- {
		total := lastRoom
		for _, n := range widest(rows)[:len(rows[0])-1] {
			total += n + 2
		}
		if total <= room {
			break
		}
		if uniform(rows[1:], i) {
			for r := range rows {
				rows[r] = append(rows[r][:i:i], rows[r][i+1:]...)
			}
		}
	}
	return rows
}

func uniform(rows [][]string, column int) bool {
	for _, row := range rows {
		if row[column] != rows[0][column] {
			return false
		}
	}
	return true
}
