// Package inline reads code of other languages than the shell's, as an agent
// hands it to an interpreter on a command line or in a here-document, and tells
// which paths it names and which commands it runs.
//
// It is a tolerant abstract interpreter: real tokens of each language, one
// grammar of expressions for all of them, assignments of literals followed in
// order, calls looked up in tables. Text that is only printed, compared or
// stored is text. What it cannot follow becomes a mark (package mark) inside the
// path or the command, and code that hides what it does is called opaque.
//
// It refuses to execute, to open files and to judge: a report lists what the
// code would do, and the guard decides. What the interpreter's own arguments
// mean is the business of the packages below commands.
package inline

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/code"
	"cordon/internal/mark"
)

// Limit is how much code is read, in bytes. More is opaque.
const Limit = 64 << 10

// Report is what code does, as far as it can be followed.
type Report struct {
	Accesses []Access
	Runs     []commands.Run
	Opaque   string // why the code cannot be judged; empty when it can
}

// Access is a path that code names.
type Access struct {
	commands.Access
	Weak bool // used in a way that is not known: it matters only if it leads somewhere forbidden
}

// The bounds of one scan. They are far above what people write by hand.
const (
	maxSteps    = 60_000  // expressions evaluated
	maxDepth    = 64      // expressions, calls and embedded code inside each other
	maxAlts     = 64      // texts that one value can have
	maxReported = 512     // accesses and runs
	maxText     = 4 << 10 // bytes of a text that is put together
	maxItems    = 1024    // items of a list
)

// Scan reads code in a language. Params are the arguments it gets, its own name
// first.
func Scan(lang commands.Lang, code string, params []string) Report {
	rep := &Report{}
	switch {
	case len(code) > Limit:
		rep.Opaque = "the code is too long to read"
		scanGeneric(rep, code[:min(len(code), 8*Limit)])
	case mark.Has(code, mark.Any) && onlyMarks(code):
		rep.Opaque = "the code is not known"
	default:
		scan(rep, lang, code, params, 0)
	}
	return *rep
}

func scan(rep *Report, lang commands.Lang, code string, params []string, depth int) {
	switch lang {
	case commands.Python, commands.JavaScript, commands.Perl, commands.Ruby, commands.Awk:
		newMachine(rep, lang, params, depth).program(code)
	case commands.Shell:
		rep.run(commands.Run{Code: code, Params: params})
	case commands.Sed:
		scanSed(rep, code)
	case commands.SQL:
		scanSQL(rep, code)
	default:
		scanGeneric(rep, code)
	}
}

func scanSed(rep *Report, script string) {
	u := code.SedScript(script)
	for _, a := range u.Access {
		rep.add(Access{Access: a})
	}
	for _, r := range u.Runs {
		rep.run(r)
	}
	for _, f := range u.Findings {
		rep.opaque(f.Reason)
	}
}

// opaque keeps the first reason: it is the one that a person should look at.
func (r *Report) opaque(why string) {
	if r.Opaque == "" {
		r.Opaque = why
	}
}

func (r *Report) add(a Access) {
	if len(r.Accesses) >= maxReported {
		r.opaque("the code names too many paths")
		return
	}
	if !slices.Contains(r.Accesses, a) {
		r.Accesses = append(r.Accesses, a)
	}
}

func (r *Report) run(x commands.Run) {
	if len(r.Runs) >= maxReported {
		r.opaque("the code runs too many commands")
		return
	}
	r.Runs = append(r.Runs, x)
}

func (r *Report) role(role commands.Role, path, why string) {
	r.add(Access{Access: commands.Access{Role: role, Path: path, Why: why}})
}

// onlyMarks reports whether nothing of a code is known.
func onlyMarks(code string) bool {
	return strings.IndexFunc(code, func(c rune) bool { return c > ' ' && c < 0x10FF00 }) < 0
}
