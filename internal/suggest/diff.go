package suggest

import (
	"fmt"
	"strings"
)

// around is how many unchanged lines are shown around a change.
const around = 3

// maxLines bounds what is compared: a policy is short.
const maxLines = 5000

// Diff writes the difference of two texts as a patch that git apply takes. It is "" where
// they are the same, and where they are too long.
func Diff(name, before, after string, exists bool) string {
	a, b := split(before), split(after)
	if before == after || len(a) > maxLines || len(b) > maxLines {
		return ""
	}
	ops := compare(a, b)
	var out strings.Builder
	from := "a/" + name
	if !exists {
		from = "/dev/null"
	}
	fmt.Fprintf(&out, "--- %s\n+++ b/%s\n", from, name)
	for i := 0; i < len(ops); {
		if ops[i].kind == ' ' {
			i++
			continue
		}
		begin, end := max(i-around, 0), i
		for j := i; j < len(ops) && j <= end+2*around; j++ {
			if ops[j].kind != ' ' {
				end = j
			}
		}
		stop := min(end+around+1, len(ops))
		hunk(&out, ops[begin:stop])
		i = stop
	}
	return out.String()
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// op is one line of a comparison, with the lines before it in both texts.
type op struct {
	kind byte // ' ', '-' or '+'
	text string
	a, b int
}

func hunk(out *strings.Builder, ops []op) {
	olds, news := 0, 0
	for _, o := range ops {
		if o.kind != '+' {
			olds++
		}
		if o.kind != '-' {
			news++
		}
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", start(ops[0].a, olds), olds, start(ops[0].b, news), news)
	for _, o := range ops {
		fmt.Fprintf(out, "%c%s\n", o.kind, o.text)
	}
}

// start is the number of the first line of a hunk: that of the line before an empty one.
func start(before, lines int) int {
	if lines == 0 {
		return before
	}
	return before + 1
}

// compare finds the longest common lines of two texts.
func compare(a, b []string) []op {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var ops []op
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			ops = append(ops, op{' ', a[i], i, j})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || length[i+1][j] >= length[i][j+1]):
			ops = append(ops, op{'-', a[i], i, j})
			i++
		default:
			ops = append(ops, op{'+', b[j], i, j})
			j++
		}
	}
	return ops
}
