package escape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"cordon/internal/escape/arena"
	"cordon/internal/gitfile"
	"cordon/internal/paths"
)

type runner struct {
	opts         Options
	dir          string
	attack       []string
	repositories *arena.Repositories
}

// Place finds a directory for fixtures that a cell shows: CORDON_ESCAPE_DIR, or
// the first of a few usual places that can be written. The caller removes it.
func Place() (string, error) {
	candidates := []string{"/opt", "/srv", "/var/lib"}
	if home, err := os.UserHomeDir(); err == nil {
		candidates = append(candidates, home)
	}
	if named := os.Getenv("CORDON_ESCAPE_DIR"); named != "" {
		candidates = []string{named}
	}
	var errs []error
	for _, c := range candidates {
		if err := suits(c); err != nil {
			errs = append(errs, err)
			continue
		}
		dir, err := os.MkdirTemp(c, "cordon-escape-")
		if err == nil {
			return dir, os.Chmod(dir, 0o755)
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no place for fixtures (CORDON_ESCAPE_DIR can name one): %w", errors.Join(errs...))
}

// suits refuses what a cell replaces, and repositories, of which a cell would
// open the whole, and names that a policy could not spell.
func suits(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if strings.ContainsAny(real, "*?[]{}!$~\\\"") {
		return fmt.Errorf("%s: its name cannot stand in a policy", dir)
	}
	for _, private := range []string{"/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"} {
		if paths.Within(real, private) {
			return fmt.Errorf("%s is below %s, which a cell has of its own", dir, private)
		}
	}
	if around, ok := gitfile.Around(real); ok {
		return fmt.Errorf("%s is in the repository %s", dir, around.Top)
	}
	return nil
}

// Run runs the attempts, each without and then with confinement. An error means
// that the suite itself could not run; escapes are in the results.
func Run(ctx context.Context, o Options) ([]Result, error) {
	if err := suits(o.Dir); err != nil {
		return nil, err
	}
	r := &runner{opts: o, dir: o.Dir}
	if err := r.install(); err != nil {
		return nil, err
	}
	var err error
	if r.repositories, err = arena.NewRepositories(ctx, filepath.Join(o.Dir, "templates")); err != nil {
		return nil, err
	}
	var together, alone []arena.Attempt
	for _, a := range Attempts() {
		switch {
		case o.Pick != nil && !o.Pick(a):
		case a.Alone:
			alone = append(alone, a)
		default:
			together = append(together, a)
		}
	}
	n := o.Parallel
	if n == 0 {
		n = 2 * runtime.NumCPU()
	}
	results := r.all(ctx, together, n)
	return append(results, r.all(ctx, alone, 1)...), ctx.Err()
}

// install copies the program that attacks to where the cell shows it.
func (r *runner) install() error {
	bin := filepath.Join(r.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	from, err := os.Open(r.opts.Attack[0])
	if err != nil {
		return err
	}
	defer from.Close()
	name := filepath.Join(bin, "attempt")
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	r.attack = append([]string{name}, r.opts.Attack[1:]...)
	return errors.Join(err, to.Close())
}

func (r *runner) all(ctx context.Context, list []arena.Attempt, n int) []Result {
	results := make([]Result, len(list))
	next := make(chan int)
	var wg sync.WaitGroup
	var one sync.Mutex
	for range n {
		wg.Go(func() {
			for i := range next {
				began := time.Now()
				results[i] = r.one(ctx, list[i])
				results[i].Took = time.Since(began)
				if r.opts.Each != nil {
					one.Lock()
					r.opts.Each(results[i])
					one.Unlock()
				}
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}

// one runs an attempt: the control, and if that succeeds the real thing.
func (r *runner) one(ctx context.Context, at arena.Attempt) Result {
	res := Result{Attempt: at, Control: NotTested, Verdict: NotTested}
	if at.Root && os.Getuid() != 0 {
		res.Detail = "its control needs root"
		return res
	}
	if at.Tries != "" {
		if _, err := os.Stat(at.Tries); err != nil {
			res.Detail = "this machine has no " + at.Tries
			return res
		}
	}
	control := r.control(ctx, at)
	if control.verdict != Escaped {
		res.Detail, res.Died = "the control does not succeed here: "+control.detail, control.verdict == NotTested
		return res
	}
	if res.Control, res.Detail = Escaped, control.detail; r.opts.Confine == nil {
		return res
	}
	real := r.once(ctx, at, r.opts.Confine)
	res.Verdict, res.Detail, res.Died = real.verdict, real.detail, real.verdict == NotTested
	return res
}

// control runs an attempt without confinement, or remembers that it succeeded.
func (r *runner) control(ctx context.Context, at arena.Attempt) outcome {
	for _, known := range r.opts.Known {
		if known.Attempt.Name == at.Name && known.Control == Escaped {
			return outcome{Escaped, "it succeeded before"}
		}
	}
	return r.once(ctx, at, nil)
}

type outcome struct {
	verdict Verdict
	detail  string
}

// neverBegan is the outcome of an attack that left no word of its start. Whatever
// changed on the host, the attack is not known to have done it: cordon's own
// message may stand in a log. It shows nothing, and that is said.
func neverBegan(err error, output []byte, changed string) outcome {
	detail := fmt.Sprintf("the attack never began: %v: %s", err, arena.LastLine(output))
	if changed != "" {
		detail += "; all the same: " + changed
	}
	return outcome{NotTested, detail}
}

// once runs an attack in a fresh fixture and judges it.
func (r *runner) once(ctx context.Context, at arena.Attempt, confine func(string) []string) (o outcome) {
	f, err := arena.NewFixture(r.dir, r.attack, r.repositories, at, confine != nil)
	defer func() {
		if err := f.Close(); err != nil && o.verdict != Escaped {
			o = outcome{NotTested, fmt.Sprintf("clean up: %v", err)}
		}
	}()
	if err != nil {
		return outcome{NotTested, err.Error()}
	}
	output, err := f.Run(ctx, at, confine)
	if at.Twice && f.Begun() {
		output, err = f.Run(ctx, at, confine)
	}
	escaped, jerr := f.Judge(at)
	switch {
	case escaped != "" && (f.Begun() || at.Launch):
		return outcome{Escaped, escaped}
	case !f.Begun() && at.Launch && f.Confined && refused(err):
		return outcome{Held, "refused: " + arena.LastLine(output)}
	case !f.Begun():
		return neverBegan(err, output, escaped)
	case jerr != nil:
		return outcome{NotTested, jerr.Error()}
	case f.Ended() == "":
		return outcome{Held, fmt.Sprintf("ended by force: %v", err)}
	}
	return outcome{Held, f.Ended()}
}

// refused reports whether cordon refused to start the attack, and said so by its
// exit code. A cell that failed, or a program that was not found, is no refusal.
func refused(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 3
}
