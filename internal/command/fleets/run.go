package fleets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"cordon/internal/assignment"
	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// Flags are the flags of cordon run that are about fleets.
type Flags struct {
	node  string
	any   bool
	terms string
	trial bool // the terms are those of a trial
}

// Add adds them to the command.
func (f *Flags) Add(to *pflag.FlagSet) {
	to.StringVar(&f.node, "on", "", "run it on the node `NAME` of the fleet; the result is audited, tested and landed here")
	to.BoolVar(&f.any, "fleet", false, "run it on any node of the fleet")
	to.StringVar(&f.terms, "terms", "", "run a stage that the home of a fleet has sealed, from `FILE` (for cordon fleet node)")
}

// maxAssignment bounds the file of a stage.
const maxAssignment = 1 << 20

// Apply puts what the flags say into a request. With --terms, that is all of it.
func (f *Flags) Apply(d *dispatch.Request, args []string) error {
	if f.node == ledger.AnyNode || f.node != "" && f.any {
		return mistake(errors.New("--on NAME or --fleet, not both"))
	}
	if d.Options.On = f.node; f.any {
		d.Options.On = ledger.AnyNode
	}
	switch {
	case f.terms == "" && len(args) == 0:
		return mistake(errors.New("nothing to run: use cordon run CLIENT -- PROMPT, or cordon run -- COMMAND"))
	case f.terms == "":
		return nil
	case len(args) > 0 || d.Options != ledger.Options{} || d.Write != nil || d.MaxWrite != nil || d.Base != "" || d.Target != "" || d.Adopt != "":
		return mistake(errors.New("--terms says everything about the run: name nothing else"))
	}
	text, err := plainfile.ReadLinked(f.terms, maxAssignment)
	if err != nil {
		return mistake(fmt.Errorf("--terms: %w", err))
	}
	a, terms, err := assignment.Open(text)
	if err != nil {
		return mistake(fmt.Errorf("--terms: %w", err))
	}
	d.Command, d.Agent, d.Terms, d.Feedback, d.Signal = a.Command, a.Agent, &terms, a.Feedback, a.Signal
	d.Options.NoMerge, d.Options.Interactive = true, a.Interactive // its home judges it
	if f.trial = a.Trial; f.trial {
		d.Command = []string{"sh", "-c", strings.Join(terms.Policy.Acceptance, " && ")} // for people: the session runs each as the gate does
	}
	return nil
}

// Assigned reports whether the run is one that a home has sealed.
func (f *Flags) Assigned() bool { return f.terms != "" }

// Trial reports whether the acceptance commands of the terms are to test their base, and nothing else is to run.
func (f *Flags) Trial() bool { return f.trial }

func mistake(err error) error { return &fault.MistakeError{Err: err} }
