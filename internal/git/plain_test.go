package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/testfile"
)

// The tests compare cordon's git with the operator's own: plain runs git as a
// person would, with every configuration and hook of the repository.

// operator is the environment of a person without configuration.
func operator(t *testing.T) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Operator", "GIT_AUTHOR_EMAIL=operator@example.com",
		"GIT_COMMITTER_NAME=Operator", "GIT_COMMITTER_EMAIL=operator@example.com",
	}
}

func tryPlain(t *testing.T, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, operator(t), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func plain(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryPlain(t, dir, "", args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func find(t *testing.T) Binary {
	t.Helper()
	bin, err := Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// write and read are files of a test's own.
var write, read = testfile.Write, testfile.Read

// host makes a repository with one commit of the given files and returns it
// with its checkout.
func host(t *testing.T, files map[string]string) (Host, Checkout) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plain(t, dir, "init", "-q", "-b", "main")
	commit(t, dir, "base", files)
	h, err := Discover(context.Background(), find(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	return h, Checkout{Top: h.Top, GitDir: h.Dir, Branch: "refs/heads/main"}
}

// commit writes files, where "" deletes, and commits everything.
func commit(t *testing.T, dir, message string, files map[string]string) OID {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if content == "" {
			if err := os.Remove(full); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, full, content)
	}
	plain(t, dir, "add", "-A", "-f")
	plain(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return head(t, dir)
}

func head(t *testing.T, dir string) OID {
	t.Helper()
	o, err := ParseOID(plain(t, dir, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
