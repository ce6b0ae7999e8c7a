package wrap

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// makeUse is make. What the makefile of the project does is the project's
// business; what the command line adds to it is read here.
func makeUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	args := append(makeFlags(w.variable("GNUMAKEFLAGS")), makeFlags(w.variable("MAKEFLAGS"))...)
	s := scanAll(append(args, c.Args[1:]...), "make")
	w.takeAll(s)
	if w.none {
		return w.use
	}
	for file := range strings.FieldsSeq(w.variable("MAKEFILES")) {
		w.makefile(file, "MAKEFILES")
	}
	if w.makeOptions(s); !s.Has("-f") {
		w.defaultMakefiles()
	}
	installs := installing(s.Operands)
	for _, word := range s.Operands {
		w.makeWord(word, installs)
	}
	w.use.Out = mark.Any
	return w.use
}

// makeOptions are the options that name makefiles and code.
func (w *wrapping) makeOptions(s *table.Parsed) {
	for _, o := range s.Options {
		switch o.First() {
		case "-f":
			w.makefile(o.Value, "-f")
		case "-E":
			w.makeCode(o.Value, "--eval")
		}
	}
}

// defaultMakefiles are the files that make looks for by itself, which count when
// the same script wrote them.
func (w *wrapping) defaultMakefiles() {
	for _, file := range [...]string{"GNUmakefile", "makefile", "Makefile"} {
		r := w.again("the project's makefile")
		r.File, r.Lang = file, commands.Make
		w.add(r)
	}
}

// makeFlags reads MAKEFLAGS, whose first word may be letters without a dash.
func makeFlags(value string) []string {
	words := strings.Fields(strings.ReplaceAll(value, `\ `, mark.Any))
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, mark.Any, " ")
	}
	if len(words) > 0 && words[0][0] != '-' && !strings.Contains(words[0], "=") {
		words[0] = "-" + words[0]
	}
	return words
}

// makefile is a file that is read and whose recipes run.
func (w *wrapping) makefile(file, why string) {
	if file == "-" || argtext.IsStdin(file) {
		if w.call.Fed {
			w.makeCode(w.call.Stdin, why)
		}
		return
	}
	w.touch(commands.Read, file, why)
	r := w.again(why)
	r.File, r.Lang = file, commands.Make
	if file != "" {
		w.add(r)
	}
}

func (w *wrapping) makeCode(text, why string) {
	for _, run := range Makefile(text) {
		r := w.again(why)
		r.Code, r.Fed = run.Code, true
		w.add(r)
	}
}

func installing(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, "install") && !strings.Contains(word, "=") })
}

// makeWord is a target, or an assignment to a variable of the makefile.
func (w *wrapping) makeWord(word string, installs bool) {
	name, value, assigned := strings.Cut(word, "=")
	if !assigned {
		if argtext.LooksLikePath(word) {
			w.touch(commands.Write, word, "target")
		}
		return
	}
	operator := name
	name = strings.TrimRight(name, ":?+! ")
	switch {
	case strings.HasSuffix(operator, "!"):
		w.recipe(value, name)
	case strings.ContainsAny(value, "$`"):
		w.makeCode(word, name)
		if strings.Contains(value, "$$") || strings.Contains(value, "`") {
			w.recipe(": \""+strings.ReplaceAll(strings.ReplaceAll(value, "$$", "$"), `"`, `\"`)+"\"", name)
		}
	case name == "MAKEFLAGS" || name == "MFLAGS" || name == "GNUMAKEFLAGS":
		s := scanAll(makeFlags(value), "make")
		w.takeAll(s)
		w.makeOptions(s)
	case holdsCommand(name, value):
		w.recipe(value, name)
	default:
		w.makePaths(name, value, installs)
	}
}

// holdsCommand reports whether a variable holds a command by custom, or one that is known.
func holdsCommand(variable, value string) bool {
	name, _, _ := strings.Cut(value, " ")
	name = argtext.CommandName(name)
	return slices.Contains([]string{"SHELL", "MAKE", "CC", "CXX", "LD", "AR"}, variable) || isShell(name) || table.Lookup(name) != nil
}

// upToClose is a text up to the bracket that closes one before it.
func upToClose(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		}
		if depth < 0 {
			return text[:i]
		}
	}
	return text
}

// recipe runs the value of a variable as a recipe would that begins with it.
func (w *wrapping) recipe(value, why string) {
	r := w.again(why)
	r.Code, r.Fed = value, true
	if value != "" {
		w.add(r)
	}
}

// makePaths finds the paths in a variable that lead elsewhere.
func (w *wrapping) makePaths(name, value string, installs bool) {
	switch upper := strings.ToUpper(name); {
	case name == ".SHELLFLAGS":
		w.args(append([]string{"sh"}, append(strings.Fields(value), ":")...), name)
		return
	case upper == "MSG", upper == "MESSAGE", upper == "TITLE", upper == "COMMENT", strings.HasPrefix(upper, "DESC"):
		return
	case strings.Contains(upper, "OUT"), strings.Contains(upper, "DEST"), strings.Contains(upper, "BUILD"), upper == "O", strings.HasSuffix(upper, "BINDIR"):
		installs = true
	}
	role := commands.Read
	if installs {
		role = commands.Write
	}
	for word := range strings.FieldsSeq(value) {
		if flag := strings.TrimLeft(word, "-ILo"); strings.HasPrefix(word, "-") {
			if _, after, ok := strings.Cut(word, "="); ok {
				flag = after
			}
			word = flag
		}
		if argtext.LooksLikePath(word) {
			w.touch(role, word, name)
		}
	}
}
