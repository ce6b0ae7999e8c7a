package guard

import (
	"maps"
	"path"
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/known"
	"cordon/internal/commands/wrap"
	"cordon/internal/inline"
	"cordon/internal/mark"
	"cordon/internal/shell"
)

// Exec implements shell.World: one program with its arguments.
func (j *judge) Exec(m *shell.Machine, args []string) shell.Status {
	j.at = m.Dir()
	j.acts()
	name := args[0]
	if name == "" {
		return shell.Fails
	}
	if mark.In(name) && !knownBase(name) {
		j.doubt(m, "run "+shown(strings.Join(args, " "))+", and its command is not known", "write the name of the command literally")
		m.Print(mark.Any)
		return shell.Unsure
	}
	if strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/dev/fd/") {
		j.doubt(m, "run "+shown(name)+", which changes the program for every user", "write the name of the program")
	}
	if argv, ok := j.foundInPath(m, args); ok {
		j.runs(m, commands.Run{Args: argv}, name)
		return shell.Unsure
	}
	if strings.Contains(name, "/") {
		j.access(m, commands.Access{Role: commands.Execute, Path: name}, "")
		if argv, ok := j.written(m, args); ok {
			j.runs(m, commands.Run{Args: argv}, name)
			return shell.Unsure
		}
	}
	j.environment(m)
	stdin, fed := m.Stdin()
	use := known.Of(commands.Call{Args: args, Stdin: stdin, Fed: fed, Env: m.Exported, Text: func(p string) (string, bool) { return j.textOf(m, p) }})
	j.use(m, args, use)
	if changes(use) {
		j.acted = true
		j.built = j.built || !filesOnly(path.Base(name))
	}
	m.Print(j.printed(m, use))
	return shell.Unsure
}

// written is how a file that the script wrote itself is run: by the interpreter
// that it names.
func (j *judge) written(m *shell.Machine, args []string) ([]string, bool) {
	w := j.resolve(m.Dir(), args[0])
	text, ok := j.texts[w.path]
	if !ok || w.unknown {
		return nil, false
	}
	argv := []string{"bash"}
	if line, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(line, "#!") && len(strings.Fields(line[2:])) > 0 {
		argv = strings.Fields(line[2:])
	}
	return append(argv, args...), true
}

// filesOnly reports whether a command that writes makes and removes no directory.
func filesOnly(name string) bool {
	return slices.Contains([]string{"touch", "tee", "sed", "awk", "truncate", "chmod", "chown", "dd", "gofmt", "perl", "patch", "sponge"}, name)
}

// changes reports whether a call may change what is on the disk.
func changes(use commands.Use) bool {
	return !use.Known || len(use.Runs) > 0 || len(use.Effects) > 0 ||
		slices.ContainsFunc(use.Access, func(a commands.Access) bool { return a.Role == commands.Write })
}

// textOf is what is known of the text behind a name that a command is given.
func (j *judge) textOf(m *shell.Machine, p string) (string, bool) {
	if text, ok := m.Descriptor(p); ok && p != "-" {
		return text, true
	}
	return j.Text(m, home(p, j.scope.Home))
}

// foundInPath is how a file that the script wrote itself is run when the script
// put its directory into PATH.
func (j *judge) foundInPath(m *shell.Machine, args []string) ([]string, bool) {
	list, ok := m.Exported("PATH")
	if !ok || len(j.texts) == 0 || strings.Contains(args[0], "/") {
		return nil, false
	}
	for _, dir := range strings.Split(list, ":") {
		if argv, ok := j.written(m, append([]string{orDot(dir) + "/" + args[0]}, args[1:]...)); ok {
			return argv, true
		}
	}
	return nil, false
}

// knownBase is an installed program whose directory is not known: its name is.
func knownBase(name string) bool {
	i := strings.LastIndexByte(name, '/')
	return i >= 0 && !mark.In(name[i+1:]) && !mark.Has(name, mark.Any)
}

// use judges everything that a call does.
func (j *judge) use(m *shell.Machine, args []string, use commands.Use) {
	does := path.Base(args[0])
	if len(use.Access) == 0 && len(use.Runs) == 0 {
		j.step(Step{Line: m.Line(), Dir: shown(m.Dir()), Does: shown(strings.Join(args, " ")), Verdict: Allow})
	}
	for _, a := range use.Access {
		j.access(m, a, does)
	}
	for _, f := range use.Findings {
		j.finding(m, f, args)
	}
	for i, g := range use.Git {
		if g.Kind == commands.GitGrows && i > 0 && use.Git[i-1].Kind == commands.GitFetches {
			continue // a pull: what comes in is not the worker's
		}
		j.git(m, g, args)
	}
	for _, r := range use.Runs {
		j.runs(m, r, does)
	}
	for _, e := range use.Effects {
		j.effect(m, e)
	}
}

func (j *judge) finding(m *shell.Machine, f commands.Finding, args []string) {
	if j.scope.Private && (f.Reason == commands.ChangesHooks || j.scope.Confined && f.Reason == commands.InstallsForUser) {
		return // a private repository, and a home whose changes stay in the cell
	}
	v := Ask
	if f.Weight == commands.Deny {
		v = Deny
	}
	line := "run " + shown(strings.Join(args, " "))
	j.step(Step{Line: m.Line(), Dir: shown(m.Dir()), Does: line, Verdict: v, Why: f.Reason})
	j.find(finding{verdict: v, reason: f.Reason, tried: line, instead: f.Instead})
}

// maxNested bounds programs that start programs.
const maxNested = 24

// runs judges what a command runs.
func (j *judge) runs(m *shell.Machine, r commands.Run, does string) {
	j.depth++
	defer func() { j.depth-- }()
	if j.depth > maxNested {
		j.doubt(m, "nest commands inside commands too deeply", "write the command out")
		return
	}
	fromInput := r.Why == "standard input"
	if fromInput && r.Lang != commands.Shell && r.Code == mark.Any && m.Scripted() {
		return
	}
	c := shell.Child{Script: fromInput && r.Lang == commands.Shell, Env: r.Env, Unset: r.Unset, Clean: r.Clean, Stdin: r.Stdin, Fed: r.Fed, Params: r.Params}
	if r.Dir != "" {
		c.Dir = j.directory(m.Dir(), r.Dir)
		j.access(m, commands.Access{Role: commands.Enter, Path: r.Dir}, does)
	}
	if src := m.Source(); src != "" && r.Code == mark.Any {
		r.Code, r.File = "", src // a program that is read from a file, as good as its name
	}
	switch {
	case len(r.Args) > 0:
		m.Args(r.Args, c)
	case r.File != "":
		j.file(m, r, c, does)
	default:
		j.code(m, r, c, does)
	}
	j.at = m.Dir()
}

// file judges a program in a file. A script of the project is not followed; one
// that this very command wrote is.
func (j *judge) file(m *shell.Machine, r commands.Run, c shell.Child, does string) {
	text, known := m.Descriptor(r.File)
	if !known || r.File == "-" && !r.Fed {
		j.access(m, commands.Access{Role: commands.Execute, Path: r.File, Dir: r.Dir}, does)
		w := j.resolve(j.directory(m.Dir(), orDot(r.Dir)), home(r.File, j.scope.Home))
		text, known = j.texts[w.path]
		if w.unknown {
			return
		}
	}
	if known {
		r.Code, r.File = text, ""
		j.code(m, r, c, does)
	}
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// code judges a program's text.
func (j *judge) code(m *shell.Machine, r commands.Run, c shell.Child, does string) {
	if r.Lang == commands.Shell {
		m.Code(r.Code, c)
		return
	}
	if r.Lang == commands.Make {
		for _, n := range wrap.Makefile(r.Code) {
			if n.Dir == "" {
				n.Dir = r.Dir
			}
			j.runs(m, n, does)
		}
		return
	}
	if mark.Has(r.Code, mark.Any) {
		j.doubt(m, "run "+string(r.Lang)+" code that is not known ("+shown(does)+")", "write the code literally, or put it into a file of your worktree and run that")
		return
	}
	rep := inline.Scan(r.Lang, r.Code, r.Params)
	for _, a := range rep.Accesses {
		if r.Dir != "" && a.Dir == "" {
			a.Dir = r.Dir
		}
		if a.Weak && !j.forbidden(m, a.Access) {
			continue
		}
		j.access(m, a.Access, does)
	}
	for _, n := range rep.Runs {
		if n.Dir == "" {
			n.Dir = r.Dir
		}
		j.runs(m, n, does)
	}
	if rep.Opaque != "" {
		j.opaque(m, rep.Opaque, does)
	}
}

// forbidden reports whether a text that may be a path leads to a place that is
// known to be someone else's.
func (j *judge) forbidden(m *shell.Machine, a commands.Access) bool {
	w := j.resolve(j.directory(m.Dir(), orDot(a.Dir)), home(a.Path, j.scope.Home))
	switch j.placeOf(w) {
	case Host, Sibling, Home, State:
		return !w.unknown || w.path != ""
	}
	return w.outside
}

// opaque answers for code that cannot be judged, by the policy's word.
func (j *judge) opaque(m *shell.Machine, why, does string) {
	f := answer(j.scope.Guard.Opaque(j.scope.Confined), "the code cannot be judged: "+why,
		"write the code without hiding what it does, or put it into a file of your worktree and run that")
	f.tried = "run inline code (" + shown(does) + ")"
	j.step(Step{Line: m.Line(), Dir: shown(m.Dir()), Does: f.tried, Verdict: f.verdict, Why: f.reason})
	if f.verdict != Allow {
		j.find(f)
	}
}

// effect remembers what a command leaves behind.
func (j *judge) effect(m *shell.Machine, e commands.Effect) {
	dir := m.Dir()
	if e.Dir != "" {
		dir = j.directory(dir, e.Dir)
	}
	if e.Gone {
		j.removed(dir, e.Path)
		return
	}
	if j.directoryAt(dir, e.Path) {
		return // what is made is in it, and told of too
	}
	if e.Link != "" {
		j.made(dir, e)
		return
	}
	w := j.resolve(dir, home(e.Path, j.scope.Home))
	if e.From == "" {
		j.keep(w, e.Text, e.Add)
		return
	}
	if at, ok := j.linkAt(dir, e.From); ok {
		to, _ := j.link(at)
		j.made(dir, commands.Effect{Path: e.Path, Link: to})
		return
	}
	from := j.resolve(dir, home(e.From, j.scope.Home))
	for at, text := range maps.Clone(j.texts) {
		if rest, below := strings.CutPrefix(at, from.path); below && (rest == "" || rest[0] == '/') {
			j.keep(where{path: w.path + rest, unknown: w.unknown}, text, e.Add)
		}
	}
}

// removed forgets what was at a path.
func (j *judge) removed(dir, p string) {
	if at, ok := j.unfollowed(dir, home(p, j.scope.Home)); ok {
		j.links[at] = notLink
		delete(j.texts, at)
	}
}

// directoryAt reports whether a path is a directory of the disk, and no link.
func (j *judge) directoryAt(dir, p string) bool {
	at, ok := j.unfollowed(dir, home(p, j.scope.Home))
	if !ok || mark.In(at) {
		return false
	}
	if _, link := j.link(at); link {
		return false
	}
	_, err := j.List(at)
	return err == nil
}

// made remembers a link: where it is is resolved but for its own name.
func (j *judge) made(dir string, e commands.Effect) {
	if at, ok := j.unfollowed(dir, e.Path); ok {
		j.links[at] = home(e.Link, j.scope.Home)
	}
}

// unfollowed is a path resolved but for its last name.
func (j *judge) unfollowed(dir, p string) (string, bool) {
	parent, name := path.Split(strings.TrimRight(p, "/"))
	w := j.resolve(dir, orDot(parent))
	if w.unknown || w.outside || name == "" || name == "." || name == ".." || mark.Has(name, mark.Any+mark.Outside+mark.Scratch+mark.System) {
		return "", false
	}
	return strings.TrimSuffix(w.path, "/") + "/" + name, true
}

// linkAt is where a link is, if the path is one.
func (j *judge) linkAt(dir, p string) (string, bool) {
	at, ok := j.unfollowed(dir, home(p, j.scope.Home))
	if !ok {
		return "", false
	}
	_, ok = j.link(at)
	return at, ok
}

// printed is what a command prints; some of it only the lease tells.
func (j *judge) printed(m *shell.Machine, use commands.Use) string {
	if use.Top == "" {
		return use.Out
	}
	dir := m.Dir()
	if use.TopDir != "" {
		dir = j.directory(dir, use.TopDir)
	}
	w := j.resolve("/", dir)
	if w.unknown || w.outside || j.placeOf(w) != Own {
		return mark.Any
	}
	return j.top(use.Top, w.path)
}

// top is what git prints about the tree.
func (j *judge) top(what, at string) string {
	s := j.scope
	switch what {
	case commands.TopWorktree:
		return s.Worktree + "\n"
	case commands.TopUp:
		if rel := s.relative(at); rel != "" {
			return strings.Repeat("../", strings.Count(rel, "/")+1) + "\n"
		}
		return "\n"
	case commands.TopBranch:
		return mark.Atom + "\n"
	case commands.TopGitDir, commands.TopCommon:
		if s.Private {
			return s.Worktree + "/.git\n"
		}
		return mark.Outside + "\n"
	}
	return mark.Any
}
