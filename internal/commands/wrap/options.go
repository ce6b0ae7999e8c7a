package wrap

import (
	"cordon/internal/commands"
	"cordon/internal/commands/table"
)

// Scan reads the options at the head of an argument vector, by the row of a
// command. It stops at the first word that is no option, as every command does
// that runs another one.
func Scan(args []string, command string) *table.Parsed {
	return table.ParseArgs(args, table.Lookup(command), table.Stop|table.Wraps)
}

// scanAll reads options wherever they are, up to --.
func scanAll(args []string, command string) *table.Parsed {
	return table.ParseArgs(args, table.Lookup(command), table.Wraps)
}

// options reads the options of a command that runs others, does what they say
// and returns the words that follow them.
func (w *wrapping) options(args []string, command string) []string {
	s := Scan(args, command)
	w.takeAll(s)
	return s.Operands
}

// takeAll does what options say. Directories come first: what else an option
// names is found from there.
func (w *wrapping) takeAll(s *table.Parsed) {
	w.unsure = w.unsure || s.Unsure
	if s.Crowded {
		w.find(commands.Ask, "it has more options than cordon reads", "")
	}
	for _, first := range [...]bool{true, false} {
		for _, o := range s.Options {
			if first == (o.Kind == "chdir") {
				w.take(o)
			}
		}
	}
}

// take does what one option or operand says.
func (w *wrapping) take(o table.Option) {
	switch o.Kind {
	case "read", "write", "exec":
		w.touch(table.RoleOf(o.Kind), o.Value, o.At)
	case "pipe":
		w.output(o)
	case "chdir":
		w.enter(o.Value, o.At)
	case "code":
		w.codes = append(w.codes, o.Value)
	case "set":
		w.assign(o.Value)
	case "unset":
		w.unset = append(w.unset, o.Value)
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
func (w *wrapping) output(o table.Option) {
	if o.Value != "" && (o.Value[0] == '|' || o.Value[0] == '!') {
		w.codes = append(w.codes, o.Value[1:])
		return
	}
	w.touch(commands.Write, o.Value, o.At)
}
