package wrap

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
)

// isShell reports whether a command is a shell whose language is near enough to
// the one that package shell knows.
func isShell(name string) bool {
	return slices.Contains([]string{
		"sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "oksh", "loksh", "pdksh", "lksh", "ash", "fish", "rbash", "yash", "posh", "rzsh",
		"rksh", "csh", "tcsh", "hush", "osh", "oil", "elvish", "xonsh", "nu",
	}, name)
}

// A shellLine is the command line of a shell, taken apart.
type shellLine struct {
	code        bool // -c: the first operand is the program
	stdin       bool // -s: the program is the standard input
	interactive bool
	traced      bool     // -x
	unrun       bool     // -n: the program is read and not run
	inits       []string // files that are run first
	lines       []string // code that is run first
	given       bool     // its program was among the options
	none        bool
	rest        []string
}

func shellUse(name string, c commands.Call) commands.Use {
	w := newWrapping(c)
	line := readShell(name, c.Args[1:])
	if line.none {
		return w.done()
	}
	if line.unrun && !line.interactive && checksOnly(name) {
		if !line.code && !line.stdin && len(line.rest) > 0 {
			w.touch(commands.Read, line.rest[0], "script")
		}
		return w.done()
	}
	w.startup(name, line)
	for _, text := range line.lines {
		w.code(text, "an option")
	}
	switch {
	case line.given:
	case line.code && len(line.rest) > 0:
		r := w.again("-c")
		r.Code, r.Params = line.rest[0], slices.Clone(line.rest[1:])
		if r.Code != "" {
			w.add(r)
		}
	case line.code:
	case line.stdin || len(line.rest) == 0:
		w.input(append([]string{name}, line.rest...))
	case line.rest[0] == "-" || argtext.IsStdin(line.rest[0]) && c.Fed:
		w.input(slices.Clone(line.rest))
	default:
		r := w.again("script")
		r.File, r.Params = line.rest[0], slices.Clone(line.rest)
		w.add(r)
	}
	return w.done()
}

// checksOnly reports whether -n makes a shell read a program without running it,
// however it comes by it.
func checksOnly(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ksh", "mksh", "ash", "zsh"}, name)
}

// startup runs what the variables of the environment and the options make a
// shell run before its program.
func (w *wrapping) startup(name string, line shellLine) {
	files := slices.Clone(line.inits)
	if v := w.variable("BASH_ENV"); v != "" && !line.interactive {
		files = append(files, v)
	}
	if v := w.variable("ENV"); v != "" && name != "zsh" && name != "fish" {
		files = append(files, v)
	}
	if v := w.variable("ZDOTDIR"); v != "" && strings.HasSuffix(name, "zsh") {
		files = append(files, v+"/.zshenv")
	}
	for _, f := range files {
		r := w.again("startup file")
		r.File, r.Params = f, []string{name}
		w.add(r)
	}
	if line.interactive {
		w.code(w.variable("PROMPT_COMMAND"), "PROMPT_COMMAND")
		w.prompt("PS0")
		w.prompt("PS1")
	}
	if line.traced {
		w.prompt("PS4")
	}
}

// prompt expands a prompt, which may hold commands.
func (w *wrapping) prompt(name string) {
	if v := w.variable(name); strings.ContainsAny(v, "$`") {
		w.code(": \""+strings.ReplaceAll(v, `"`, `\"`)+"\"", name)
	}
}

// readShell takes the command line of a shell apart.
func readShell(name string, args []string) shellLine {
	var l shellLine
	fish := name == "fish" || name == "elvish" || name == "xonsh" || name == "nu"
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "-" || word == "--":
			l.rest = args[1:]
			if word == "-" && len(l.rest) == 0 {
				l.stdin = true
			}
			return l
		case len(word) < 2 || word[0] != '-' && word[0] != '+':
			l.rest = args
			return l
		case strings.HasPrefix(word, "--"):
			args = l.long(word, args[1:])
		case fish:
			args = l.fish(word, args[1:])
		default:
			args = l.letters(word, args[1:])
		}
	}
	return l
}

// long takes an option that is a word.
func (l *shellLine) long(word string, rest []string) []string {
	name, value, has := strings.Cut(word, "=")
	takes := false
	switch name {
	case "--rcfile", "--init-file", "--env-config", "--config":
		takes = true
	case "--command", "--commands", "--init-command", "--emulate", "--features", "--profile", "--profile-startup", "--debug", "--debug-output", "--execute":
		takes = true
	case "--version", "--help":
		l.none = true
	}
	if takes && !has && len(rest) > 0 {
		value, rest = rest[0], rest[1:]
	}
	switch name {
	case "--rcfile", "--init-file", "--env-config", "--config":
		l.inits = append(l.inits, value)
	case "--command", "--commands", "--init-command", "--execute":
		l.lines = append(l.lines, value)
	case "--interactive":
		l.interactive = true
	}
	l.given = l.given || name == "--command" || name == "--commands"
	return rest
}

// letters takes a word of single letters. Only -o and -O have a value.
func (l *shellLine) letters(word string, rest []string) []string {
	for i := 1; i < len(word); i++ {
		switch b := word[i]; {
		case b == 'o' || b == 'O' || b == 'A' && word[0] == '+':
			if len(rest) > 0 {
				if rest[0] == "noexec" {
					l.unrun = word[0] == '-'
				}
				rest = rest[1:]
			}
		case word[0] == '+':
			l.unrun = l.unrun && b != 'n'
		case b == 'c':
			l.code = true
		case b == 's':
			l.stdin = true
		case b == 'i':
			l.interactive = true
		case b == 'x' || b == 'X':
			l.traced = true
		case b == 'n':
			l.unrun = true
		}
	}
	return rest
}

// fish takes the letters of the shells where -c has a value of its own.
func (l *shellLine) fish(word string, rest []string) []string {
	for i := 1; i < len(word); i++ {
		switch b := word[i]; b {
		case 'c', 'C', 'd', 'D', 'o', 'f', 'p':
			value := word[i+1:]
			if value == "" && len(rest) > 0 {
				value, rest = rest[0], rest[1:]
			}
			if b == 'c' || b == 'C' {
				l.lines = append(l.lines, value)
				l.given = l.given || b == 'c'
			}
			return rest
		case 'i':
			l.interactive = true
		case 'v':
			l.none = true
		}
	}
	return rest
}

// boxUse is a box of commands: the first operand is the name of one.
func boxUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	rest := c.Args[1:]
	if len(rest) == 0 || !strings.HasPrefix(rest[0], "-") {
		w.args(rest, "applet")
		return w.done()
	}
	if rest[0] == "--install" {
		w.touch(commands.Write, "/usr/bin", "--install")
		w.loosely(rest[1:], false)
	}
	return w.done()
}
