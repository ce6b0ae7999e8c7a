package present

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"cordon/internal/gate"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/terminal"
	"cordon/internal/worksite"
)

// reasonOf says in a sentence why a worker is in its state.
func Reason(w *ledger.Worker, now worksite.Standing) string {
	if now.Status == ledger.Asking && len(w.Open()) == 0 {
		return "The question is answered; cordon resume continues the worker."
	}
	if half := Because(w, now.Status); half != "" {
		if now.Held && now.Status == ledger.WaitingFor {
			half += "; it " + waitsToLand
		}
		return sentence(string(now.Status) + half)
	}
	switch now.Status {
	case ledger.Leasing:
		return "The lease is sealed; there is no worktree yet."
	case ledger.Ready:
		return "The worktree exists; the command has not run."
	case ledger.Running:
		return runningReason(w)
	case ledger.Lost:
		return "cordon or the machine stopped while the command ran."
	case ledger.Stopped:
		return stoppedReason(w)
	case ledger.Gating:
		return "cordon is auditing the result or taking it through the gate."
	case ledger.NoChange:
		return "The worker changed nothing that could land."
	case ledger.InQuarantine:
		return "The result did not pass."
	case ledger.Finished:
		return finishedReason(w)
	}
	return sentence(string(now.Status))
}

// stoppedReason names whoever stopped the last launch with cordon stop.
func stoppedReason(w *ledger.Worker) string {
	if w.Stop != nil && w.StopSeq > w.StartSeq {
		return sentence("stopped by " + w.Stop.Who)
	}
	return "A person stopped the command."
}

func runningReason(w *ledger.Worker) string {
	if open := w.Open(); len(open) > 0 {
		return sentence("the command runs and asks: " + terminal.Clip(legible.Line(open[0].Text), 90))
	}
	return "The command runs."
}

func finishedReason(w *ledger.Worker) string {
	switch {
	case w.Gate == nil:
		return "The command ended; cordon merge takes the result to the gate."
	case w.Gate.Outcome == gate.Merged:
		return sentence("the result was merged as " + w.Gate.Commit.Short() + ", and " + Branch(w.Gate.Target) + " no longer contains it")
	}
	return "The gate refused the result."
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	s = legible.Line(s)
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") {
		return s
	}
	return s + "."
}

// statusLine is what became of a worker. What a worker asks takes no second line.
func StatusLine(out io.Writer, w *ledger.Worker, status ledger.Status) string {
	line := fmt.Sprintf("%s  %s%s", w.ID, status, Because(w, status))
	if status == ledger.Asking {
		return terminal.Clip(line, terminal.Width(out))
	}
	return line
}
