package known

import (
	"bufio"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// A trial follows a command through its runs, with as little of a shell as the
// cases need, and notes what leaves the worktree. It stands in for the machine
// and the guard, which this package does not know.
type trial struct {
	left  []string
	depth int
}

const trialTree = "/w/repo/.worktrees/s1"

func (t *trial) note(what string) { t.left = append(t.left, markShown.Replace(what)) }

func (t *trial) call(cwd string, c commands.Call) {
	if t.depth > 12 || len(c.Args) == 0 {
		return
	}
	t.depth++
	defer func() { t.depth-- }()
	u := Of(c)
	for _, a := range u.Access {
		t.judge(cwd, a)
	}
	for _, f := range u.Findings {
		t.note("finding: " + f.Reason)
	}
	for _, g := range u.Git {
		if g.Dir != "" {
			t.judge(cwd, commands.Access{Role: commands.Enter, Path: g.Dir})
		}
	}
	for _, r := range u.Runs {
		t.run(cwd, c, r)
	}
}

func (t *trial) judge(cwd string, a commands.Access) {
	p := trialJoin(trialJoin(cwd, a.Dir), a.Path)
	switch {
	case strings.HasPrefix(a.Path, mark.Inside):
		return
	case mark.Has(p, mark.Any):
		if a.Role == commands.Write || a.Role == commands.Execute {
			t.note("unknown: " + p)
		}
		return
	}
	for _, root := range []string{trialTree, "/tmp", "/dev/null", "/dev/fd", "/dev/stdin"} {
		if p == root || strings.HasPrefix(p, root+"/") {
			return
		}
	}
	for _, root := range []string{"/usr", "/etc", "/bin", "/lib", "/opt"} {
		if a.Role != commands.Write && strings.HasPrefix(p, root+"/") || p == root && a.Role != commands.Write {
			return
		}
	}
	t.note(p)
}

func trialJoin(dir, p string) string {
	if strings.HasPrefix(p, "~") {
		p = "/home/agent" + p[1:]
	}
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, mark.Any) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

func (t *trial) run(cwd string, from commands.Call, r commands.Run) {
	cwd = trialJoin(cwd, r.Dir)
	in := commands.Call{Args: r.Args, Stdin: from.Stdin, Fed: from.Fed, Env: trialEnv(r.Env)}
	if r.Fed {
		in.Stdin, in.Fed = r.Stdin, true
	}
	switch {
	case len(r.Args) > 0:
		t.call(cwd, in)
	case r.File != "":
		t.judge(cwd, commands.Access{Role: commands.Execute, Path: r.File})
	case r.Lang != commands.Shell:
		if strings.Contains(r.Code, "../..") || strings.Contains(r.Code, "/w/repo") || r.Lang == commands.Opaque {
			t.note("code: " + r.Code)
		}
	default:
		t.shell(cwd, in, r)
	}
}

func trialEnv(list []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, v := range list {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value, true
			}
		}
		return "", false
	}
}

// shell runs lists of simple commands: &&, ;, newlines, cd, >, $0 and $1.
func (t *trial) shell(cwd string, in commands.Call, r commands.Run) {
	if strings.Contains(r.Code, mark.Any) && strings.Trim(r.Code, mark.Any) == "" {
		t.note("unknown code")
		return
	}
	code := r.Code
	for i, p := range r.Params {
		code = strings.ReplaceAll(code, "$"+strconv.Itoa(i), p)
	}
	if len(r.Params) > 1 {
		code = strings.ReplaceAll(code, "$@", strings.Join(r.Params[1:], " "))
	}
	for _, line := range strings.FieldsFunc(strings.ReplaceAll(code, "&&", "\n"), func(c rune) bool { return c == '\n' || c == ';' || c == '|' }) {
		list := wrapWords(line)
		for i, w := range list {
			if w == ">" && i+1 < len(list) {
				t.judge(cwd, commands.Access{Role: commands.Write, Path: list[i+1]})
			}
		}
		if len(list) > 1 && list[0] == "cd" {
			t.judge(cwd, commands.Access{Role: commands.Enter, Path: list[1]})
			cwd = trialJoin(cwd, list[1])
			continue
		}
		in.Args = list
		t.call(cwd, in)
	}
}

// tryWrapped follows each line of a file; "<<" begins what the command is fed.
func tryWrapped(t *testing.T, file string, judge func(line string, left []string)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		line, fed, has := strings.Cut(s.Text(), " << ")
		if line == "" || line[0] == '#' {
			continue
		}
		var run trial
		c := commands.Call{Args: wrapWords(line), Fed: has, Stdin: strings.ReplaceAll(markNames.Replace(fed), "⏎", "\n")}
		env, rest := c.Args, c.Args
		for len(rest) > 0 && strings.Contains(rest[0], "=") {
			rest = rest[1:]
		}
		c.Args, c.Env = rest, trialEnv(env[:len(env)-len(rest)])
		run.call(trialTree, c)
		judge(s.Text(), run.left)
		count++
	}
	if count < 50 {
		t.Errorf("only %d lines in %s", count, file)
	}
}

func TestWrappedEscapes(t *testing.T) {
	tryWrapped(t, "testdata/wrap_escapes.txt", func(line string, left []string) {
		if len(left) == 0 {
			t.Errorf("nothing leaves in: %s", line)
		}
	})
}

func TestWrappedHarmless(t *testing.T) {
	tryWrapped(t, "testdata/wrap_harmless.txt", func(line string, left []string) {
		if len(left) > 0 {
			t.Errorf("%s\n leaves: %v", line, left)
		}
	})
}
