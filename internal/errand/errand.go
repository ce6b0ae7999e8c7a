// Package errand runs the operator's own commands, which their configuration names: after
// a landing, and to notify them. A command is a program and its arguments; no shell reads
// them.
//
// It refuses to run a program that lies where a worker could have written it: in cordon's
// state, in a worktree, in a checkout. It refuses to put a text into an argument that the
// configuration does not name there as a variable, and any text into code that a shell
// reads: the shell has the variables in its environment. Commands get no terminal: many runs have
// none, and a worker may be using it. It decides nothing: whether a command is due is recorded
// and decided by its caller.
package errand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"cordon/internal/config"
	"cordon/internal/git"
	"cordon/internal/paths"
)

// Errand is one command of the operator's.
type Errand struct {
	Argv    []string      // as the configuration has it
	File    string        // the program itself, which the caller has checked; "": Argv[0] is looked up and checked
	Closed  bool          // the environment has no variable that leads into Written
	Vars    []Var         // what $NAME in an argument stands for; also in the environment
	Dir     string        // where it runs
	Written []string      // directories in which workers write
	Limit   time.Duration // after which it is ended
	Input   string        // on stdin
	Output  io.Writer     // of stdout and stderr
	// Answer gets stdout, which may be secret: nothing else does. Result.Tail then has the end
	// of stderr only.
	Answer io.Writer
}

// Var is a variable of an errand.
type Var struct{ Name, Value string }

// Result is how an errand ended.
type Result struct {
	Code  int    // of its exit; -1: it did not start, or a signal ended it
	Ended string // why, where it did not exit by itself
	Tail  string // the end of its output
}

// OK reports whether it did what it was to do.
func (r Result) OK() bool { return r.Code == 0 && r.Ended == "" }

// How says how it ended, after its name.
func (r Result) How() string {
	if r.Ended != "" {
		return r.Ended
	}
	return fmt.Sprintf("ended with %d", r.Code)
}

// maxTail is how much of the output is kept.
const maxTail = 2000

// grace is how long a command has to end by itself after it was asked to.
const grace = 5 * time.Second

// Run runs the command and waits for it. That it could not be started is a Result too.
func (e Errand) Run(ctx context.Context) Result {
	program, err := e.File, error(nil)
	if program == "" {
		program, err = git.Program(e.Argv[0], e.Written...)
	}
	if err != nil {
		return Result{Code: -1, Ended: "was not started: " + err.Error()}
	}
	limited, stop := context.WithTimeout(ctx, e.Limit)
	defer stop()
	tail := &tail{}
	c := exec.CommandContext(limited, program, e.arguments()...)
	c.Dir, c.Env, c.Stdin = e.Dir, e.environ(), strings.NewReader(e.Input)
	c.Stdout = io.MultiWriter(tail, unheeded{e.Output})
	c.Stderr = c.Stdout
	if e.Answer != nil {
		c.Stdout = e.Answer
	}
	// It ends as one, and has no terminal: a prompt that nobody sees would wait for the limit.
	c.SysProcAttr = ownSession()
	var last time.Time // for what it started, too
	c.Cancel = func() error {
		last = time.Now().Add(grace)
		return tell(c.Process.Pid, syscall.SIGTERM)
	}
	c.WaitDelay = grace
	runtime.LockOSThread() // with which the program would end
	err = c.Run()
	runtime.UnlockOSThread()
	if limited.Err() != nil && c.Process != nil {
		endRest(c.Process.Pid, last)
	}
	r := Result{Tail: tail.String()}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.Code, r.Ended = -1, "was interrupted"
	case limited.Err() != nil:
		r.Code, r.Ended = -1, "was ended after "+e.Limit.String()
	case errors.As(err, &exit) && exit.Exited():
		r.Code = exit.ExitCode()
	default:
		r.Code, r.Ended = -1, "failed: "+err.Error()
	}
	return r
}

// endRest ends what is left of the session of a command, until last. It asks first, unless that was done.
func endRest(session int, last time.Time) {
	if last.IsZero() {
		last = time.Now().Add(grace)
		_ = tell(session, syscall.SIGTERM) // nothing is left of most
	}
	for tell(session, 0) == nil && time.Now().Before(last) {
		time.Sleep(10 * time.Millisecond)
		_, _ = syscall.Wait4(-session, nil, syscall.WNOHANG, nil) // one that became a child of ours
	}
	_ = tell(session, syscall.SIGKILL)
}

// tell sends a signal to the group of a command and to what left the group, as timeout does. Its error says that nobody is left.
func tell(session int, s syscall.Signal) error {
	err := syscall.Kill(-session, s)
	for _, pid := range members(session) {
		if syscall.Kill(pid, s) == nil {
			err = nil
		}
	}
	return err
}

// arguments replaces the variables. A value becomes a part of one argument, whatever is
// in it, and never a part of code that a shell reads.
func (e Errand) arguments() []string {
	var pairs []string
	vars := slices.Clone(e.Vars) // the longest first, because one name may begin as another
	slices.SortFunc(vars, func(a, b Var) int { return len(b.Name) - len(a.Name) })
	for _, v := range vars {
		pairs = append(pairs, "${"+v.Name+"}", v.Value, "$"+v.Name, v.Value)
	}
	replacer := strings.NewReplacer(pairs...)
	var args []string
	for i, a := range e.Argv[1:] {
		if !config.ShellReads(e.Argv, i+1) {
			a = replacer.Replace(a)
		}
		args = append(args, a)
	}
	return args
}

// repositoryVariables would make git work elsewhere than in the directory of the errand.
var repositoryVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
}

// environ is the operator's environment, with the variables and without places where
// workers write in PATH.
func (e Errand) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return name == "PATH" || slices.Contains(repositoryVariables, name) || strings.HasPrefix(name, "CORDON_") || e.Closed && e.leadsIn(value)
	})
	env = append(env, "PATH="+git.SafePath(e.Written...))
	for _, v := range e.Vars {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// leadsIn reports whether a value names a place in which workers write: alone, in a list, or
// behind an equals sign.
func (e Errand) leadsIn(value string) bool {
	if !strings.Contains(value, "/") {
		return false
	}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(":;,= \t", r) }) {
		if !filepath.IsAbs(part) {
			continue
		}
		places := []string{filepath.Clean(part), resolved(part)}
		for _, tree := range e.Written {
			if real, err := filepath.EvalSymlinks(tree); err == nil {
				tree = real
			}
			if slices.ContainsFunc(places, func(place string) bool { return paths.Within(place, tree) }) {
				return true
			}
		}
	}
	return false
}

// resolved is where a path leads, as far as it exists.
func resolved(path string) string {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil || at == filepath.Dir(at) {
			return real
		}
	}
}

// tail keeps the end of what is written.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if n := len(t.text) - maxTail; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.text), "?") }

// unheeded passes on what it can: a terminal that is gone does not stop a command.
type unheeded struct{ to io.Writer }

func (u unheeded) Write(p []byte) (int, error) {
	if u.to != nil {
		_, _ = u.to.Write(p)
	}
	return len(p), nil
}
