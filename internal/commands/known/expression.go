package known

import (
	"slices"

	"cordon/internal/commands"
)

// tests is test and [: the files that it asks about. Its answer is not worked out.
func (g *reading) tests() {
	args := g.call.Args[1:]
	for i, a := range args {
		next := nthOf(args, i+1)
		switch {
		case a == "-a" && i > 0 && args[i-1] != "!":
		case len(a) == 2 && a[0] == '-' && !comparison(next) && next != "" && next != "]":
			g.tested(a, next)
		case (a == "-nt" || a == "-ot" || a == "-ef") && i > 0 && next != "":
			g.path(commands.Read, args[i-1], "operand")
			g.path(commands.Read, next, "operand")
		}
	}
	g.use.Out = ""
}

// tested is one question about a file.
func (g *reading) tested(question, file string) {
	switch question[1] {
	case 'e', 'f', 'd', 'r', 'w', 'x', 's', 'L', 'h', 'b', 'c', 'g', 'G', 'k', 'N', 'O', 'p', 'S', 'u', 'a':
		g.path(commands.Read, file, question)
		g.use.Access[len(g.use.Access)-1].Link = question == "-L" || question == "-h"
	}
}

func comparison(op string) bool {
	return slices.Contains([]string{"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"}, op)
}
