// Package wrap knows the commands that run other commands: shells, sudo, env,
// xargs, find, make, containers, terminals and the runners of packages. It returns
// what they run, and refuses to follow it.
package wrap

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// Use tells what a command does that runs other commands: sudo, env, xargs,
// a shell, a container's client. It reports false for every other command.
//
// Most of them are rows of commands.txt: options, a few operands, and then a
// command. Those whose arguments are a language of their own have code.
// What a wrapper prints is what its runs print, and then its own Out; where that
// is out of sight, as with a remote host, Out is Any.
func Use(c commands.Call) (commands.Use, bool) {
	if len(c.Args) == 0 {
		return commands.Use{}, false
	}
	name := argtext.CommandName(c.Args[0])
	if name == "" || mark.In(name) {
		return commands.Use{}, false
	}
	use, ok := wrappedAs(name, c)
	if ok && startsShell(name) && c.Env != nil {
		if shell, set := c.Env("SHELL"); set && shell != "" {
			use.Access = append(use.Access, commands.Access{Role: commands.Execute, Path: shell, Why: "SHELL"})
		}
	}
	return use, ok
}

// startsShell reports whether a command runs the program that SHELL names.
func startsShell(name string) bool {
	return slices.Contains([]string{
		"sudo", "su", "runuser", "doas", "script", "screen", "tmux", "flock", "unshare", "nsenter", "chroot", "entr", "parallel", "sem", "fakeroot",
		"dtach", "abduco", "ssh", "systemd-run", "run0", "nix-shell", "ssh-agent",
	}, name)
}

func wrappedAs(name string, c commands.Call) (commands.Use, bool) {
	for _, look := range [...]func(string, commands.Call) (commands.Use, bool){wrapBasic, wrapService, wrapRunner} {
		if use, ok := look(name, c); ok {
			return use, true
		}
	}
	return wrapRow(name, c)
}

// wrapBasic knows the commands of every system that take code or lists.
func wrapBasic(name string, c commands.Call) (commands.Use, bool) {
	if isShell(name) {
		return shellUse(name, c), true
	}
	switch name {
	case "env", "genv":
		return envUse(c), true
	case "sudo":
		return sudoUse(c), true
	case "su", "runuser", "sg":
		return suUse(name, c), true
	case "busybox", "toybox":
		return boxUse(c), true
	case "xargs", "gxargs":
		return xargsUse(c), true
	case "parallel", "sem":
		return parallelUse(name, c), true
	case "find", "gfind", "bfs":
		return findUse(c), true
	case "make", "gmake", "bmake", "mingw32-make", "remake":
		return makeUse(c), true
	case "script":
		return scriptUse(c), true
	}
	return commands.Use{}, false
}

// wrapService knows the commands that hand work to something else: a host, a
// terminal, a container, a later hour.
func wrapService(name string, c commands.Call) (commands.Use, bool) {
	switch name {
	case "ssh", "autossh", "mosh":
		return sshUse(name, c), true
	case "at", "batch":
		return atUse(c), true
	case "crontab":
		return crontabUse(c), true
	case "systemd-run":
		return systemdRunUse(c), true
	case "screen", "tmux", "socat", "gdb", "lldb", "start-stop-daemon", "capsh", "hyperfine", "perf", "concurrently", "nodemon", "devcontainer",
		"xdg-open", "open":
		return looselyUse(c), true
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		return containerUse(name, c)
	case "nc", "ncat", "netcat":
		return ncUse(name, c), true
	}
	return commands.Use{}, false
}

// A wrapping collects what a wrapper does while its arguments are read.
type wrapping struct {
	call    commands.Call
	use     commands.Use
	dir     string   // where its command runs
	env     []string // what its command gets besides
	unset   []string
	clean   bool
	later   bool
	plain   bool     // an option says that the words are a command
	joined  bool     // an option says that the words are a line of shell
	crowded bool     // it runs too much
	none    bool     // an option says that nothing runs
	unsure  bool     // an option was not known: the command may begin a word later
	codes   []string // lines of shell that options gave, run when all options are known
}

func newWrapping(c commands.Call) *wrapping {
	return &wrapping{call: c, use: commands.Use{Known: true}}
}

func (w *wrapping) touch(role commands.Role, path, why string) {
	if path == "" || path == "-" && role != commands.Enter {
		return
	}
	w.use.Access = append(w.use.Access, commands.Access{Role: role, Path: path, Dir: w.dir, Why: why})
}

// enter makes a directory the one that the command runs in.
func (w *wrapping) enter(dir, why string) {
	if dir == "" {
		return
	}
	w.touch(commands.Enter, dir, why)
	w.dir = argtext.JoinDir(w.dir, dir)
}

func (w *wrapping) find(weight commands.Weight, reason, instead string) {
	w.use.Findings = append(w.use.Findings, commands.Finding{Weight: weight, Reason: reason, Instead: instead})
}

// again is a run that gets what the wrapper gives to its command.
func (w *wrapping) again(why string) commands.Run {
	return commands.Run{Dir: w.dir, Env: slices.Clone(w.env), Unset: slices.Clone(w.unset), Clean: w.clean, Later: w.later, Why: why}
}

// MaxRuns bounds what one call runs. What comes after that is for a person.
const MaxRuns = 500

func (w *wrapping) add(r commands.Run) {
	switch n := len(w.use.Runs); {
	case n < MaxRuns:
		w.use.Runs = append(w.use.Runs, r)
	case !w.crowded:
		w.crowded = true
		w.find(commands.Ask, "it runs more commands than cordon reads", "run fewer commands at once")
	}
}

// args runs an argument vector.
func (w *wrapping) args(words []string, why string) {
	if len(words) == 0 {
		return
	}
	r := w.again(why)
	r.Args = slices.Clone(words)
	w.add(r)
}

// code runs a line of shell.
func (w *wrapping) code(text, why string) {
	r := w.again(why)
	r.Code = text
	if text != "" {
		w.add(r)
	}
}

// input runs what comes in as a shell would. Its own input is then unknown: the
// shell and its commands read from the same text in turn.
func (w *wrapping) input(params []string) {
	if !w.call.Fed || w.call.Stdin == "" {
		return
	}
	r := w.again("standard input")
	r.Code, r.Params = w.call.Stdin, params
	r.Fed, r.Stdin = true, mark.Any
	w.add(r)
}

// variable is a variable that the script exported to the wrapper; "" without.
func (w *wrapping) variable(name string) string {
	value, _ := w.call.Variable(name)
	return value
}

// done runs the lines that options gave and ends the reading.
func (w *wrapping) done() commands.Use {
	for _, text := range w.codes {
		w.code(text, "an option")
	}
	w.codes = nil
	if len(w.use.Runs) == 0 && w.use.Out == "" {
		w.use.Out = mark.Any
	}
	return w.use
}

// wrapRow knows the commands that are rows: a program, or a program and a
// subcommand, that runs the words after its options and operands.
func wrapRow(name string, c commands.Call) (commands.Use, bool) {
	w := newWrapping(c)
	words := c.Args[1:min(len(c.Args), maxGlobals)]
	if !table.HasSubs(name) {
		words = nil
	}
	for _, sub := range words {
		r := table.Lookup(name + " " + sub)
		if r == nil || !r.WrapsCommand() {
			continue
		}
		s := table.ParseArgs(c.Args[1:], &table.Row{Options: r.Global}, table.Stop|table.Wraps)
		if len(s.Operands) == 0 || s.Operands[0] != sub {
			continue
		}
		w.takeAll(s)
		w.row(r, s.Operands[1:])
		return w.done(), true
	}
	r := table.Lookup(name)
	if r == nil || !r.WrapsCommand() {
		return commands.Use{}, false
	}
	w.row(r, c.Args[1:])
	if name == "arch" && len(c.Args) == 1 {
		w.use.Out = mark.Atom + "\n"
	}
	return w.done(), true
}

// maxGlobals bounds where a subcommand is looked for.
const maxGlobals = 32

// row reads arguments as a row tells.
func (w *wrapping) row(r *table.Row, args []string) {
	if r.Ask != "" {
		w.find(commands.Ask, r.Ask, "")
	}
	if r.Style&table.Homed != 0 {
		w.enter("~", "home")
	}
	s := table.ParseArgs(args, r, table.Stop|table.Wraps)
	w.takeAll(s)
	w.unsure = w.unsure && r.Style&table.Loose == 0
	kinds := strings.TrimSuffix(r.Operands, "command*")
	rest := w.operands(s.Operands, kinds)
	if kinds != "" && r.Style&table.DashC == 0 && len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		more := table.ParseArgs(rest, r, table.Stop|table.Wraps)
		w.takeAll(more)
		rest = more.Operands
	}
	if len(rest) > 0 {
		rest = renamed(r.Style, rest, s.Has("-m"))
	}
	if r.Style&table.Assigns != 0 {
		rest = w.assignments(rest)
	}
	w.later = w.later || r.Style&table.Delayed != 0
	w.command(rest, r.Style)
}

// operands reads the operands before the command.
func (w *wrapping) operands(rest []string, kinds string) []string {
	for kind := range strings.FieldsSeq(kinds) {
		if len(rest) == 0 {
			return rest
		}
		word := rest[0]
		switch {
		case kind == "number" && !isNumber(word), kind == "arch" && !isArch(word):
			continue
		case kind == "lock" && isNumber(word):
		case kind == "lock":
			w.touch(commands.Write, word, "lock")
		default:
			w.take(table.Option{Kind: kind, Value: word, At: "operand"})
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	return rest
}

func isNumber(word string) bool {
	return word != "" && (word[0] >= '0' && word[0] <= '9' || mark.First(word) == 0)
}

func isArch(word string) bool {
	switch word {
	case "linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "arm", "arm64", "aarch64", "armv7l", "armv8l", "ppc", "ppc64", "ppc64le",
		"s390", "s390x", "uname26", "riscv64", "riscv32":
		return true
	}
	return mark.First(word) == 0
}

// assignments reads NAME=VALUE words.
func (w *wrapping) assignments(rest []string) []string {
	for len(rest) > 0 {
		name, _, ok := strings.Cut(rest[0], "=")
		if !ok || name == "" || mark.Has(name, mark.Any) {
			return rest
		}
		w.assign(rest[0])
		rest = rest[1:]
	}
	return rest
}

// assign gives the command a variable. One that holds a function of bash is code
// that any shell below may call under any name.
func (w *wrapping) assign(word string) {
	w.env = append(w.env, word)
	if name, body, _ := strings.Cut(word, "="); strings.HasPrefix(name, "BASH_FUNC_") {
		w.find(commands.Ask, "an environment variable defines a shell function", "define the function in the script")
		_, body, _ = strings.Cut(body, ")")
		w.codes = append(w.codes, body)
	}
}

// command runs what is left of the words.
func (w *wrapping) command(rest []string, mode table.Style) {
	if w.joined {
		mode |= table.Joined
	}
	if w.plain {
		mode &^= table.Joined | table.Lone
	}
	switch {
	case w.none:
	case len(rest) == 0:
		if mode&table.Shelled != 0 && len(w.codes) == 0 {
			w.input(nil)
		}
	case mode&table.DashC != 0 && (rest[0] == "-c" || rest[0] == "--command"):
		w.code(strings.Join(rest[1:min(2, len(rest))], ""), "-c")
	case mode&table.Joined != 0, mode&table.Lone != 0 && len(rest) == 1:
		w.code(strings.Join(rest, " "), "command")
	default:
		w.args(rest, "command")
		w.second(rest)
	}
}

// second is the other guess after an option that is not known: that it took the
// first word as its value.
func (w *wrapping) second(rest []string) {
	if w.unsure && len(rest) > 1 && !strings.HasPrefix(rest[1], "-") {
		w.args(rest[1:], "command after an unknown option")
	}
}
