package client

import "strings"

// Described is a call as a person describes it: a tool by the name that any client
// has for it, in capitals or not, and one text, which is the command of a tool that
// runs something, the path of one that names a file, and of no matter to one that
// does neither. A tool that is not known may write what it names.
func Described(name, text, cwd string) (Request, error) {
	if err := checkName(name); err != nil {
		return Request{}, err
	}
	n, t := toolNamed(name)
	r := Request{Client: n, Event: PreTool, Tool: name, Cwd: cwd}
	if err := r.read(t, t.inputOf(text)); err != nil {
		return Request{}, &SlipError{name, err}
	}
	for i := range r.Paths {
		r.Paths[i].Write = r.Paths[i].Write || t.kind == Unknown
	}
	return r, nil
}

// toolNamed finds a tool in the tables of all clients.
func toolNamed(name string) (Name, *tool) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, n := range Names() {
			for _, t := range toolsOf(n) {
				if same(t.name, name) {
					return n, &t
				}
			}
		}
	}
	for _, n := range Names() {
		if t := toolOf(n, name); t.kind != Unknown {
			return n, t
		}
	}
	return Claude, toolOf(Claude, name)
}

// inputOf is an input with one text, in the first member that can hold it.
func (t *tool) inputOf(text string) value {
	key := ""
	for _, f := range t.fields {
		if f.role == prose || f.role == dir || f.role == program {
			continue
		}
		if f.role == patch && !strings.Contains(text, "\n") {
			text = patchMarks[1] + " " + text // the file, not what is done to it
		}
		key = f.key
		break
	}
	if t.kind == Unknown || t.kind == MCP {
		key = "path"
		if anyWord(t.name, runningWords[:]) {
			key = "command"
		}
	}
	if key == "" {
		return value{is: isObject}
	}
	return value{is: isObject, members: []member{{key, value{is: isString, text: text}}}}
}
