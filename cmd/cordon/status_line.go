package main

import (
	"fmt"
	"strings"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/terminal"
)

// printStatus prints what became of a worker.
func (a *app) printStatus(w *ledger.Worker, status ledger.Status) {
	line := legible.Text(present.StatusLine(a.out, w, status))
	fmt.Fprintln(a.out, strings.Replace(line, string(status), terminal.InkFor(a.out)(string(status)), 1))
}
