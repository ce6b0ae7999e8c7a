package main

import (
	"fmt"
	"io"
	"strings"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/terminal"
)

// printStatus prints what became of a worker.
func printStatus(to io.Writer, w *ledger.Worker, status ledger.Status) {
	line := legible.Text(present.StatusLine(to, w, status))
	fmt.Fprintln(to, strings.Replace(line, string(status), terminal.InkFor(to)(string(status)), 1))
}
