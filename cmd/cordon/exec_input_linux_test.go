package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// injector writes a line to its own standard input, opened again for writing.
const injector = `exec 3<&0
printf 'touch PWNED\n' | dd of=/proc/self/fd/3 oflag=nonblock conv=notrunc oflag=append 2>/dev/null
exit 0
`

// inputs are the ways in which a script comes to a shell that shares its standard
// input with the commands of the script.
var inputs = map[string]func(t *testing.T, script string) *os.File{
	"pipe": func(t *testing.T, script string) *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, script); err != nil {
			t.Fatal(err)
		}
		w.Close()
		return r
	},
	"file": func(t *testing.T, script string) *os.File {
		name := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(name, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	},
	"socket": func(t *testing.T, script string) *os.File {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Write(pair[1], []byte(script)); err != nil {
			t.Fatal(err)
		}
		syscall.Close(pair[1])
		return os.NewFile(uintptr(pair[0]), "socket")
	},
}

// fed runs a shell of the operator's that reads its script from an input.
func fed(s *site, in *os.File) string {
	s.t.Helper()
	defer in.Close()
	return operatorShell(s, s.repo, s.env, in)
}

// operatorShell runs a shell of the operator's, and returns what it says.
func operatorShell(s *site, dir string, env []string, in io.Reader, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("bash", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, in
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("bash: %v\n%s", err, out)
	}
	return string(out)
}

// The command cannot write into the script of the shell that started cordon.
func TestExecCannotWriteItsInput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("repo/inject.sh", injector)
	planted := s.place("repo/PWNED")
	for name, input := range inputs {
		// Without cordon the line is run wherever it can be written; a socket has no path
		// that could be opened again.
		if fed(s, input(t, "sh inject.sh\necho after\n")); name != "socket" {
			if _, err := os.Stat(planted); err != nil {
				t.Errorf("%s: the injected line does not run without cordon: this shows nothing (%v)", name, err)
			}
		}
		_ = os.Remove(planted)
		if out := fed(s, input(t, "cordon exec -- sh inject.sh\necho after\n")); out != "after\n" {
			t.Errorf("%s: %q", name, out)
		}
		if _, err := os.Stat(planted); err == nil {
			t.Errorf("%s: the shell of the operator ran what the command wrote", name)
		}
		_ = os.Remove(planted)
	}
}

// A command under cordon takes from a shared input exactly what it reads, as it does
// without cordon: the rest of a script stays the shell's.
func TestExecLeavesTheRestOfItsInput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	long := strings.Repeat("#"+strings.Repeat("x", 99)+"\n", 200) // several pages
	for name, c := range map[string]struct{ script, want string }{
		"reads nothing":    {"RUN true\necho after\n", "after\n"},
		"reads a line":     {"RUN sh -c 'read x; echo got $x'\none\necho after\n", "got one\nafter\n"},
		"reads all":        {"RUN cat\necho after\n", "echo after\n"},
		"reads some pages": {"RUN sh -c 'while read x && test -n \"$x\"; do :; done'\n" + long + "\necho after\n", "after\n"},
		"starts again":     {"for i in 1 2 3; do RUN true; done\nRUN sh -c 'read x; echo $x'\none\nRUN sh -c 'read x; echo $x'\ntwo\necho after\n", "one\ntwo\nafter\n"},
		"feeds a loop":     {"printf '1\\n2\\n3\\n' | while read x; do RUN echo n$x; done\necho after\n", "n1\nn2\nn3\nafter\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, input := range inputs {
				if out := fed(s, input(t, strings.ReplaceAll(c.script, "RUN ", ""))); out != c.want {
					t.Errorf("%s, without cordon: %q, want %q", kind, out, c.want)
				}
				if out := fed(s, input(t, strings.ReplaceAll(c.script, "RUN ", "cordon exec -- "))); out != c.want {
					t.Errorf("%s: %q, want %q", kind, out, c.want)
				}
			}
		})
	}
}

// Much input comes through whole.
func TestExecMuchInput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := strings.Repeat("0123456789abcdef", 1<<16)
	s.write("repo/text", text)
	for _, script := range []string{"cordon exec -- wc -c <text\n", "cat text | cordon exec -- wc -c\n"} {
		if out := strings.TrimSpace(fed(s, inputs["pipe"](t, script))); out != "1048576" {
			t.Errorf("%s: %q", script, out)
		}
	}
}

// A command that writes to its own input does not wait for itself, as it would not
// without cordon.
func TestExecWritesItsOwnInput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const script = `printf '1\n2\n' | RUN timeout 60 sh -c 'read a; echo $a; echo x >/proc/self/fd/0; echo end; cat'` + "\n"
	for _, run := range []string{"", "cordon exec -- "} {
		if out := fed(s, inputs["file"](t, strings.ReplaceAll(script, "RUN ", run))); out != "1\nend\n2\nx\n" {
			t.Errorf("with %q: %q", run, out)
		}
	}
}

// cordon ends when the command ends, and when it is told to, whatever the pipe between
// them is full of and although its own input never ends.
func TestExecEndsBesideItsInput(t *testing.T) {
	t.Parallel()
	const fills = `exec 3<&0; setsid sh -c "head -c 1000000 /dev/zero >/proc/self/fd/3" & echo up; `
	for name, c := range map[string]struct {
		script string
		signal syscall.Signal
		input  string
	}{
		"the command ends":                  {script: fills + "read x", input: "a\nb\n"},
		"nothing is read":                   {script: fills, input: "a\nb\n"},
		"there is no input":                 {script: fills},
		"interrupted":                       {script: fills + "wait", signal: syscall.SIGINT, input: "a\n"},
		"terminated":                        {script: fills + "wait", signal: syscall.SIGTERM},
		"interrupted while it writes":       {script: "exec 3<&0; echo up; exec head -c 1000000 /dev/zero >/proc/self/fd/3", signal: syscall.SIGINT, input: "a\n"},
		"it ends while it could still read": {script: "setsid cat >/dev/null <&0 & echo up", input: "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			in, hold, err := os.Pipe() // which stays open
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer hold.Close()
			if _, err := hold.WriteString(c.input); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "cordon", "exec", "--", "sh", "-c", c.script)
			cmd.Dir, cmd.Env, cmd.Stdin = s.repo, s.env, in
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, make([]byte, len("up\n"))); err != nil {
				t.Fatal(err)
			}
			if c.signal != 0 {
				_ = cmd.Process.Signal(c.signal)
			}
			err = cmd.Wait()
			if ended := err == nil; ended != (c.signal == 0) {
				t.Errorf("%v", err)
			}
		})
	}
}
