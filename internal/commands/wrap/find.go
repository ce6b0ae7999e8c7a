package wrap

import (
	"cmp"
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// findUse is find: places to look in, and an expression that may run commands,
// delete what it finds and write lists of it.
func findUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	f := &finding{wrapping: w}
	f.expression(f.places(c.Args[1:]))
	f.finish()
	return w.use
}

// A finding is a call of find while it is read.
type finding struct {
	*wrapping
	roots   []string
	follows bool      // -L: what it finds may be anywhere
	enters  bool      // -H: it follows the places themselves
	deletes bool      // -delete
	near    bool      // -maxdepth 0 or 1: it looks at no more than the entries of the places
	prints  []string  // what is printed for each thing that is found
	silent  bool      // some action stands for the printing that is done without any
	runs    []findRun // -exec and its like
}

type findRun struct {
	args   []string
	inDir  bool // -execdir
	bundle bool // it ended with +
	why    string
}

// maxRoots bounds the places that are told apart.
const maxRoots = 24

// places reads the options before the places, and the places.
func (f *finding) places(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch word := args[0]; {
		case word == "-L":
			f.follows = true
		case word == "-D" || word == "-f":
			if word == "-f" && len(args) > 1 {
				f.roots = append(f.roots, args[1])
			}
			args = args[min(1, len(args)-1):]
		case word == "--":
		case strings.HasPrefix(word, "-O") && len(word) > 2:
		case strings.Trim(word[1:], "HLPEXdsx") == "":
			f.follows = f.follows || strings.Contains(word, "L")
			f.enters = f.enters || strings.Contains(word, "H")
		default:
			return args
		}
		args = args[1:]
	}
	for len(args) > 0 && !startsExpression(args[0]) {
		f.roots = append(f.roots, args[0])
		args = args[1:]
	}
	return args
}

func startsExpression(word string) bool {
	return len(word) > 1 && word[0] == '-' || word == "(" || word == ")" || word == "!" || word == ","
}

// expression reads tests and actions. A word after a test that takes one is never
// taken for an action.
func (f *finding) expression(args []string) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch word {
		case "-exec", "-execdir", "-ok", "-okdir":
			args = f.exec(word, args)
		case "-delete":
			f.deletes, f.silent = true, true
		case "-follow":
			f.follows = true
		case "-print":
			f.prints = append(f.prints, "%p\\n")
		case "-print0":
			f.prints = append(f.prints, "%p\\0")
		case "-ls", "-printx":
			f.prints = append(f.prints, mark.Any)
		case "-quit", "-prune":
		default:
			args = f.test(word, args)
		}
	}
}

// test takes the tests and actions with one argument or two.
func (f *finding) test(word string, args []string) []string {
	if len(args) == 0 {
		return args
	}
	value := args[0]
	switch word {
	case "-fprint", "-fprint0", "-fls":
		f.touch(commands.Write, value, word)
		f.silent = true
		return args[1:]
	case "-fprintf":
		f.touch(commands.Write, value, word)
		f.silent = true
		return args[min(2, len(args)):]
	case "-maxdepth":
		f.near = value == "0" || value == "1" // the last one counts
		return args[1:]
	case "-printf":
		f.prints = append(f.prints, value)
		return args[1:]
	case "-newer", "-anewer", "-cnewer", "-mnewer", "-samefile":
		f.touch(commands.Read, value, word)
		return args[1:]
	case "-files0-from":
		f.touch(commands.Read, value, word)
		f.rootsOf(value)
		return args[1:]
	}
	if len(word) == 8 && strings.HasPrefix(word, "-newer") {
		if word[7] != 't' {
			f.touch(commands.Read, value, word)
		}
		return args[1:]
	}
	if takesWord(word) {
		return args[1:]
	}
	return args
}

// rootsOf are places that a file names.
func (f *finding) rootsOf(file string) {
	text, ok := f.call.FileText(file)
	if file == "-" {
		text, ok = f.call.Stdin, f.call.Fed
	}
	if !ok {
		text = mark.Any
	}
	for root := range strings.SplitSeq(strings.Trim(text, "\x00\n"), "\x00") {
		if f.roots = append(f.roots, root); len(f.roots) > maxRoots {
			break
		}
	}
}

// takesWord reports whether a test has an argument that is no path.
func takesWord(word string) bool {
	return slices.Contains([]string{
		"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname", "-regextype",
		"-type", "-xtype", "-fstype", "-mindepth", "-depth=", "-size", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin",
		"-user", "-group", "-uid", "-gid", "-perm", "-links", "-inum", "-used", "-context", "-flags", "-acl", "-Bmin", "-Btime", "-exclude",
	}, word)
}

// exec takes a command up to ; or {} +.
func (f *finding) exec(why string, args []string) []string {
	run := findRun{inDir: strings.HasSuffix(why, "dir"), why: why}
	f.silent = true
	for i, word := range args {
		plus := word == "+" && i > 0 && args[i-1] == "{}"
		if word == ";" || plus {
			run.args, run.bundle = args[:i], plus
			f.runs = append(f.runs, run)
			return args[i+1:]
		}
	}
	run.args = args
	f.runs = append(f.runs, run)
	return nil
}

// finish tells what becomes of each place, once the whole expression is known.
func (f *finding) finish() {
	if len(f.roots) == 0 {
		f.roots = []string{"."}
	}
	if len(f.roots) > maxRoots {
		for _, root := range f.roots[maxRoots:] {
			f.place(root)
		}
		f.roots = append(f.roots[:maxRoots:maxRoots], mark.Any)
	}
	for _, root := range f.roots {
		f.place(root)
		for _, run := range f.runs {
			f.run(run, root)
		}
	}
	f.list()
}

func (f *finding) place(root string) {
	root = cmp.Or(root, ".")
	f.use.Access = append(f.use.Access, commands.Access{
		Role: commands.Read, Path: root, Dir: f.dir, Why: "where it looks", Link: !f.follows && !f.enters, Shallow: f.near,
	})
	if !f.deletes {
		return
	}
	f.touch(commands.Write, root, "-delete")
	if f.follows {
		f.touch(commands.Write, f.found(root), "-delete")
	}
}

// found stands for what is found below a place. With -L it may be behind any
// link, so that nothing is known.
func (f *finding) found(root string) string {
	switch {
	case f.follows:
		return mark.Any
	case mark.Has(root, mark.Any+mark.Outside+mark.System+mark.Scratch), argtext.LooksLikePath(root):
		return strings.TrimSuffix(root, "/") + "/" + mark.Atom
	}
	return mark.Inside
}

// run runs a command on what is found below a place.
func (f *finding) run(run findRun, root string) {
	r := f.again(run.why)
	found := f.found(root)
	if run.inDir {
		r.Dir, found = root, "./"+mark.Atom
	}
	for _, word := range run.args {
		if run.bundle && word == "{}" {
			r.Args = append(r.Args, found, found)
			continue
		}
		r.Args = append(r.Args, replaceAll(word, "{}", found))
	}
	if len(r.Args) > 0 {
		f.add(r)
	}
}

// list is what is printed.
func (f *finding) list() {
	if len(f.prints) == 0 && !f.silent {
		f.prints = []string{"%p\\n"}
	}
	var b strings.Builder
	for _, root := range f.roots {
		for _, format := range f.prints {
			f.format(&b, format, root)
		}
		if b.Len() > maxText {
			f.use.Out = mark.Any
			return
		}
	}
	f.use.Out = b.String()
}

// format prints what -printf makes of one thing that is found.
func (f *finding) format(b *strings.Builder, format, root string) {
	found := f.found(root)
	for i := 0; i < len(format); i++ {
		if format[i] != '%' && format[i] != '\\' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		if format[i-1] == '\\' {
			text, n := argtext.UnescapeOne(format[i:], true)
			b.WriteString(text)
			i += n - 1
			continue
		}
		i += strings.IndexFunc(format[i:]+"%", func(r rune) bool { return !strings.ContainsRune("0123456789.-+# ", r) })
		if i >= len(format) {
			break
		}
		switch ch := format[i]; ch {
		case 'p', 'P', 'f', 'h':
			b.WriteString(found)
		case 'H':
			b.WriteString(root)
		case 'l':
			b.WriteString(mark.Any)
		case '%':
			b.WriteByte('%')
		case 'A', 'B', 'C', 'T':
			i++
			b.WriteString(mark.Atom)
		default:
			b.WriteString(mark.Atom)
		}
	}
}
