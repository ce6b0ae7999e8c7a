package inline

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// argumentUse is what a function that functions.txt does not list does with its
// arguments, as far as its name tells.
type argumentUse uint8

const (
	unknownUse argumentUse = iota // a path among its arguments may be opened
	says                          // prints, compares or stores them
	holds                         // gives them back, or something made of them
	measures                      // gives a number, a date or a hash
)

// callUnlisted evaluates a call of a function that functions.txt does not list.
// Functions among the arguments run. Arguments that look like paths are reported
// as weak unless the function is known to handle data.
func (m *machine) callUnlisted(callee value, args []arg) value {
	if v, ok := m.callBySend(callee, args); ok {
		return v
	}
	last := lastName(callee.name)
	if last == "partial" && len(args) > 1 && m.depth < maxDepth && m.step() {
		m.depth++
		defer func() { m.depth-- }()
		return m.call(args[0].v, args[1:])
	}
	given := m.runCallbacks(callee, args)
	if r := callee.recv; r != nil && len(r.of) > 0 && inSet("rereads", last) {
		return value{shape: text, alts: []string{mark.Any}, of: r.of}
	}
	switch m.useOfArguments(callee, args) {
	case says:
		m.addHintsTo(callee.recv, args)
		if last == "urlopen" {
			return value{of: []string{mark.Any}}
		}
	case holds:
		m.addHintsTo(callee.recv, args)
		return m.heldBy(callee, args, given)
	case measures:
		return number(mark.Atom)
	default:
		m.reportArguments(callee, args)
	}
	if r := callee.recv; r != nil {
		if r.shape == text && r.path {
			return *r
		}
		return value{hints: r.hints}
	}
	return value{}
}

// callBySend is File.send(:write, …) of Ruby and its like: a call by a name.
func (m *machine) callBySend(callee value, args []arg) (value, bool) {
	switch lastName(callee.name) {
	case "send", "public_send", "__send__", "method":
	default:
		return value{}, false
	}
	if m.lang != commands.Ruby || callee.recv == nil || len(args) == 0 || m.depth >= maxDepth || !m.step() {
		return value{}, false
	}
	s, ok := args[0].v.known()
	if !ok {
		if r := callee.recv; r.shape == named && inSet("file-modules", r.name) {
			m.rep.opaque("the code calls a function by an unknown name")
		}
		return value{}, false
	}
	f := m.memberNamed(*callee.recv, s)
	if lastName(callee.name) == "method" {
		return f, true
	}
	m.depth++
	defer func() { m.depth-- }()
	return m.call(f, args[1:]), true
}

// heldBy is the result of a function that hands on its arguments.
func (m *machine) heldBy(callee value, args []arg, given value) value {
	v := value{}
	if given.shape == text {
		v = given
	}
	if callee.recv != nil {
		v = withHints(v, value{hints: callee.recv.hints})
	}
	for _, a := range args {
		v = withHints(v, a.v)
		if s, ok := a.v.known(); ok && (lastName(callee.name) == "loads" || lastName(callee.name) == "parse") {
			parts := strings.SplitN(s, `"`, 8*maxAlts)
			v = withHints(v, literals(parts)...)
		}
	}
	return v
}

// reportArguments reports the paths among the arguments of a function whose use
// of them is not known.
func (m *machine) reportArguments(callee value, args []arg) {
	for _, a := range args {
		switch {
		case inSet("data-arguments", a.name):
		case a.v.shape == list && hasPart(lastName(callee.name), runningParts):
			for _, x := range a.v.items[:min(len(a.v.items), maxAlts)] {
				m.reportWeak(x, callee.name)
			}
		case a.v.shape == dict && a.name == "":
			for i, k := range a.v.keys[:min(len(a.v.keys), maxAlts)] {
				if s, ok := k.known(); ok && hasPart(s, pathParts) {
					m.reportWeak(a.v.items[i], callee.name)
				}
			}
		default:
			m.reportWeak(a.v, callee.name)
		}
	}
	if callee.recv != nil && callee.recv.path {
		m.reportWeak(*callee.recv, callee.name)
	}
}

// The parts of names that tell what is behind them: an option that holds a path,
// a function that runs the list it gets, a function that takes a file.
const (
	pathParts    = "cwd dir root path file prefix dest output target entry config source src out"
	runningParts = "run main call exec spawn popen invoke command cmd process shell open read write remove delete copy glob"
	fileParts    = "file open path dir exec system spawn fork"
)

func hasPart(name, parts string) bool {
	name = strings.ToLower(name)
	for part := range strings.FieldsSeq(parts) {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// useOfArguments tells what a function does with its arguments by its name.
func (m *machine) useOfArguments(callee value, args []arg) argumentUse {
	name := callee.name
	last := lastName(name)
	if fetchesFile(last, args) {
		return unknownUse
	}
	if onlySays(name, last) {
		return says
	}
	switch last {
	case "execute", "executemany", "executescript", "exec_driver_sql", "query", "prepare":
		if len(args) > 0 && args[0].v.shape == text && !pathLike(firstText(args[0].v)) {
			for _, s := range args[0].v.alts {
				sqlText(m.rep, s)
			}
			return says
		}
	}
	head, _, dotted := strings.Cut(name, ".")
	dotted = dotted && !hasPart(last, fileParts)
	record := slices.Contains(m.classes, name) && m.findFunction("__init__") == nil && m.findFunction("constructor") == nil && m.findFunction("initialize") == nil
	switch {
	case inSet("measures", last):
		return measures
	case inSet("holds", last) || record || callee.recv != nil && inSet("keeps", last):
		return holds
	case dotted && inSet("measuring-modules", head):
		return measures
	case dotted && inSet("holding-modules", head):
		return holds
	}
	return unknownUse
}

// onlySays reports whether a function prints, compares or stores its arguments and
// does nothing else.
func onlySays(name, last string) bool {
	head, _, _ := strings.Cut(name, ".")
	return strings.HasSuffix(last, "Error") || strings.HasSuffix(last, "Exception") || strings.HasPrefix(last, "assert") ||
		strings.HasPrefix(last, "print") || inSet("says", last) || inSet("saying-modules", head)
}

// fetchesFile reports whether a function that fetches is given a file.
func fetchesFile(last string, args []arg) bool {
	switch last {
	case "urlopen", "fetch", "Request", "URL", "get", "open_uri", "parse":
		for _, v := range values(args) {
			if _, ok := fileURL(firstText(v)); ok && v.shape == text {
				return true
			}
		}
	}
	return false
}
