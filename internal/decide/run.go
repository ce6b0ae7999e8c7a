package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"cordon/internal/background"
	"cordon/internal/fault"
	"cordon/internal/view"
)

// Outcome is what came of a decision.
type Outcome struct {
	Ended  bool            // false: it is in the journal, and being carried out
	Exit   int             // of its command
	Worker *view.Worker    // as it is then; nil: the command does not say
	Object json.RawMessage // what the command printed
}

// Running is a decision that is being carried out.
type Running struct {
	decision Decision
	taken    chan struct{} // closed when it is in the journal
	ended    chan struct{}
	outcome  Outcome
	err      error
}

// Start starts to carry out a decision about a worker of the repository around dir. Nothing that
// becomes of the caller ends it.
func Start(dir string, d Decision) (*Running, error) {
	if err := Check(d); err != nil {
		return nil, err
	}
	out, err := unnamed()
	if err != nil {
		return nil, err
	}
	heard, report, err := os.Pipe()
	if err != nil {
		out.Close()
		return nil, err
	}
	env := []string{reportVariable + "=3"}
	if d.Face != "" {
		env = append(env, FaceVariable+"="+d.Face)
	}
	p, err := background.Call(append([]string{"-C", dir, "--json"}, Command(d)[1:]...), env, out, report)
	report.Close()
	if err != nil {
		out.Close()
		heard.Close()
		return nil, err
	}
	r := &Running{decision: d, taken: make(chan struct{}), ended: make(chan struct{})}
	go r.hear(heard)
	go r.await(p, out)
	return r, nil
}

// unnamed is a file that only this process and those that it starts have. A pipe would end a
// command that prints after its desk is gone.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "cordon-decision-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// hear waits until the decision is in the journal. A command that ends without one is not heard.
func (r *Running) hear(heard *os.File) {
	defer heard.Close()
	if n, _ := heard.Read(make([]byte, 16)); n > 0 {
		close(r.taken)
	}
}

// await waits for the end of the command.
func (r *Running) await(p *os.Process, out *os.File) {
	defer close(r.ended)
	defer out.Close()
	state, err := p.Wait()
	if err != nil {
		r.err = err
		return
	}
	text, err := io.ReadAll(io.NewSectionReader(out, 0, mostPrinted))
	if err != nil {
		r.err = err
		return
	}
	r.outcome, r.err = read(r.decision.Worker, state.ExitCode(), text)
}

// mostPrinted bounds the object that a command prints.
const mostPrinted = 64 << 20

// Taken waits until the decision is in the journal or its command has ended. Only the second
// has an error.
func (r *Running) Taken(ctx context.Context) (Outcome, error) {
	select {
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	case <-r.ended:
		return r.outcome, r.err
	case <-r.taken:
		return Outcome{}, nil
	}
}

// Done waits until the command has ended. If ctx ends before, the command goes on.
func (r *Running) Done(ctx context.Context) (Outcome, error) {
	select {
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	case <-r.ended:
		return r.outcome, r.err
	}
}

// Run carries out a decision. It returns when the command has ended; for a worker that goes on,
// as soon as the decision is in the journal.
func Run(ctx context.Context, dir string, d Decision) (Outcome, error) {
	r, err := Start(dir, d)
	if err != nil {
		return Outcome{}, err
	}
	if d.Choice == view.ChooseBack || d.Choice == view.ChooseResume || d.Choice == view.ChooseWait {
		return r.Taken(ctx)
	}
	return r.Done(ctx)
}

// The exit codes of commands that refuse.
const (
	exitUsage   = 2
	exitRefused = 3
	exitPerson  = 5
)

// read reads what a command printed.
func read(worker string, code int, text []byte) (Outcome, error) {
	o := Outcome{Ended: true, Exit: code, Object: text}
	var said struct {
		Schema string   `json:"schema"`
		Error  string   `json:"error"`
		Stale  []string `json:"stale"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return o, fmt.Errorf("the command ended with %d and printed no object: %w", code, err)
	}
	if strings.HasPrefix(said.Schema, "cordon.worker/") {
		var one view.OneWorker
		if err := json.Unmarshal(text, &one); err != nil {
			return o, err
		}
		o.Worker = &one.Worker
	}
	if !strings.HasPrefix(said.Schema, "cordon.error/") {
		return o, nil
	}
	err := errors.New(said.Error)
	switch {
	case said.Stale != nil:
		return o, &fault.StaleError{What: worker, Moved: said.Stale}
	case code == exitUsage:
		return o, &fault.MistakeError{Err: err}
	case code == exitRefused:
		return o, &fault.RefusedError{Err: err}
	case code == exitPerson:
		return o, &fault.PersonError{Err: err}
	}
	return o, err
}
