package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// generate makes a repository with a checkout. The same number of files gives the same commit every time.
func generate(b *testing.B, dir string, files int) string {
	b.Helper()
	must(b, "", "git", "init", "-q", "-b", "main", dir)
	cmd := exec.Command("git", "-c", "core.compression=1", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--depth=0")
	cmd.Dir = dir // objects stay in the one pack that this makes, as after a clone
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(in, 1<<20)
	fmt.Fprint(w, "commit refs/heads/main\ncommitter bench <bench@example.com> 1700000000 +0000\ndata 4\nbase\n")
	addFile(w, ".gitignore", []byte("*.o\n*.log\n/build/\n"))
	text := prose()
	for i := range files - 1 {
		addFile(w, nameOf(i), contentOf(i, text))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal("git fast-import: ", err)
	}
	must(b, dir, "git", "reset", "-q", "--hard")
	must(b, dir, "git", "config", "user.name", "bench")
	must(b, dir, "git", "config", "user.email", "bench@example.com")
	return dir
}

func addFile(w io.Writer, path string, content []byte) {
	fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
}

// perDirectory is how many files and how many directories a directory holds.
const perDirectory = 12

// nameOf puts files into directories that lie in each other, with files on every level.
func nameOf(i int) string {
	var path strings.Builder
	for dir, level := i/perDirectory+1, 0; dir > 0; dir, level = (dir-1)/perDirectory, level+1 {
		fmt.Fprintf(&path, "%s%02d/", []string{"pkg", "mod", "sub", "part"}[level%4], (dir-1)%perDirectory)
	}
	return fmt.Sprintf("%sfile%05d.%s", path.String(), i, []string{"go", "c", "h", "md", "json", "py"}[i%6])
}

// prose is text of which all files are cuttings. It compresses about as well as source text does.
func prose() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4000)
	for i := range words {
		for range 2 + r.IntN(9) {
			words[i] += string(rune('a' + r.IntN(26)))
		}
	}
	var text []byte
	for len(text) < 4<<20 {
		text = append(text, strings.Repeat("\t", r.IntN(4))...)
		for range 1 + r.IntN(10) {
			text = append(text, words[int(math.Pow(r.Float64(), 3)*float64(len(words)))]...)
			text = append(text, []string{" ", " ", "(", ") ", ", ", " = ", "."}[r.IntN(7)]...)
		}
		text = append(text, '\n')
	}
	return text
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
