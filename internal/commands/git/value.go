package git

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// The kinds of values that git's options, variables and settings have:
//
//	text     not a path
//	read, write, enter, exec   a path, by its role
//	paths    several paths joined with colons, read
//	loose    looked through for paths, which are read
//	code     of the shell
//	pager    code that reads what git prints
//	filter   code that reads what a file holds
//	editor   code that changes a file of git's own
//	switch   a boolean, or code
//	bang     code when it begins with an exclamation mark
//	helper   a credential helper: a name, a path or, after an exclamation mark, code
//	prog     a program, not code
//	trace    a boolean, a descriptor, or a file that is written
//	hooks    a directory of programs
//	from     an address that is read
//	to       an address that is written
//	config   key=value
//	setup    a file of configuration
//	python   code of that language

// value does what a kind says with a value.
func (g *gitCall) value(kind, v, why string) {
	if v == "" {
		return
	}
	switch kind {
	case "read", "write", "enter", "exec", "hooks", "setup":
		g.filePath(kind, v, why)
	case "paths":
		for _, p := range strings.Split(v, ":") {
			g.filePath("read", p, why)
		}
	case "loose":
		for _, p := range argtext.LoosePaths(v) {
			g.path(commands.Read, p, why)
		}
	case "trace":
		if strings.HasPrefix(v, "/") || mark.In(v) {
			g.path(commands.Write, v, why)
		} else if _, p, ok := strings.Cut(v, ":/"); ok && strings.HasPrefix(v, "af_unix:") {
			g.path(commands.Write, "/"+p, why)
		}
	case "from":
		g.address(commands.Read, v, why)
	case "to":
		g.address(commands.Write, v, why)
	case "config":
		key, value, _ := strings.Cut(v, "=")
		g.set(gitSet{key, value, why})
	default:
		g.runs(kind, v, why)
	}
}

// filePath adds an access to a file or directory that an option names.
func (g *gitCall) filePath(kind, v, why string) {
	v = strings.TrimPrefix(v, ":(optional)")
	switch {
	case v == "" || v == "-" || v == "/dev/null":
	case kind == "hooks":
		g.path(commands.Execute, v, why)
	default:
		g.path(table.RoleOf(kind), v, why)
	}
}

// runs adds what a value runs.
func (g *gitCall) runs(kind, v, why string) {
	r := commands.Run{Code: v, Dir: g.dir, Later: true, Why: why}
	switch kind {
	case "code", "switch": // true and false are commands too
	case "pager", "filter":
		r.Fed, r.Stdin = true, mark.Any
	case "editor":
		r.Code, r.Params = v+` "$@"`, []string{"git", mark.Scratch}
	case "bang":
		code, ok := strings.CutPrefix(v, "!")
		if !ok {
			return
		}
		r.Code = code
	case "helper":
		r.Code = helperCode(v)
	case "prog":
		r.Code, r.Args = "", []string{v, mark.Atom}
	case "python":
		r.Lang = commands.Python
	default:
		return
	}
	g.use.Runs = append(g.use.Runs, r)
}

// helperCode is the command that a credential helper stands for.
func helperCode(v string) string {
	if code, ok := strings.CutPrefix(v, "!"); ok {
		return code
	}
	if strings.HasPrefix(v, "/") || mark.In(v) {
		return v
	}
	return "git-credential-" + v
}
