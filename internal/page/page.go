// Package page prints what a command shows of one thing: an audit, the decision of a guard,
// the chores of gc, the questions of workers. It prints for a person, or one JSON object.
//
// It refuses to look anything up, to change anything and to choose an exit code: commands do
// that. Package present says what is shown of a thing, package view holds the objects, and
// package terminal lays text out.
package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"cordon/internal/legible"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// Page is where a command prints.
type Page struct {
	Out, Err io.Writer
	JSON     bool // one object on Out, and nothing else there
}

// Say tells a person something; data goes elsewhere. Words of a worker's may be in it.
func (p Page) Say(format string, args ...any) {
	fmt.Fprint(p.Err, legible.Text(fmt.Sprintf(format, args...)), terminal.LineEnd(p.Err))
}

// Print writes data as lines for a person. Words of a worker's may be in it.
func (p Page) Print(format string, args ...any) {
	fmt.Fprintln(p.Out, legible.Text(fmt.Sprintf(format, args...)))
}

// Object prints the one object of a --json call.
func (p Page) Object(o view.Object) error {
	text, err := view.Encode(o)
	if err != nil {
		return err
	}
	return p.Raw(text)
}

// Line prints an object on one line, for streams.
func (p Page) Line(o view.Object) error {
	text, err := view.Encode(o)
	if err != nil {
		return err
	}
	var one bytes.Buffer
	if err := json.Compact(&one, text); err != nil {
		return err
	}
	return p.Raw(one.Bytes())
}

// Raw prints a JSON text. It may hold a worker's words: what would act on a terminal is
// an escape in it.
func (p Page) Raw(text []byte) error {
	_, err := fmt.Fprintf(p.Out, "%s\n", bytes.TrimSuffix(legible.JSON(text), []byte("\n")))
	return err
}
