package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	programs["swapper"] = func() { os.Exit(swap(os.Args[1], os.Args[2])) }
}

// swap waits until somebody writes in a directory, and puts a link in its place. It
// says on standard output when it waits and when it has done so.
func swap(dir, link string) int {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_MODIFY)
	}
	if err == nil {
		fmt.Println("waiting")
		_, err = unix.Read(fd, make([]byte, 4096))
	}
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "swapper:", err)
		return 1
	}
	fmt.Println("swapped")
	return 0
}

// arena is a repository with a tracked directory, a link out of it in an ignored one,
// and the place that the link leads to.
func arena(t *testing.T) (s *site, outside string) {
	t.Helper()
	s = newSite(t)
	s.write("repo/many/first", "1\n")
	s.write("repo/.gitignore", "build/\n")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "many")
	outside = s.place("home/outside")
	for _, dir := range []string{outside, s.place("repo/build")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, s.place("repo/build/link")); err != nil {
		t.Fatal(err)
	}
	return s, outside
}

// ambush starts the swapper in the checkout, under a command or by itself, and returns
// when it waits. The function that it returns waits for the swap.
func (s *site) ambush(under ...string) func() {
	s.t.Helper()
	program := s.place("repo/build/swapper")
	copyProgram(s.t, program)
	cmd := exec.Command(program, "many", "build/link")
	if len(under) > 0 {
		cmd = exec.Command(under[0], append(under[1:], program, "many", "build/link")...)
	}
	cmd.Dir, cmd.Env, cmd.Stderr = s.repo, s.env, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	said := make([]byte, len("waiting\n"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "waiting\n" {
		s.t.Fatalf("the swapper says %q, %v", said, err)
	}
	return func() {
		rest, err := io.ReadAll(out)
		if err != nil || !strings.Contains(string(rest), "swapped") {
			s.t.Fatalf("the swapper says %q, %v: it did not swap", rest, err)
		}
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// By another process: a program that this one has open for writing may be inherited
	// by a child of another test, and then it cannot be started ("text file busy").
	if out, err := exec.Command("cp", self, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// adding is a worker that adds files to the tracked directory.
const adding = "for i in $(seq 300); do echo $i >many/new-$i; done"

// A directory of the checkout that a program swaps for a link while a result lands
// does not lead the gate out of the checkout.
func TestGateStaysInTheCheckout(t *testing.T) {
	t.Parallel()
	// What the attack is worth: git itself writes through the link.
	t.Run("control", func(t *testing.T) {
		t.Parallel()
		for range 10 { // the swapper may come late
			s, outside := arena(t)
			for i := range 300 {
				s.write(fmt.Sprintf("repo/many/new-%d", i), "x\n")
			}
			s.git("add", "many")
			s.git("commit", "-q", "-m", "more")
			s.git("reset", "-q", "--hard", "HEAD~1")
			swapped := s.ambush()
			s.git("read-tree", "-m", "-u", "HEAD", "HEAD@{1}")
			swapped()
			if len(entries(t, outside)) > 0 {
				return
			}
		}
		t.Error("git wrote nothing through the link: the attack proves nothing")
	})
	for name, under := range map[string][]string{
		"by itself":         nil,
		"under cordon exec": {"cordon", "exec", "--live", "--"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 10 {
				if ambushed(t, under...) {
					return
				}
			}
			t.Error("the swapper came late each time: this shows nothing")
		})
	}
}

// ambushed lets a result land while the swapper waits, and reports whether it came before all files were placed.
func ambushed(t *testing.T, under ...string) bool {
	t.Helper()
	s, outside := arena(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", adding)
	swapped := s.ambush(under...)
	o := s.cordon([]int{0, 5}, "merge", "--operator-active", s.only().Worker)
	swapped()
	if got := entries(t, outside); len(got) > 0 {
		t.Errorf("%d files were written outside, such as %s", len(got), got[0])
		return true
	}
	if o.code == 0 { // then all were there when the directory went
		if got := entries(t, s.place("repo/build/link")); len(got) != 301 {
			t.Errorf("it ended well, and of 301 files are there %d:\n%s%s", len(got), o.out, o.err)
			return true
		}
		return false
	}
	if !strings.Contains(o.err, "these files were left as they are") {
		t.Errorf("ended with %d\n%s%s", o.code, o.out, o.err)
	}
	if got := s.landed(s.only().Worker); got != 1 {
		t.Errorf("it landed %d times", got)
	}
	// Nothing that landed is staged for deletion, and what was said brings it back.
	if got := s.git("diff", "--cached", "--name-only"); got != "" {
		t.Errorf("staged: %s", got)
	}
	if err := os.Remove(s.place("repo/many")); err != nil {
		t.Fatal(err)
	}
	s.git("stash")
	s.sound()
	return true
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
