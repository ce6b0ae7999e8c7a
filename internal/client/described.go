package client

import "strings"

// Described is a call as a person describes it: a tool by the name that any client
// has for it, in capitals or not, and one text, which is the command of a tool that
// runs something, the path of one that names a file, and of no matter to one that
// does neither. A tool that is not known may write what it names.
//
// The first of the dialects judges a tool that none of them knows.
func Described(dialects []*Dialect, name, text, cwd string) (Request, error) {
	if err := checkName(name); err != nil {
		return Request{}, err
	}
	d, t := toolNamed(dialects, name)
	r := Request{Client: d.Name, Event: PreTool, Tool: name, Cwd: cwd}
	if err := r.read(t, t.inputOf(text)); err != nil {
		return Request{}, &SlipError{name, err}
	}
	for i := range r.Paths {
		r.Paths[i].Write = r.Paths[i].Write || t.Kind == Unknown
	}
	return r, nil
}

// toolNamed finds a tool in the tables of all clients.
func toolNamed(dialects []*Dialect, name string) (*Dialect, *Tool) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, d := range dialects {
			for i := range d.Tools {
				if t := &d.Tools[i]; same(t.Name, name) {
					return d, t
				}
			}
		}
	}
	for _, d := range dialects {
		if t := d.tool(name); t.Kind != Unknown {
			return d, t
		}
	}
	return dialects[0], dialects[0].tool(name)
}

// inputOf is an input with one text, in the first member that can hold it.
func (t *Tool) inputOf(text string) value {
	key := ""
	for _, f := range t.fields() {
		if f.role == prose || f.role == dir || f.role == program {
			continue
		}
		if f.role == patch && !strings.Contains(text, "\n") {
			text = patchMarks[1] + " " + text // the file, not what is done to it
		}
		key = f.key
		break
	}
	if t.Kind == Unknown || t.Kind == MCP {
		key = "path"
		if anyWord(t.Name, runningWords[:]) {
			key = "command"
		}
	}
	if key == "" {
		return value{is: isObject}
	}
	return value{is: isObject, members: []member{{key, value{is: isString, text: text}}}}
}
