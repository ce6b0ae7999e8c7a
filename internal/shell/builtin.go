package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// runBuiltin runs a builtin of the shell. Those that are programs as well and only
// print or compare (echo, printf, test) are left to the World.
func (m *Machine) runBuiltin(args []string) (flow, bool) {
	name, rest := args[0], args[1:]
	if m.off[name] {
		return flow{}, false
	}
	switch name {
	case ":", "true":
		m.last = Succeeds
	case "false":
		m.last = Fails
	case "cd", "chdir":
		m.last = m.cd(rest)
	case "pushd":
		m.last = m.pushd(rest)
	case "popd":
		m.last = m.popd(rest)
	case "dirs":
		m.Print(m.dir + " " + strings.Join(m.stack, " ") + "\n")
	case "pwd":
		m.last = m.pwd(rest)
	case "eval":
		return m.runText(strings.Join(trimDashes(rest), " ")), true
	case ".", "source":
		return m.runSource(rest), true
	case "exec":
		return m.runExec(rest)
	case "command", "builtin":
		return m.commandBuiltin(name, rest)
	case "exit", "logout":
		m.last = exitStatus(rest, m.last)
		return flow{kind: exits}, true
	case "return":
		if m.calls == 0 { // an error that changes nothing
			m.last = Fails
			return flow{}, true
		}
		m.last = exitStatus(rest, m.last)
		return flow{kind: returns}, true
	case "break", "continue":
		return m.leaveLoop(name, rest), true
	default:
		return flow{}, m.stateBuiltin(name, rest)
	}
	return flow{}, true
}

// leaveLoop is break or continue, which mean nothing outside of a loop.
func (m *Machine) leaveLoop(name string, args []string) flow {
	m.last = Succeeds
	if m.loops == 0 {
		return flow{}
	}
	kind := breaks
	if name == "continue" {
		kind = continues
	}
	return flow{kind, min(count(args), m.loops)}
}

// stateBuiltin runs the builtins that change what the shell remembers.
func (m *Machine) stateBuiltin(name string, rest []string) bool {
	m.last = Succeeds
	switch name {
	case "set":
		m.setBuiltin(rest)
	case "shift":
		m.last = m.shift(rest)
	case "unset":
		m.last = m.unset(rest)
	case "export", "declare", "typeset", "local", "readonly":
		m.declareWords(name, rest)
	case "alias":
		m.defineAliases(rest)
	case "unalias":
		m.unalias(rest)
	case "trap":
		m.trap(rest)
	case "read":
		m.last = m.read(rest)
	case "mapfile", "readarray":
		m.mapfile(rest)
	case "getopts":
		m.last = m.getopts(rest)
	case "let":
		for _, x := range rest {
			m.last = arithmStatus(m.numberOf(x))
		}
	case "shopt":
		m.shopt(rest)
	case "enable":
		m.enable(rest)
	case "complete", "bind":
		m.onKeys(rest)
	case "printf":
		return m.printfTo(rest)
	case "test", "[":
		m.asksFor(rest)
		m.last = Unsure
		return false
	case "hash", "type", "jobs", "bg", "fg", "wait", "disown", "ulimit", "umask", "times", "history", "fc", "compgen", "caller", "suspend", "help", "compopt":
		m.last = Unsure
		return m.runPrinting(name, rest)
	default:
		m.last = Unsure
		return false
	}
	return true
}

// runPrinting are builtins whose output matters only when it is used.
func (m *Machine) runPrinting(name string, rest []string) bool {
	switch name {
	case "fc", "history": // they run or write what nobody knows
		for i, a := range rest {
			if a == "-w" || a == "-a" || a == "-r" || a == "-n" {
				file := m.vars["HISTFILE"].String()
				if i+1 < len(rest) {
					file = rest[i+1]
				}
				if file != "" {
					m.world.Open(m, file, a == "-w" || a == "-a")
				}
			}
		}
		if name == "fc" && len(rest) > 0 {
			m.world.Doubt(m, "a command from the history")
		}
	case "type":
		m.Print(mark.System)
	case "hash", "compgen": // hash -p PATH NAME; compgen -G GLOB
		m.onKeys(rest)
		for _, a := range rest {
			if strings.Contains(a, "/") {
				m.world.Open(m, a, false)
			}
		}
		m.Print(mark.Any)
	default:
		m.Print(mark.Any)
	}
	return true
}

func trimDashes(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

func count(args []string) int {
	if len(args) == 0 {
		return 1
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

func exitStatus(args []string, last Status) Status {
	if len(args) == 0 {
		return last
	}
	if mark.In(args[0]) {
		return Unsure
	}
	return statusOf(strings.Trim(args[0], "0") == "")
}

// runSource runs a file in this shell. A file whose text is not known is the
// project's own script when it is a plain name, and unknown code otherwise.
func (m *Machine) runSource(args []string) flow {
	args = trimDashes(args)
	m.last = Unsure
	if len(args) == 0 {
		return flow{}
	}
	file := m.sought(args[0])
	m.world.Open(m, file, false)
	code, known := m.Descriptor(file)
	if !known {
		code, known = m.world.Text(m, file)
	}
	if !known {
		return flow{}
	}
	params := m.params
	if len(args) > 1 {
		m.params = args[1:]
	}
	m.calls++
	f := m.runText(code)
	m.calls--
	m.params = params
	if f.kind == returns {
		f = flow{}
	}
	return f
}

// sought is the file that source takes: a name without a slash is looked for in
// the PATH first. Where that is, only a PATH of the script's own says.
func (m *Machine) sought(name string) string {
	v, set := m.vars["PATH"]
	if !set || strings.Contains(name, "/") {
		return name
	}
	for _, dir := range strings.Split(v.String(), ":") {
		path := strings.TrimSuffix(dir, "/") + "/" + name
		if dir == "" || strings.HasPrefix(partial.Given("PATH")+":", dir+":") || strings.Contains(partial.Given("PATH")+":", ":"+dir+":") {
			continue
		}
		m.world.Open(m, path, false)
		if _, known := m.world.Text(m, path); known {
			return path
		}
	}
	return name
}

// runExec replaces the shell, or redirects it.
func (m *Machine) runExec(args []string) (flow, bool) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if args[0] == "--" {
			args = args[1:]
			break
		}
		if strings.HasSuffix(args[0], "a") && len(args) > 1 { // -a NAME, or -la NAME
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		m.last = Succeeds
		return flow{}, true
	}
	m.runExternal(args)
	return flow{kind: exits}, true
}

// commandBuiltin runs a command past functions and aliases, or says what it is.
func (m *Machine) commandBuiltin(name string, args []string) (flow, bool) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && (name == "command" || args[0] == "--") {
		flag := args[0]
		args = args[1:]
		if flag == "--" {
			break
		}
		if strings.ContainsAny(flag, "vV") {
			m.describeCommands(args)
			return flow{}, true
		}
	}
	if len(args) == 0 {
		m.last = Succeeds
		return flow{}, true
	}
	return m.runPlain(args), true
}

// describeCommands prints where a command is.
func (m *Machine) describeCommands(args []string) {
	m.last = Unsure
	for _, a := range args {
		if mark.In(a) || strings.Contains(a, "/") {
			m.Print(a + "\n")
			continue
		}
		m.Print("/usr/bin/" + a + "\n")
	}
}

func (m *Machine) setBuiltin(args []string) {
	for i, a := range args {
		if a == "--" || a == "-" || len(a) == 0 || a[0] != '-' && a[0] != '+' {
			if a == "--" || a == "-" {
				i++
			}
			m.params = partial.Repeated(args[i:])
			return
		}
		on := a[0] == '-'
		for _, c := range a[1:] {
			m.switchOption(optionOf(c), on)
		}
		if strings.Contains(a, "o") && i+1 < len(args) {
			m.switchOption(args[i+1], on)
			if len(args) == i+2 {
				return
			}
			m.setBuiltin(args[i+2:])
			return
		}
	}
}

// optionOf is the name of an option that set knows by a letter.
func optionOf(letter rune) string {
	switch letter {
	case 'P':
		return "physical"
	case 'a':
		return "allexport"
	case 'f':
		return "noglob"
	case 'k':
		return "keyword"
	}
	return ""
}

// switchOption switches an option that matters here.
func (m *Machine) switchOption(option string, on bool) {
	switch option {
	case "physical":
		m.options.physical = on
	case "allexport":
		m.options.export = on
	case "noglob":
		m.options.noglob = on
	case "keyword":
		m.world.Doubt(m, "set -k, which treats words as assignments")
	}
}

func (m *Machine) shopt(args []string) {
	on := true
	if !slices.Contains(args, "-s") && !slices.Contains(args, "-u") {
		m.last = Unsure // a question
		m.Print(mark.Any)
		return
	}
	for _, a := range args {
		switch a {
		case "-u":
			on = false
		case "globstar":
			m.options.globstar = on
		case "nullglob":
			m.options.nullglob = on
		case "dotglob":
			m.options.dotglob = on
		case "lastpipe":
			m.options.lastpipe = on
		case "cdable_vars":
			m.options.vars = on
		case "nocasematch", "xpg_echo":
			if on {
				m.world.Doubt(m, "the option "+a+", which changes the meaning of later text")
			}
		case "physical", "allexport", "noglob":
			m.switchOption(a, on)
		}
	}
}

// unset forgets variables, elements and functions.
func (m *Machine) unset(args []string) Status {
	functions, variables := false, false
	status := Succeeds
	for _, a := range args {
		switch a {
		case "-f":
			functions = true
		case "-v", "-n":
			variables = true
		case "--":
		default:
			if !m.unsetOne(a, functions, variables) {
				status = Fails
			}
		}
	}
	return status
}

// unsetOne forgets a variable, or the function of that name where there is none.
func (m *Machine) unsetOne(ref string, functions, variables bool) bool {
	name, _, indexed := strings.Cut(ref, "[")
	v, set := m.vars[name]
	if functions || !variables && !(set && v.Declared()) && m.funcs[name] != nil {
		delete(m.funcs, name)
		return true
	}
	if v.ReadOnly {
		return false
	}
	if indexed {
		if p := m.placeNamed(ref); p.subscripted && (v.Kind == expand.Indexed || v.Kind == expand.Associative) {
			m.vars[name] = partial.Without(v, p.key)
			return true
		}
	}
	m.unsetVariable(name)
	return true
}

// declareWords runs a declaration whose words came from expansions.
func (m *Machine) declareWords(name string, words []string) {
	at := attributesOf(name)
	status := Succeeds
	for _, w := range words {
		status = m.declareWord(w, &at, status)
	}
	if m.last = status; at.prints {
		m.last = Unsure
		m.Print(mark.Any)
	}
}

func (m *Machine) defineAliases(args []string) {
	for _, a := range args {
		if name, body, ok := strings.Cut(a, "="); ok {
			m.aliases[name] = body
		} else {
			m.last = Unsure
		}
	}
}

func (m *Machine) unalias(args []string) {
	m.last = Unsure
	for _, a := range args {
		if a == "-a" {
			clear(m.aliases)
		}
		delete(m.aliases, a)
	}
}

// enable loads builtins from a file, and takes them away.
func (m *Machine) enable(args []string) {
	off := maps.Clone(m.off)
	if off == nil {
		off = map[string]bool{}
	}
	disable := false
	for i, a := range args {
		switch {
		case a == "-n":
			disable = true
		case a == "-f" && i+1 < len(args):
			m.world.Open(m, args[i+1], false)
			m.world.Doubt(m, "machine code that the shell loads")
		case a != "" && a[0] != '-':
			off[a] = disable
		}
	}
	m.off = off
}

// onKeys are complete -C and bind -x, which run code on a key.
func (m *Machine) onKeys(args []string) {
	for i, a := range args {
		if a == "-f" && i+1 < len(args) {
			m.world.Open(m, args[i+1], false)
		}
		if (a == "-C" || a == "-x" || a == "-W") && i+1 < len(args) {
			code := args[i+1]
			if a == "-W" { // words, which are expanded
				code = ": \"" + strings.ReplaceAll(code, `"`, `\"`) + "\""
			}
			if _, after, ok := strings.Cut(code, ":"); ok && a == "-x" {
				code = strings.Trim(after, ` "'`)
			}
			m.runLater(code)
		}
	}
}

// printfTo is printf -v; other printfs are the World's.
func (m *Machine) printfTo(args []string) bool {
	if len(args) < 3 || args[0] != "-v" {
		m.last = Unsure
		return false
	}
	value := m.captureOutput(func() { m.runExternal(append([]string{"printf"}, args[2:]...)) })
	m.store(m.placeNamed(args[1]), value)
	m.last = Succeeds
	return true
}
