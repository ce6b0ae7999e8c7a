package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// Makefile returns what the text of a makefile runs: its recipes, and what it
// has the shell do while it is read. Rules are not followed: every recipe counts.
func Makefile(text string) []commands.Run {
	f := makefile{values: map[string]string{}}
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.SplitSeq(text, "\n") {
		if len(f.runs) >= MaxRuns {
			f.runs = append(f.runs, commands.Run{Code: mark.Any, Why: "a makefile that is too long"})
			break
		}
		f.line(line)
	}
	return f.runs
}

type makefile struct {
	values map[string]string
	runs   []commands.Run
}

func (f *makefile) run(code, why string) {
	if code = strings.TrimLeft(code, "\t @-+"); code != "" {
		f.runs = append(f.runs, commands.Run{Code: code, Fed: true, Why: why})
	}
}

// line is a recipe, an assignment, or a rule that may have a recipe after ;.
func (f *makefile) line(line string) {
	if strings.HasPrefix(line, "\t") {
		f.run(f.expand(line, 0), "recipe")
		return
	}
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || trimmed[0] == '#' {
		return
	}
	if word, files, ok := strings.Cut(trimmed, " "); ok && strings.TrimLeft(word, "-s") == "include" {
		f.run("cat "+f.expand(files, 0), "include")
		return
	}
	equals, colon := strings.IndexByte(trimmed, '='), strings.IndexByte(trimmed, ':')
	if equals > 0 && (colon < 0 || colon > equals || strings.Trim(trimmed[colon:equals], ":") == "") {
		f.assign(trimmed[:equals], strings.TrimSpace(trimmed[equals+1:]))
		return
	}
	if semicolon := strings.IndexByte(trimmed, ';'); colon >= 0 && semicolon > colon {
		f.expand(trimmed[:semicolon], 0)
		f.run(f.expand(trimmed[semicolon+1:], 0), "recipe")
		return
	}
	f.expand(trimmed, 0)
}

// assign keeps a variable. The shell of the recipes is itself a command.
func (f *makefile) assign(name, value string) {
	shell := strings.HasSuffix(name, "!")
	name = strings.TrimSpace(strings.TrimRight(name, ":?+! "))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "export "), "override ")
	expanded := f.expand(value, 0)
	switch {
	case shell:
		f.run(expanded, name)
		expanded = mark.Any
	case name == "SHELL":
		f.run(expanded, name)
	}
	f.values[name] = expanded
}

const (
	maxExpand    = 8       // variables inside of variables
	unknownMaker = "maker" // stands for a program that a makefile does not name
)

// expand replaces what make replaces. Files of a rule are files of the tree.
func (f *makefile) expand(text string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() < maxText; i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch ch := text[i]; ch {
		case '$':
			b.WriteByte('$')
		case '(', '{':
			inner := upToClose(text[i+1:])
			i += len(inner) + 1
			b.WriteString(f.reference(inner, depth, strings.TrimLeft(b.String(), "\t @-+") == ""))
		case '@', '<', '^', '+', '?', '*', '%', '|':
			b.WriteString(mark.Inside)
		default:
			b.WriteString(f.values[string(ch)])
		}
	}
	return b.String()
}

// reference is what stands between $( and ): a variable, or a call.
func (f *makefile) reference(inner string, depth int, first bool) string {
	if depth > maxExpand {
		return mark.Any
	}
	name, args, call := strings.Cut(inner, " ")
	switch {
	case call && name == "shell":
		f.run(f.expand(args, depth+1), "$(shell)")
		return mark.Any
	case call && name == "file":
		file, _, _ := strings.Cut(f.expand(args, depth+1), ",")
		name := strings.TrimLeft(file, "<>")
		f.run(": "+file[:len(file)-len(name)]+" "+strings.TrimSpace(name), "$(file)")
		return mark.Any
	case call && name == "wildcard":
		return args
	case call:
		f.expand(args, depth+1)
		return mark.Any
	case strings.ContainsAny(inner, "@<^*%") && len(inner) < 4:
		return mark.Inside
	case inner == "CURDIR" || inner == "PWD":
		return "."
	}
	if value, ok := f.values[inner]; ok {
		return value
	}
	if first {
		return unknownMaker
	}
	return mark.Atom
}
