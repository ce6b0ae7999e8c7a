package fill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cordon/internal/decide"
	"cordon/internal/deskread"
	"cordon/internal/deskweb"
	"cordon/internal/deskweb/screens"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/view"
)

// face is how the journal names this desk.
const face = "web"

// asked is a decision as package decide has it.
func asked(d deskweb.Decision) decide.Decision {
	return decide.Decision{
		Worker: d.Worker, Choice: d.Choice, Seen: d.Seen, Face: face, Question: d.Question, Text: d.Text, Reason: d.Reason,
		Roots: d.Roots, Repeated: d.Repeated, Accepts: d.Accepts, Comments: d.Comments,
	}
}

// Preview is the command line of a decision. One that is not complete has none yet.
func (f *Source) Preview(d deskweb.Decision) (string, error) {
	if err := decide.Check(asked(d)); err != nil {
		return "", refusal(err)
	}
	return decide.Line(decide.Command(asked(d))), nil
}

// Decide carries out a decision, unless a worker runs that could use this page as the operator.
func (f *Source) Decide(ctx context.Context, d deskweb.Decision) (string, error) {
	if err := f.writable(); err != nil {
		return "", err
	}
	o, err := decide.Run(ctx, f.s.Host.Top, asked(d))
	if err != nil {
		return "", refusal(err)
	}
	if !o.Ended {
		return d.Worker + ": it is in the journal, and being carried out.", nil
	}
	return f.standing(ctx, d.Worker)
}

// standing is how a worker stands, in a sentence.
func (f *Source) standing(ctx context.Context, name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.s.Find(name)
	if err != nil {
		return "", err
	}
	standings, err := f.s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return "", err
	}
	v := present.WorkerView(f.s, w, standings[w.ID])
	return fmt.Sprintf("%s is %s: %s", name, v.Status, v.Reason), nil
}

// writable refuses to act for the page while a worker runs that could use it as the operator.
func (f *Source) writable() error {
	if f.how.Trust {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	free, err := deskread.Unconfined(f.s)
	if err != nil || len(free) == 0 {
		return err
	}
	text := fmt.Sprintf("the desk is read-only while a worker without a cell runs (%s): use the terminal", strings.Join(free, ", "))
	return &deskweb.RefusalError{Code: http.StatusForbidden, Text: text}
}

// refusal is an error with the status that the page is told.
func refusal(err error) error {
	told := &deskweb.RefusalError{Code: http.StatusInternalServerError, Text: err.Error()}
	if stale, ok := errors.AsType[*fault.StaleError](err); ok {
		told.Code, told.Moved = http.StatusConflict, stale.Moved
	} else if _, ok := errors.AsType[*fault.MistakeError](err); ok {
		told.Code = http.StatusBadRequest
	} else if _, ok := errors.AsType[*fault.RefusedError](err); ok {
		told.Code = http.StatusUnprocessableEntity
	} else if _, ok := errors.AsType[*fault.PersonError](err); ok {
		told.Code = http.StatusUnprocessableEntity
	}
	return told
}

// forms are what the page asks for each choice. Nothing is chosen beforehand.
func forms(c view.Review) (list []screens.Form) {
	for _, choice := range c.Choices {
		form := screens.Form{Choice: choice, Key: keyOf[choice.Name]}
		switch {
		case choice.Name == view.ChooseRelease:
			form.Widen = roots(choice)
		case choice.Name == view.ChooseAnswer && len(c.Questions) > 0:
			form.Question = &c.Questions[0]
		}
		list = append(list, form)
	}
	return list
}

// keyOf is the key that chooses; it never decides.
var keyOf = map[string]string{
	view.ChooseAnswer: "a", view.ChooseMerge: "m", view.ChooseInside: "l", view.ChooseWait: "w", view.ChooseRelease: "r",
	view.ChooseBack: "s", view.ChooseResume: "e", view.ChooseRetry: "t", view.ChooseStop: "x", view.ChooseDiscard: "D",
}

// roots are the paths that a release can add to the lease, each by its name.
func roots(c view.Choice) (list []screens.Root) {
	for _, path := range c.Roots {
		list = append(list, screens.Root{Path: string(path), Grave: decide.MustRepeat(string(path))})
	}
	return list
}
