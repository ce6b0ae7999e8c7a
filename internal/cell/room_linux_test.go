package cell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/cell/plan"
	"cordon/internal/testwait"
)

// room is a tree and a home of a test's own, and the cell around them. Outside
// lies beside them: it is seen in the cell, and written only without one.
type room struct {
	t                   *testing.T
	tree, home, outside string
	order               plan.Order
	command             Command
}

func newRoom(t *testing.T) *room {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t, tree: filepath.Join(base, "tree"), home: filepath.Join(base, "home"), outside: filepath.Join(base, "outside")}
	for _, dir := range []string{r.tree, r.home, r.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.order = plan.Order{Home: r.home, Write: []string{r.tree}, Read: []string{"/"}, Bind: []plan.Bind{{From: r.outside, At: r.outside}}}
	r.command = Command{Dir: r.tree, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "OUTSIDE=" + r.outside}}
	return r
}

// put writes a file below the room.
func (r *room) put(path, text string) string {
	r.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// read is what a file holds on the host; "" when there is none.
func (r *room) read(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(b)
}

// run runs a program in the cell.
func (r *room) run(argv ...string) (Exit, string, error) {
	c := r.command
	o := r.order
	c.Cell = &o
	return r.start(c, argv)
}

// free runs the same without one.
func (r *room) free(argv ...string) (Exit, string, error) { return r.start(r.command, argv) }

func (r *room) start(c Command, argv []string) (Exit, string, error) {
	r.t.Helper()
	var out bytes.Buffer
	c.Argv = argv
	if c.Stdout == nil {
		c.Stdout = &out
	}
	if c.Stderr == nil {
		c.Stderr = c.Stdout
	}
	exit, err := Run(r.t.Context(), c)
	return exit, out.String(), err
}

// begun is a command that runs in a cell while its test goes on.
type begun struct {
	ended chan struct{}
	exit  Exit
	out   bytes.Buffer
	err   error
}

// begin runs a command in the cell while the test goes on, and at most for as long.
func (r *room) begin(ctx context.Context, c Command) *begun {
	o, b := r.order, &begun{ended: make(chan struct{})}
	c.Cell = &o
	if c.Stdout == nil {
		c.Stdout, c.Stderr = &b.out, &b.out
	}
	go func() {
		defer close(b.ended)
		b.exit, b.err = Run(ctx, c)
	}()
	r.t.Cleanup(func() { <-b.ended })
	return b
}

func (r *room) beginShell(line string) *begun {
	c := r.command
	c.Argv = []string{"sh", "-c", line}
	return r.begin(r.t.Context(), c)
}

func (b *begun) runs() bool {
	select {
	case <-b.ended:
		return false
	default:
		return true
	}
}

// end waits for the end of the command.
func (b *begun) end() (Exit, string, error) {
	<-b.ended
	return b.exit, b.out.String(), b.err
}

// appears waits until the command has written a file in its tree.
func (r *room) appears(b *begun, name string) {
	r.t.Helper()
	there := func() bool { return r.read(filepath.Join(r.tree, name)) != "" }
	testwait.Until(r.t, "the command writes "+name+", or ends", func() bool { return there() || !b.runs() })
	if !there() {
		r.t.Fatalf("the command ended before it wrote %s: %+v, %v\n%s", name, b.exit, b.err, b.out.String())
	}
}

// sh runs a shell line in the cell and wants it to end well.
func (r *room) sh(line string) string {
	r.t.Helper()
	exit, out, err := r.run("sh", "-c", line)
	if err != nil || !exit.OK() {
		r.t.Fatalf("in the cell %q: %+v, %v\n%s", line, exit, err, out)
	}
	return out
}

// refused wants a line to succeed without a cell, and to fail in it with a word.
// The control runs last: it is what the cell must not have done.
func (r *room) refused(line, word string) {
	r.t.Helper()
	exit, out, err := r.run("sh", "-c", line)
	if err != nil || exit.OK() || !strings.Contains(out, word) {
		r.t.Errorf("in the cell %q: %+v, %v, want %q in\n%s", line, exit, err, word, out)
	}
	if exit, out, err = r.free("sh", "-c", line); err != nil || !exit.OK() {
		r.t.Errorf("the control fails, which shows nothing: %q: %+v, %v\n%s", line, exit, err, out)
	}
}

// marked counts the processes with a text among their arguments.
func withArgument(t *testing.T, text string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(text)) {
			n++
		}
	}
	return n
}

// probe copies this program into the tree. Called as "probe WORD ARG" it does
// what no shell can, see probes.
func (r *room) probe() string {
	r.t.Helper()
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		r.t.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(r.tree, "probe")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err = io.Copy(out, in); errors.Join(err, out.Close()) != nil {
		r.t.Fatal(err)
	}
	return path
}

// patience is how long a probe waits for what is answered or refused at once, on a machine that does other things too.
const patience = time.Minute

// probes are what the test program does when it is started as a probe.
var probes = map[string]func(string) error{
	"net": probeNet,
	"connect": func(to string) error {
		c, err := net.DialTimeout("unix", to, patience)
		if err == nil {
			err = c.Close()
		}
		return err
	},
}

// probing does what a probe was asked for and does not return.
func probing() {
	if len(os.Args) == 3 && filepath.Base(os.Args[0]) == "probe" {
		if err := probes[os.Args[1]](os.Args[2]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// need skips a test for want of a program.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}
