package commands

import (
	_ "embed"
	"iter"
	"sort"
	"strings"
	"sync"
)

// commands is the table of commands. Its first lines explain it.
//
//go:embed commands.txt
var entriesText string

// tableRows goes through the lines of another table: a name and what follows it.
func tableRows(table string) iter.Seq2[string, string] {
	return func(yield func(name, row string) bool) {
		for line := range strings.Lines(table) {
			name, row, ok := strings.Cut(strings.TrimSpace(line), " ")
			if ok && name != "#" && !yield(name, row) {
				return
			}
		}
	}
}

// row is what is known of one command. commands.txt explains the fields.
type row struct {
	name     string // a command, or command and subcommand
	options  string
	global   string // options before the subcommand
	operands string
	when     string
	style    style
	out      string // what it prints, a word of prints.go
	like     string // everything else is as with this command
	ask      string // why a person is asked, whatever the arguments are
	lang     Lang   // the language of the code that it runs
}

// style is how a command takes its arguments; styles are added up.
type style int

const (
	gnu       style = 1 << iota // long options may be abbreviated
	stop                        // the first operand ends the options
	dash                        // long options have a single dash
	subs                        // the first operand is a subcommand, which may have a row of its own
	equals                      // operands of the form name=value are options without dashes
	plus                        // options may begin with a plus
	system                      // it belongs to the system, not to a project
	wraps                       // an option that is not known may take the word after it
	assigns                     // NAME=VALUE words come before the command
	joined                      // the words make one line of shell
	lone                        // one word alone is a line of shell, more are a command
	shelled                     // without a command it runs a shell
	delayed                     // the command runs later
	loose                       // an option that is not in the row takes no value of its own
	dashC                       // -c and a line of shell may follow the operands
	homed                       // the command runs in the home
	asPackage                   // the command is the name of a package: @scope/name@version
	asPython                    // the command is a file of Python, or a command
	asTask                      // the command is environment:command
)

// styleNames are the words for the styles that a row may have, in their order.
const styleNames = "gnu stop dash subs equals plus system wraps assigns joined lone shelled delayed loose dashc homed package python task"

// lookup finds the row of a command, or of a command and its subcommand. A name
// that stands for another one gets the row of that one.
func lookup(name string) *row {
	if r, ok := cachedRows.Load(name); ok {
		return r.(*row)
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
func read(name string) *row {
	at := find(name)
	if nameAt(at) != name {
		return nil
	}
	head, lines, _ := strings.Cut(entriesText[at:], "\n")
	if _, to, ok := strings.Cut(head, " = "); ok {
		return lookup(to)
	}
	r := &row{name: head}
	for strings.HasPrefix(lines, " ") {
		line, rest, _ := strings.Cut(lines, "\n")
		key, value, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
		r.set(key, value)
		lines = rest
	}
	if r.like == "" {
		return r
	}
	like := *lookup(r.like)
	like.out = r.out
	return &like
}

// find returns where the first entry begins whose name is not before another one.
func find(name string) int {
	return sort.Search(len(entriesText), func(i int) bool { return nameAt(entryAt(i)) >= name })
}

// hasSubs reports whether subcommands of a command have entries.
func hasSubs(name string) bool { return strings.HasPrefix(entriesText[find(name+" "):], name+" ") }

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
func (r *row) set(key, value string) bool {
	switch key {
	case "options":
		r.options = strings.TrimPrefix(r.options+" "+shared(value), " ")
	case "global":
		r.global = shared(value)
	case "operands":
		r.operands = value
	case "when":
		r.when = value
	case "style":
		for word := range strings.FieldsSeq(value) {
			r.style |= styleOf(word)
		}
	case "prints":
		r.out = value
	case "like":
		r.like = value
	case "ask":
		r.ask = value
	case "language":
		r.lang = Lang(value)
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
		if group := lookup(w); w[0] == '@' && group != nil {
			words[i] = group.options
		}
	}
	return strings.Join(words, " ")
}

func styleOf(word string) style {
	i := 0
	for name := range strings.FieldsSeq(styleNames) {
		if name == word {
			return 1 << i
		}
		i++
	}
	return 0
}

// wrapsCommand reports whether a row's operands end in a command.
func (r *row) wrapsCommand() bool { return strings.HasSuffix(r.operands, "command*") }

func roleOf(kind string) Role {
	switch kind {
	case "write", "out", "writeremote", "writepod", "writeimage":
		return Write
	case "enter":
		return Enter
	case "exec":
		return Execute
	}
	return Read
}
