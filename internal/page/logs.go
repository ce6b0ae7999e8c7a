package page

import (
	"bytes"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/screen"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// Printed is something that is kept of what a worker printed.
type Printed struct {
	Open    func(*ledger.Worker) (*os.File, error)
	Marks   func(*ledger.Worker) []screen.Mark // of what was drawn on a terminal; nil: nothing was
	Object  view.Output
	Nothing string // what is said of a worker that has none
}

// Whole prints what there is. The object of --json also has the status, if one is given.
func (p Page) Whole(w *ledger.Worker, kept Printed, status ledger.Status) error {
	shown := view.Printed{Worker: string(w.ID), Status: string(status)}
	f, err := kept.Open(w)
	if os.IsNotExist(err) {
		p.Say("%s %s", w.ID, kept.Nothing)
		if p.JSON {
			kept.Object.Fill(shown)
			return p.Object(kept.Object)
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if p.JSON {
		var b bytes.Buffer
		if err := kept.play(w, &b, f); err != nil {
			return err
		}
		text := b.Bytes()
		shown.Text = strings.ToValidUTF8(string(text), "\ufffd")
		if !utf8.Valid(text) {
			shown.Base64 = text // what was printed, byte for byte
		}
		kept.Object.Fill(shown)
		return p.Object(kept.Object)
	}
	return kept.play(w, terminal.ForScreen(p.Out), f)
}

// play writes what is kept, as text that can be read.
func (k Printed) play(w *ledger.Worker, to io.Writer, f io.Reader) error {
	player := k.Player(w, to)
	if _, err := io.Copy(player, f); err != nil {
		return err
	}
	return player.End()
}

// Player renders what is kept of a worker.
func (k Printed) Player(w *ledger.Worker, to io.Writer) *screen.Player {
	marks := func() []screen.Mark { return nil }
	if k.Marks != nil {
		marks = func() []screen.Mark { return k.Marks(w) }
	}
	return &screen.Player{To: to, Marks: marks}
}

// Decisions prints what a worker's guard decided.
func (p Page) Decisions(w *ledger.Worker, shown *view.Decisions, t guard.Tally) error {
	if p.JSON {
		shown.Tally = *present.GuardView(&t)
		return p.Object(shown)
	}
	if w.Guard != nil && w.Guard.Digest != t.Digest {
		p.Say("%s: the record is not what the journal says it was when the worker ended", w.ID)
	}
	for _, r := range shown.Decisions {
		verdict := r.Verdict
		if r.Warned {
			verdict = "warn"
		}
		p.Print("%s  %-5s  %-14s  %s", r.Time.Local().Format("2006-01-02 15:04:05"), verdict,
			terminal.Clip(legible.Line(r.Tool+r.Event), 14), terminal.Clip(legible.Line(r.Input), 90))
		if r.Reason != "" {
			p.Print("          %s", terminal.Clip(legible.Line(r.Reason), 110))
		}
	}
	p.Say("%s: %s", w.ID, t)
	return nil
}
