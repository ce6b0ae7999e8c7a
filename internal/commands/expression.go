package commands

import (
	"strconv"

	"cordon/internal/mark"
)

// tests is test and [: the files that it asks about, and its answer where that
// does not depend on them.
func (g *reading) tests() {
	args := g.call.Args[1:]
	if len(args) > 0 && args[len(args)-1] == "]" {
		args = args[:len(args)-1]
	}
	not, count := false, 0
	status := Unsure
	for len(args) > 0 {
		switch {
		case args[0] == "!" && len(args) > 1 && !comparison(args[1]):
			not = !not
			args = args[1:]
			continue
		case (args[0] == "(" || args[0] == ")" || args[0] == "-a" || args[0] == "-o") && !(len(args) > 1 && comparison(args[1])):
			count++
			args = args[1:]
			continue
		}
		n := 0
		n, status = g.primary(args)
		count++
		args = args[n:]
	}
	switch {
	case count == 0:
		status = Fails
	case count > 1:
		status = Unsure
	}
	g.use.Status = status.reversedIf(not)
	g.use.Out = ""
}

func (s Status) reversedIf(not bool) Status {
	switch {
	case !not || s == Unsure:
		return s
	case s == Fails:
		return Succeeds
	}
	return Fails
}

// primary takes one condition and returns how many words it has.
func (g *reading) primary(args []string) (int, Status) {
	if len(args) >= 3 && comparison(args[1]) {
		switch args[1] {
		case "-nt", "-ot", "-ef":
			g.path(Read, args[0], "operand")
			g.path(Read, args[2], "operand")
			return 3, Unsure
		}
		return 3, compared(args[0], args[1], args[2])
	}
	if len(args) >= 2 && len(args[0]) == 2 && args[0][0] == '-' {
		switch args[0][1] {
		case 'e', 'f', 'd', 'r', 'w', 'x', 's', 'L', 'h', 'b', 'c', 'g', 'G', 'k', 'N', 'O', 'p', 'S', 'u', 'a':
			g.path(Read, args[1], args[0])
			if c := args[0][1]; c == 'L' || c == 'h' {
				g.use.Access[len(g.use.Access)-1].Link = true
			}
			return 2, Unsure
		case 'n':
			return 2, holds(args[1] != "", args[1])
		case 'z':
			return 2, holds(args[1] == "", args[1])
		case 't', 'v', 'o', 'R':
			return 2, Unsure
		}
	}
	return 1, holds(args[0] != "", args[0])
}

func holds(yes bool, values ...string) Status {
	for _, v := range values {
		if mark.In(v) {
			return Unsure
		}
	}
	if yes {
		return Succeeds
	}
	return Fails
}

func comparison(op string) bool {
	switch op {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

func compared(a, op, b string) Status {
	switch op {
	case "=", "==":
		return holds(a == b, a, b)
	case "!=":
		return holds(a != b, a, b)
	case "<":
		return holds(a < b, a, b)
	case ">":
		return holds(a > b, a, b)
	}
	x, err := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	if err != nil || err2 != nil {
		return Unsure
	}
	switch op {
	case "-eq":
		return holds(x == y)
	case "-ne":
		return holds(x != y)
	case "-lt":
		return holds(x < y)
	case "-le":
		return holds(x <= y)
	case "-gt":
		return holds(x > y)
	}
	return holds(x >= y)
}
