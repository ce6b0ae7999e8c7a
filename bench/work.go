package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// task is a piece of everyday work, done in the current directory.
type task struct {
	name, what string
	do         func() error
}

var tasks = []task{
	{"status", "git status, 20,000 files", func() error { return repeat(3, "git", "status", "--porcelain") }},
	{"files", "20,000 small files written, read, removed", smallFiles},
	{"build", "go build, warm cache", func() error { return repeat(1, "go", "build", "-C", "module", "-o", os.DevNull, ".") }},
	{"spawn", "300 processes", func() error { return repeat(300, "/bin/true") }},
}

// work does one task, inside or outside, and prints how long it took.
func work(name string) int {
	for _, t := range tasks {
		if t.name != name {
			continue
		}
		if err := t.do(); err != nil { // caches are warm after this
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		began := time.Now()
		if err := t.do(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(time.Since(began).Nanoseconds())
		return 0
	}
	fmt.Fprintln(os.Stderr, "no such work:", name)
	return 1
}

func repeat(n int, argv ...string) error {
	for range n {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", argv[0], err, out)
		}
	}
	return nil
}

func smallFiles() error {
	dir, err := os.MkdirTemp(".", "small-")
	if err != nil {
		return err
	}
	for i := range 20000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte("small\n"), 0o644); err != nil {
			return err
		}
	}
	for i := range 20000 {
		if _, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// prepare makes a repository of 20,000 files with a Go module in it.
func prepare(dir string) error {
	for i := range 20000 {
		p := filepath.Join(dir, fmt.Sprintf("d%03d", i/100), fmt.Sprintf("f%02d", i%100))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(p, []byte(fmt.Sprintln("file", i)), 0o644); err != nil {
			return err
		}
	}
	module := filepath.Join(dir, "module")
	if err := os.Mkdir(module, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"go.mod":  "module example\n\ngo 1.24\n",
		"main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc main() { fmt.Println(http.StatusOK) }\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, argv := range [][]string{
		{"git", "init", "-q", "-b", "main"}, {"git", "add", "-A"},
		{"git", "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-qm", "base"},
		{"git", "status"},
	} {
		if err := run(dir, argv); err != nil {
			return err
		}
	}
	return nil
}
