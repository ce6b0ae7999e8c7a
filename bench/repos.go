package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/git"
)

// generate makes a repository with a checkout. The same number of files gives the
// same commit every time.
func generate(ctx context.Context, dir string, files int) error {
	if err := gitIn(ctx, "", "init", "-q", "-b", "main", dir); err != nil {
		return err
	}
	err := fastImport(ctx, dir, func(w io.Writer) {
		fmt.Fprintf(w, "commit refs/heads/main\n%sdata 4\nbase\n", committer)
		write(w, ".gitignore", []byte("*.o\n*.log\n/build/\n"))
		text := prose()
		for i := range files - 1 {
			write(w, nameOf(i), contentOf(i, text))
		}
	})
	if err != nil {
		return err
	}
	return gitIn(ctx, dir, "reset", "-q", "--hard")
}

const committer = "committer bench <bench@example.com> 1700000000 +0000\n"

// fastImport gives git a stream of commits. Objects stay in the one pack that it
// makes of them, as after a clone.
func fastImport(ctx context.Context, dir string, stream func(io.Writer)) error {
	cmd := gitCommand(ctx, dir, "-c", "core.compression=1", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--depth=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	w := bufio.NewWriterSize(in, 1<<20)
	stream(w)
	ended := w.Flush() // git's own words come first
	in.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, said.String())
	}
	return ended
}

func write(w io.Writer, path string, content []byte) {
	fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n", path, len(content))
	w.Write(content)
	io.WriteString(w, "\n")
}

// perDirectory is how many files and how many directories a directory holds.
const perDirectory = 12

// nameOf puts files into directories that lie in each other, with files on every
// level.
func nameOf(i int) string {
	var path strings.Builder
	for dir, level := i/perDirectory+1, 0; dir > 0; dir, level = (dir-1)/perDirectory, level+1 {
		fmt.Fprintf(&path, "%s%02d/", []string{"pkg", "mod", "sub", "part"}[level%4], (dir-1)%perDirectory)
	}
	return fmt.Sprintf("%sfile%05d.%s", path.String(), i, []string{"go", "c", "h", "md", "json", "py"}[i%6])
}

// prose is text of which all files are cuttings. It compresses about as well as
// source text does.
func prose() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4000)
	for i := range words {
		for range 2 + r.IntN(9) {
			words[i] += string(rune('a' + r.IntN(26)))
		}
	}
	var b bytes.Buffer
	for b.Len() < 4<<20 {
		b.WriteString(strings.Repeat("\t", r.IntN(4)))
		for range 1 + r.IntN(10) {
			b.WriteString(words[int(math.Pow(r.Float64(), 3)*float64(len(words)))])
			b.WriteString([]string{" ", " ", "(", ") ", ", ", " = ", "."}[r.IntN(7)])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// contentOf is the text of a file: mostly 0.4 to 12 KB, one in 200 up to 120 KB.
func contentOf(i int, text []byte) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 3))
	size := int(400 * math.Pow(30, r.Float64()))
	if r.IntN(200) == 0 {
		size *= 10
	}
	at := r.IntN(len(text) - size)
	return append(fmt.Appendf(nil, "file %d\n", i), text[at:at+size]...)
}

// gitCommand is git as a person with no configuration of their own runs it.
func gitCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, plainEnviron(), waitDelay
	return cmd
}

// waitDelay is for what a program that was ended has started and left behind.
const waitDelay = 5 * time.Second

func plainEnviron() []string {
	return append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.com", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.com")
}

func gitIn(ctx context.Context, dir string, args ...string) error {
	if out, err := gitCommand(ctx, dir, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

// borrow makes a checkout of a repository that is somebody's: that is only read.
func borrow(ctx context.Context, from, dir string) error {
	if err := gitIn(ctx, "", "clone", "-q", "--shared", from, dir); err != nil {
		return err
	}
	return gitIn(ctx, dir, "checkout", "-q", "-B", "bench")
}

// changeSome commits a change of a few files to a branch that nobody is on.
func changeSome(ctx context.Context, top string, from git.OID, files []git.File) error {
	texts := make([][]byte, len(files))
	for i, f := range files {
		text, err := os.ReadFile(filepath.Join(top, f.Path))
		if err != nil {
			return err
		}
		texts[i] = append(text, "changed\n"...)
	}
	return fastImport(ctx, top, func(w io.Writer) {
		fmt.Fprintf(w, "commit refs/heads/bench-next\n%sdata 4\nnext\nfrom %s\n", committer, from)
		for i, f := range files {
			write(w, quoted(f.Path), texts[i])
		}
	})
}

// quoted is a path as fast-import reads it whatever it holds.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
