package commands

// scan reads the options at the head of an argument vector, by the row of a
// command. It stops at the first word that is no option, as every command does
// that runs another one.
func scan(args []string, command string) *parsed {
	return parseArgs(args, lookup(command), stop|wraps)
}

// scanAll reads options wherever they are, up to --.
func scanAll(args []string, command string) *parsed {
	return parseArgs(args, lookup(command), wraps)
}

// options reads the options of a command that runs others, does what they say
// and returns the words that follow them.
func (w *wrapping) options(args []string, command string) []string {
	s := scan(args, command)
	w.takeAll(s)
	return s.operands
}

// takeAll does what options say. Directories come first: what else an option
// names is found from there.
func (w *wrapping) takeAll(s *parsed) {
	w.unsure = w.unsure || s.unsure
	if s.crowded {
		w.find(Ask, "it has more options than anybody reads", "")
	}
	for _, first := range [...]bool{true, false} {
		for _, o := range s.options {
			if first == (o.kind == "chdir") {
				w.take(o)
			}
		}
	}
}

// take does what one option or operand says.
func (w *wrapping) take(o option) {
	switch o.kind {
	case "read", "write", "exec":
		w.touch(roleOf(o.kind), o.value, o.at)
	case "pipe":
		w.output(o)
	case "chdir":
		w.enter(o.value, o.at)
	case "code":
		w.codes = append(w.codes, o.value)
	case "set":
		w.assign(o.value)
	case "unset":
		w.unset = append(w.unset, o.value)
	case "nothing":
		w.none = true
	case "later":
		w.later = true
	case "plain":
		w.plain = true
	case "joined":
		w.joined = true
	default:
		w.resource(o)
	}
}

// output is a file to write to, or a command to pipe to.
func (w *wrapping) output(o option) {
	if o.value != "" && (o.value[0] == '|' || o.value[0] == '!') {
		w.codes = append(w.codes, o.value[1:])
		return
	}
	w.touch(Write, o.value, o.at)
}
