package present

import (
	"fmt"
	"strings"

	"cordon/internal/ledger"
	"cordon/internal/legible"
)

// shownLines is how much of the end of a failing command's output is shown.
const shownLines = 30

// FailedOutput is the acceptance command that failed and the end of its output. The output is
// a worker's: each line of it is marked, so that none looks like one of cordon's.
func FailedOutput(w *ledger.Worker) []string {
	if w.Gate == nil {
		return nil
	}
	for _, c := range w.Gate.Checks {
		if c.Code == 0 {
			continue
		}
		list := []string{fmt.Sprintf("failed    %q %s", c.Command, c.How())}
		lines := strings.Split(strings.TrimRight(legible.Text(c.Output), "\n"), "\n")
		if skip := len(lines) - shownLines; skip > 0 {
			lines = lines[skip:]
		}
		for _, line := range lines {
			if strings.TrimSpace(c.Output) != "" {
				list = append(list, "        | "+line)
			}
		}
		return list
	}
	return nil
}
