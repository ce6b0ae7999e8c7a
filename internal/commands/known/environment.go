package known

import (
	_ "embed"
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// variables are the environment variables that a script may set for what it runs.
//
//go:embed variables.txt
var variables string

// addEnvironment adds what the environment makes a command do.
func addEnvironment(u *commands.Use, c commands.Call, name string) {
	if c.Env == nil {
		return
	}
	g := &reading{call: c, Parsed: &table.Parsed{}}
	r := table.Lookup(name)
	plain := argtext.Unversioned(name)
	if r == nil && plain != "" {
		name = plain
		r = table.Lookup(name)
	}
	if r != nil {
		name = r.Name
		g.Parsed = table.Parse(c.Args, r)
	}
	for variable, row := range table.TableRows(variables) {
		value, ok := c.Env(variable)
		if !ok || value == "" {
			continue
		}
		kind, commands, limited := strings.Cut(row, " ")
		if !limited || slices.Contains(strings.Fields(commands), name) {
			g.setting(variable, kind, value)
		}
	}
	u.Access = append(u.Access, g.use.Access...)
	u.Runs = append(u.Runs, g.use.Runs...)
}

// setting does what a variable says.
func (g *reading) setting(name, kind, value string) {
	switch kind {
	case "preload":
		for _, p := range strings.FieldsFunc(value[:min(len(value), 4096)], func(r rune) bool { return r == ':' || r == ' ' }) {
			g.path(commands.Execute, p, name)
		}
	case "tool":
		if strings.Contains(value, "/") || mark.Has(value, mark.Any+mark.Outside) {
			word, _, _ := strings.Cut(value, " ")
			g.path(commands.Execute, word, name)
		}
	case "kept", "settings":
		g.usual(name, kind, value)
	case "words":
		for _, w := range strings.Fields(value) {
			g.value("arg", w, name)
		}
	case "piped":
		if code, ok := strings.CutPrefix(strings.TrimLeft(value, "|"), "-"); ok {
			value = code
		}
		g.value("code", strings.TrimLeft(value, "|"), name)
	case "options":
		g.further(strings.Fields(value))
	case "vim", "luainit":
		g.use.Runs = append(g.use.Runs, commands.Run{Code: value, Lang: commands.Opaque, Why: name})
	default:
		g.value(kind, value, name)
	}
}

// usual is a directory or file that is in the home when nobody says otherwise,
// where the command finds it by itself: saying the same is no news.
func (g *reading) usual(name, kind, value string) {
	role := commands.Read
	if kind == "kept" {
		role = commands.Write
	}
	for _, p := range strings.Split(value, ":") {
		if p == "" || mark.In(p) || argtext.StartsHome(p) || strings.HasPrefix(p, "/home/") || strings.HasPrefix(p, "/root/") || strings.HasPrefix(p, "/Users/") {
			continue
		}
		g.path(role, p, name)
	}
}

// further takes more arguments, after those on the command line, and does what
// the options among them say.
func (g *reading) further(words []string) {
	p := &table.Parsed{Rows: g.Rows, Words: words}
	for p.Step() {
	}
	for _, o := range p.Options {
		if o.Has {
			kind := o.Kind
			if kind == "chdir" {
				kind = "enter"
			}
			g.value(kind, o.Value, o.At)
		}
	}
}
