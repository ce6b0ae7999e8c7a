package client

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Decode reads what a client tells its hook. What is not understood for certain
// is an error, which has to be answered with a Denial; members that are not known
// are let pass.
func (d *Dialect) Decode(stdin []byte) (Request, error) {
	r, err := d.decode(stdin)
	if slip := (*SlipError)(nil); errors.As(err, &slip) {
		return Request{}, slip
	}
	if err != nil {
		return Request{}, fmt.Errorf("what %s says is not understood: %w", d.Name, err)
	}
	return r, nil
}

// SlipError is a mistake in a call that the client has passed on well: its agent
// made it, and can make the call again.
type SlipError struct {
	Tool string // "" if the call was not looked into
	Err  error
}

func (e *SlipError) Error() string { return e.Err.Error() }

func (e *SlipError) Unwrap() error { return e.Err }

func (d *Dialect) decode(stdin []byte) (Request, error) {
	v, err := parse(stdin)
	if err != nil {
		return Request{}, err
	}
	r := Request{Client: d.Name}
	for _, part := range []struct {
		key  string
		into *string
	}{{d.Keys.Session, &r.Session}, {d.Keys.Call, &r.Call}, {"cwd", &r.Cwd}} {
		if *part.into, err = v.string(part.key); err != nil {
			return Request{}, err
		}
	}
	if r.Event, r.Word, err = d.happened(v); err != nil || r.Event != PreTool {
		return r, err
	}
	return r, r.call(d, v, stdin)
}

func (d *Dialect) happened(v value) (Event, string, error) {
	if d.Tell != nil {
		e, err := d.Tell(v.has)
		return e, "", err
	}
	word, err := v.string(d.Keys.Event)
	if err != nil {
		return "", "", err
	}
	e, err := d.eventOf(word)
	return e, word, err
}

// call reads the tool call.
func (r *Request) call(d *Dialect, v value, stdin []byte) (err error) {
	if r.Tool, err = v.string(d.Keys.Tool); err != nil {
		return err
	}
	if err := checkName(r.Tool); err != nil {
		return err
	}
	if !path.IsAbs(r.Cwd) || strings.Contains(r.Cwd, "\x00") {
		return fmt.Errorf("%.60q is no directory to start from", r.Cwd)
	}
	input, ok := v.get(d.Keys.Input)
	if !ok {
		return fmt.Errorf("the call of %s has no %s", r.Tool, d.Keys.Input)
	}
	r.Input = stdin[input.from:input.to]
	if err := r.read(d.tool(r.Tool), input); err != nil {
		return &SlipError{r.Tool, err}
	}
	return nil
}

// read takes from the input of a call what its tool does.
func (r *Request) read(t *Tool, input value) (err error) {
	r.Kind = t.Kind
	if input.is == isString {
		if input, err = unwrap(t, input); err != nil {
			return err
		}
	}
	if input.is != isObject {
		return fmt.Errorf("the input of %s is not an object", r.Tool)
	}
	if err := r.collect(t, input); err != nil {
		return fmt.Errorf("%s: %w", r.Tool, err)
	}
	return r.complete()
}

func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("%.60q is no name of a tool", name)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%.60q is no name of a tool", name)
	}
	return nil
}

// unwrap reads an input that comes as text: JSON once more, or a bare patch.
func unwrap(t *Tool, input value) (value, error) {
	if t.Kind == Patch && !strings.HasPrefix(strings.TrimSpace(input.text), "{") {
		return value{is: isObject, members: []member{{"patch", input}}}, nil
	}
	return parse([]byte(input.text))
}

// complete refuses a call that must name something and does not: the client will
// have found it where this package does not look.
func (r *Request) complete() error {
	switch r.Kind {
	case Shell:
		if len(r.Commands) == 0 {
			return fmt.Errorf("%s runs nothing that is known", r.Tool)
		}
	case Read, Write, Edit, Notebook, Patch:
		if len(r.Paths) == 0 {
			return fmt.Errorf("%s names no file", r.Tool)
		}
	}
	if len(r.Paths)+len(r.Commands) > maxFound {
		return fmt.Errorf("%s names too much at once", r.Tool)
	}
	for _, c := range slices.Concat(r.Commands, []string{r.Dir}) {
		if strings.Contains(c, "\x00") {
			return fmt.Errorf("%s runs what no shell can read", r.Tool)
		}
	}
	for _, p := range r.Paths {
		if p.Path == "" || strings.Contains(p.Path, "\x00") {
			return fmt.Errorf("%.60q, which %s names, is no path", p.Path, r.Tool)
		}
	}
	return nil
}
