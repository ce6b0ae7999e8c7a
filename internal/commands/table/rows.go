// Package table holds the table of commands, commands.txt, and the one grammar of
// options: it takes an argument vector apart by the row of its command. What
// becomes of the values is the business of packages git, wrap, code and known.
package table

import (
	_ "embed"
	"iter"
	"sort"
	"strings"
	"sync"

	"cordon/internal/commands"
)

// commands is the table of commands. Its first lines explain it.
//
//go:embed commands.txt
var entriesText string

// TableRows goes through the lines of another table: a name and what follows it.
func TableRows(table string) iter.Seq2[string, string] {
	return func(yield func(name, row string) bool) {
		for line := range strings.Lines(table) {
			name, row, ok := strings.Cut(strings.TrimSpace(line), " ")
			if ok && name != "#" && !yield(name, row) {
				return
			}
		}
	}
}

// Row is what is known of one command. commands.txt explains the fields.
type Row struct {
	Name     string // a command, or command and subcommand
	Options  string
	Global   string // options before the subcommand
	Operands string
	When     string
	Style    Style
	Out      string        // what it prints, a word of known/prints.go
	like     string        // everything else is as with this command
	Ask      string        // why a person is asked, whatever the arguments are
	Lang     commands.Lang // the language of the code that it runs
}

// Style is how a command takes its arguments; styles are added up.
type Style int

const (
	gnu       Style = 1 << iota // long options may be abbreviated
	Stop                        // the first operand ends the options
	dash                        // long options have a single dash
	subs                        // the first operand is a subcommand, which may have a row of its own
	equals                      // operands of the form name=value are options without dashes
	plus                        // options may begin with a plus
	System                      // it belongs to the system, not to a project
	Wraps                       // an option that is not known may take the word after it
	Assigns                     // NAME=VALUE words come before the command
	Joined                      // the words make one line of shell
	Lone                        // one word alone is a line of shell, more are a command
	Shelled                     // without a command it runs a shell
	Delayed                     // the command runs later
	Loose                       // an option that is not in the row takes no value of its own
	DashC                       // -c and a line of shell may follow the operands
	Homed                       // the command runs in the home
	AsPackage                   // the command is the name of a package: @scope/name@version
	AsPython                    // the command is a file of Python, or a command
	AsTask                      // the command is environment:command
)

// styleNames are the words for the styles that a row may have, in their order.
const styleNames = "gnu stop dash subs equals plus system wraps assigns joined lone shelled delayed loose dashc homed package python task"

// Lookup finds the row of a command, or of a command and its subcommand. A name
// that stands for another one gets the row of that one.
func Lookup(name string) *Row {
	if r, ok := cachedRows.Load(name); ok {
		return r.(*Row)
	}
	r := read(name)
	if r != nil {
		cachedRows.Store(name, r)
	}
	return r
}

// cachedRows are the rows that were looked up before. Nobody changes them.
var cachedRows sync.Map

// read reads the entry of a command.
func read(name string) *Row {
	at := find(name)
	if nameAt(at) != name {
		return nil
	}
	head, lines, _ := strings.Cut(entriesText[at:], "\n")
	if _, to, ok := strings.Cut(head, " = "); ok {
		return Lookup(to)
	}
	r := &Row{Name: head}
	for strings.HasPrefix(lines, " ") {
		line, rest, _ := strings.Cut(lines, "\n")
		key, value, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
		r.set(key, value)
		lines = rest
	}
	if r.like == "" {
		return r
	}
	like := *Lookup(r.like)
	like.Out = r.Out
	return &like
}

// find returns where the first entry begins whose name is not before another one.
func find(name string) int {
	return sort.Search(len(entriesText), func(i int) bool { return nameAt(entryAt(i)) >= name })
}

// HasSubs reports whether subcommands of a command have entries.
func HasSubs(name string) bool { return strings.HasPrefix(entriesText[find(name+" "):], name+" ") }

// entryAt returns where the entry begins that holds a byte of the table.
func entryAt(i int) int {
	for {
		i = strings.LastIndexByte(entriesText[:i], '\n') + 1
		if i == 0 || entriesText[i] != ' ' && entriesText[i] != '#' {
			return i
		}
		i--
	}
}

// nameAt returns the name of the entry that begins at a place.
func nameAt(at int) string {
	name, _, _ := strings.Cut(entriesText[at:], "\n")
	name, _, _ = strings.Cut(name, " = ")
	return name
}

// set takes one line of an entry. It reports whether there is such a line.
func (r *Row) set(key, value string) bool {
	switch key {
	case "options":
		r.Options = strings.TrimPrefix(r.Options+" "+shared(value), " ")
	case "global":
		r.Global = shared(value)
	case "operands":
		r.Operands = value
	case "when":
		r.When = value
	case "style":
		for word := range strings.FieldsSeq(value) {
			r.Style |= styleOf(word)
		}
	case "prints":
		r.Out = value
	case "like":
		r.like = value
	case "ask":
		r.Ask = value
	case "language":
		r.Lang = commands.Lang(value)
	default:
		return false
	}
	return true
}

// shared puts the options of a group in the place of its name: @git-diff.
func shared(options string) string {
	if !strings.Contains(options, "@") {
		return options
	}
	words := strings.Fields(options)
	for i, w := range words {
		if group := Lookup(w); w[0] == '@' && group != nil {
			words[i] = group.Options
		}
	}
	return strings.Join(words, " ")
}

func styleOf(word string) Style {
	i := 0
	for name := range strings.FieldsSeq(styleNames) {
		if name == word {
			return 1 << i
		}
		i++
	}
	return 0
}

// WrapsCommand reports whether a row's operands end in a command.
func (r *Row) WrapsCommand() bool { return strings.HasSuffix(r.Operands, "command*") }

func RoleOf(kind string) commands.Role {
	switch kind {
	case "write", "out", "writeremote", "writepod", "writeimage":
		return commands.Write
	case "enter":
		return commands.Enter
	case "exec":
		return commands.Execute
	}
	return commands.Read
}
