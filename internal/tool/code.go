package tool

import (
	"strings"

	"cordon/internal/mark"
)

// interpreter is a program that runs code it is given: in an option, in a file,
// or on its standard input. Options are written with their dashes.
type interpreter struct {
	names    string // what it is called
	lang     Lang
	code     string // options with code
	file     string // options with a file of code
	read     string // options with a path that is read
	write    string // … written
	enter    string // … entered
	text     string // options with a value that is no path
	loose    string // letters whose value is attached or nothing: -i.bak
	operands string // what operands are, if not a program and what it gets: "read", "write", "none"
}

// interpreters are the programs that need no code of their own.
var interpreters = [...]interpreter{
	{names: "python python2 python3 pypy pypy3 ipython ipython3 micropython", lang: Python, code: "-c", text: "-W -X --check-hash-based-pycs"},
	{names: "node nodejs", lang: JavaScript, code: "-e --eval -p --print -pe", read: "-r --require --import --loader --experimental-loader --env-file --env-file-if-exists --watch-path --test-global-setup --experimental-config-file",
		write: "--cpu-prof-dir --heap-prof-dir --diagnostic-dir --report-directory --redirect-warnings --test-reporter-destination --icu-data-dir --trace-event-file-pattern --openssl-config", text: "-C --conditions --input-type --inspect-port --stack-trace-limit --test-name-pattern --test-reporter --max-old-space-size --unhandled-rejections --title --test-timeout --test-concurrency --test-shard --test-coverage-include --test-coverage-exclude --run"},
	{names: "ts-node tsx esno swc-node", lang: JavaScript, code: "-e --eval -p --print", read: "-r --require -P --project --tsconfig --import --env-file", enter: "--cwd", text: "-O --compiler-options"},
	{names: "lua luajit lua5", lang: Opaque, code: "-e", text: "-l -j -O"},
	{names: "Rscript littler r", lang: Opaque, code: "-e", text: "--default-packages -l"},
	{names: "R", lang: Opaque, code: "-e", file: "-f --file", write: "-d -g", operands: "read"},
	{names: "julia", lang: Opaque, code: "-e -E --eval --print", enter: "--project", read: "-L --load -J --sysimage", write: "--output-o --output-ji --code-coverage", text: "-t --threads -p -O --startup-file"},
	{names: "pwsh powershell", lang: Opaque, code: "-c -Command -command", file: "-f -File -file", enter: "-WorkingDirectory -wd", text: "-ExecutionPolicy -ep -OutputFormat -InputFormat -Version -WindowStyle -ConfigurationName"},
	{names: "osascript", lang: Opaque, code: "-e", text: "-l -s"},
	{names: "tclsh wish jimsh", lang: Opaque},
	{names: "expect", lang: Opaque, code: "-c", file: "-f -b"},
	{names: "emacs emacsclient", lang: Opaque, code: "--eval -eval --execute -execute -e", file: "--script -script -x", read: "-l --load -load --insert -insert -L --directory -directory", text: "-f --funcall -funcall -T --title", enter: "--chdir", operands: "write"},
	{names: "racket", lang: Opaque, code: "-e --eval", file: "-f --load -u --require-script -t --require -r --script", text: "-l --lib -p"},
	{names: "guile", lang: Opaque, code: "-c", file: "-s", read: "-l -L", text: "-e --language"},
	{names: "clojure clj bb lein", lang: Opaque, code: "-e --eval", file: "-i --init -f --file", text: ""},
	{names: "clisp", lang: Opaque, code: "-x", read: "-i"},
	{names: "ecl", lang: Opaque, code: "--eval -eval", file: "--load -load --shell -shell"},
	{names: "gimp", lang: Opaque, code: "-b --batch", operands: "read"},
	{names: "maxima", lang: Opaque, code: "--batch-string -r", file: "-b --batch", read: "-p"},
	{names: "gp evcxr", lang: Opaque, text: "-s -p", operands: "read"},
	{names: "clickhouse-local clickhouse", lang: SQL, code: "-q --query", file: "--queries-file", text: "-S --structure --format", operands: "read"},
	{names: "nix-instantiate dhall", lang: Opaque, code: "-E --expr", read: "-I", text: "-A --argstr", operands: "read"},
	{names: "bpftrace dtrace", lang: Opaque, code: "-e -n", write: "-o", text: "-p -c -x", operands: "read"},
	{names: "jsonnet", lang: Opaque, code: "-e --exec", read: "-J --jpath", write: "-o --output-file -m --multi", text: "-V -A --ext-str --tla-str --tla-code --ext-code"},
	{names: "sbcl", lang: Opaque, code: "--eval", file: "--load --script"},
	{names: "scala scala-cli groovy kotlin kotlinc", lang: Opaque, code: "-e", read: "-cp -classpath"},
	{names: "elixir iex", lang: Opaque, code: "-e --eval --rpc-eval", file: "-r -pr", read: "-pa -pz"},
	{names: "erl", lang: Opaque, code: "-eval", read: "-pa -pz -boot -config", text: "-s -run -sname -name"},
	{names: "ghci ghc runghc runhaskell stack-runghc", lang: Opaque, code: "-e", write: "-o -odir -hidir -outputdir", read: "-i"},
	{names: "ocaml utop", lang: Opaque, code: "-e", read: "-I -init"},
	{names: "swift", lang: Opaque, code: "-e", read: "-I -F", enter: "--package-path", write: "--build-path --scratch-path"},
	{names: "crystal", lang: Opaque, write: "-o", text: "-D"},
	{names: "raku perl6 rakudo", lang: Opaque, code: "-e", read: "-I", text: "-M"},
	{names: "gnuplot", lang: Opaque, code: "-e", file: "-c"},
	{names: "octave octave-cli matlab", lang: Opaque, code: "--eval -batch -r", read: "-p --path"},
	{names: "jshell", lang: Opaque, read: "--class-path --startup"},
	{names: "irb pry", lang: Ruby, code: "-e", read: "-r -I"},
	{names: "nim nimble", lang: Opaque, write: "-o --out --nimcache", text: "-d --define"},
}

// coded returns what a call of an interpreter does. Args[0] has neither directory
// nor version.
func coded(c Call) (Use, bool) {
	u := Use{Known: true, Out: mark.Any}
	switch c.Args[0] {
	case "sed", "gsed", "ssed":
		return sedUse(c), true
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return awkUse(c), true
	case "perl":
		return perlUse(c), true
	case "ruby", "jruby", "truffleruby":
		return rubyUse(c), true
	case "php", "php-cgi", "hhvm":
		return phpUse(c), true
	case "deno":
		return denoUse(c), true
	case "bun":
		return bunUse(c)
	case "vi", "vim", "nvim", "view", "ex", "rvim", "vimdiff", "gvim", "rview", "nvi", "vim.basic", "vim.tiny":
		return vimUse(c), true
	case "ed", "red":
		return edUse(c), true
	case "sqlite3", "sqlite", "duckdb":
		return sqliteUse(c), true
	case "pwsh", "powershell":
		return powershellUse(c), true
	case "dc":
		return dcUse(c), true
	case "bc":
		return bcUse(c), true
	case "m4":
		return m4Use(c), true
	case "rails", "dotnet", "crystal", "scala-cli":
		return runnerUse(c)
	case "lein":
		if len(c.Args) > 1 && (c.Args[1] == "exec" || c.Args[1] == "run") {
			c.Args = append([]string{"lein"}, c.Args[2:]...)
		}
	case "python", "python2", "python3", "pypy", "pypy3":
		if use, ok := pythonModule(c); ok {
			return use, true
		}
	}
	for i := range interpreters {
		if in := &interpreters[i]; named(in.names, c.Args[0]) {
			interpret(&u, c, in)
			return u, true
		}
	}
	return Use{}, false
}

// named reports whether a list of words holds one.
func named(list, word string) bool {
	for word != "" {
		i := strings.Index(list, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		list = list[end:]
	}
	return false
}

// program is what the arguments of an interpreter come to.
type program struct {
	code     []string
	coded    bool
	file     string
	filed    bool
	operands []string
}

// interpret reads the arguments of an interpreter.
func interpret(u *Use, c Call, in *interpreter) {
	p := in.options(u, c.Args[1:])
	finish(u, c, in, p)
}

// dialect is the language of code in an option; osascript has two.
func (in *interpreter) dialect(args []string) Lang {
	for i, a := range args {
		if in.names == "osascript" && (a == "-l" && i+1 < len(args) && args[i+1] == "JavaScript" || a == "-lJavaScript") {
			return JavaScript
		}
	}
	return in.lang
}

// finish says what is run: code, a file, or standard input.
func finish(u *Use, c Call, in *interpreter, p program) {
	switch {
	case p.coded:
		code := strings.Join(p.code, "\n")
		u.Runs = append(u.Runs, Run{Code: code, Lang: in.dialect(c.Args), Params: codeParams(c.Args[0], p.operands), Why: "code"})
		u.evaluated(c, in.lang, code)
	case p.filed:
		u.script(c, in.lang, append([]string{p.file}, p.operands...))
		return
	case in.operands == "" && len(p.operands) > 0:
		u.script(c, in.lang, p.operands)
		return
	case in.operands == "" || len(p.operands) == 0:
		u.standardInput(c, in.lang)
	}
	for _, o := range p.operands {
		switch in.operands {
		case "read":
			u.path(Read, o, "operand")
		case "write":
			u.path(Write, strings.TrimLeft(o, "+0123456789:"), "operand")
		default:
			u.given(o)
		}
	}
}

// codeParams are the parameters of code in an option. Node puts no name of the
// code among them.
func codeParams(name string, operands []string) []string {
	first := "-c"
	if name == "node" || name == "nodejs" {
		first = "node"
	}
	return append([]string{first}, operands...)
}

// script runs a file with parameters; "-" is standard input.
func (u *Use) script(c Call, lang Lang, params []string) {
	if params[0] == "-" || params[0] == "/dev/stdin" {
		u.standardInput(c, lang, params[1:]...)
	} else {
		u.Runs = append(u.Runs, Run{File: params[0], Lang: lang, Params: params, Why: "script"})
	}
	for _, o := range params[1:] {
		u.given(o)
	}
}

// given looks at an argument of a program that is not followed: what looks like
// a path may be read.
func (u *Use) given(arg string) {
	for _, p := range looseArgument(arg) {
		u.path(Read, p, "argument")
	}
}

// standardInput runs what is fed to an interpreter that has no other program.
func (u *Use) standardInput(c Call, lang Lang, params ...string) {
	if c.Fed {
		u.Runs = append(u.Runs, Run{Code: c.Stdin, Lang: lang, Params: append([]string{"-"}, params...), Why: "standard input"})
	}
}

// evaluated runs what is fed to code that evaluates its standard input, and the
// lines of IPython that a shell gets.
func (u *Use) evaluated(c Call, lang Lang, code string) {
	reads := strings.Contains(code, "stdin") || strings.Contains(code, "STDIN") || strings.Contains(code, "input()") || strings.Contains(code, "<>") || strings.Contains(code, "gets") || strings.Contains(code, "/dev/fd/0") || strings.Contains(code, "readFileSync(0")
	if c.Fed && reads && (strings.Contains(code, "eval") || strings.Contains(code, "exec")) && !mark.Has(c.Stdin, mark.Any) {
		u.standardInput(c, lang)
	}
	switch c.Args[0] {
	case "irb", "pry", "iex": // they read on
		u.standardInput(c, lang)
	case "ipython", "ipython3":
	default:
		return
	}
	for line := range strings.Lines(code) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			u.Runs = append(u.Runs, Run{Code: cmd, Why: "!"})
		}
	}
}

func (u *Use) path(role Role, p, why string) {
	if p != "" && p != "-" {
		u.Access = append(u.Access, Access{Role: role, Path: p, Why: why})
	}
}

// options reads options up to the first operand, and takes the rest as operands.
// Where operands are files, options may be among them.
func (in *interpreter) options(u *Use, args []string) program {
	var p program
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			p.operands = append(p.operands, args[i+1:]...)
			return p
		case !strings.HasPrefix(a, "-") || a == "-":
			p.operands = append(p.operands, a)
			if in.operands == "" && !p.coded || in.operands == "" {
				p.operands = append(p.operands, args[i+1:]...)
				return p
			}
		default:
			i += in.option(u, &p, args[i:])
		}
	}
	return p
}

// option reads one option and returns how many further words it took.
func (in *interpreter) option(u *Use, p *program, args []string) int {
	a := args[0]
	next, has := "", len(args) > 1
	if has {
		next = args[1]
	}
	if name, v, ok := strings.Cut(a, "="); ok && in.kind(name) != ' ' {
		in.take(u, p, in.kind(name), name, v)
		return 0
	}
	if k := in.kind(a); k != ' ' {
		if has {
			in.take(u, p, k, a, next)
		}
		return 1
	}
	if strings.HasPrefix(a, "--") {
		if _, v, ok := strings.Cut(a, "="); ok {
			u.given(v)
		}
		return 0
	}
	for j := 1; j < len(a); j++ {
		if in.loose != "" && strings.IndexByte(in.loose, a[j]) >= 0 {
			if j = digits(a, j); j == len(a) {
				return 0
			}
			continue
		}
		k := in.kind("-" + a[j:j+1])
		switch {
		case k == ' ':
		case j+1 < len(a):
			in.take(u, p, k, "-"+a[j:j+1], a[j+1:])
			return 0
		default:
			if has {
				in.take(u, p, k, "-"+a[j:j+1], next)
			}
			return 1
		}
	}
	return 0
}

// digits is the last byte of a letter with its number: -0777 and -l012 can be
// followed by further letters, any other attached value takes the rest.
func digits(a string, j int) int {
	if a[j] != '0' && a[j] != 'l' {
		return len(a)
	}
	for j+1 < len(a) && a[j+1] >= '0' && a[j+1] <= '9' {
		j++
	}
	return j
}

// kind is what the value of an option is: a letter, or ' ' if it has none.
func (in *interpreter) kind(name string) byte {
	switch {
	case named(in.code, name):
		return 'c'
	case named(in.file, name):
		return 'f'
	case named(in.read, name):
		return 'r'
	case named(in.write, name):
		return 'w'
	case named(in.enter, name):
		return 'e'
	case named(in.text, name):
		return 't'
	}
	return ' '
}

func (in *interpreter) take(u *Use, p *program, kind byte, name, v string) {
	switch kind {
	case 'c':
		p.code, p.coded = append(p.code, v), true
	case 'f':
		if p.filed {
			u.path(Read, p.file, name)
		}
		p.file, p.filed = v, true
	case 'r':
		// A bare name is a module.
		if strings.ContainsAny(v, "/~") || strings.HasPrefix(v, ".") || mark.In(v) {
			u.path(Read, v, name)
		}
	case 'w':
		u.path(Write, v, name)
	case 'e':
		u.path(Enter, v, name)
	}
}
