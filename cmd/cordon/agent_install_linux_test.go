package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cordon/internal/agent"
	"cordon/internal/client"
)

// realClients are the packages of the real clients, pinned.
var realClients = map[client.Name]struct{ pkg, version string }{
	client.Claude:   {"@anthropic-ai/claude-code", "2.1.325"},
	client.Codex:    {"@openai/codex", "0.166.0"},
	client.Gemini:   {"@google/gemini-cli", "0.61.0"},
	client.OpenCode: {"opencode-ai", "1.18.33"},
	client.Copilot:  {"@github/copilot", "1.0.102"},
}

// What the tests run is what cordon says it was tested with.
func TestClientsArePinned(t *testing.T) {
	for _, name := range client.Names() {
		a, err := agent.Of(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := realClients[name]; a.Tested.String() != want.version || a.Package != want.pkg {
			t.Errorf("%s was tested as %s %s, and the tests run %s %s", name, a.Package, a.Tested, want.pkg, want.version)
		}
	}
}

// installed is the directory with the programs of the real clients. They are
// installed once for each set of versions and each user; CORDON_TEST_CLIENTS names a
// directory that has them in node_modules already. Without them a test fails: what
// was not run with the real clients is not known.
func installed(t *testing.T) string {
	t.Helper()
	bin, err := installClients()
	if err != nil {
		t.Fatalf("the real clients are not here: %v", err)
	}
	return bin
}

var installClients = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("node"); err != nil {
		return "", err
	}
	if dir := os.Getenv("CORDON_TEST_CLIENTS"); dir != "" {
		return clientsIn(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	var pkgs []string
	for _, c := range realClients {
		pkgs = append(pkgs, c.pkg+"@"+c.version)
	}
	slices.Sort(pkgs)
	sum := sha256.Sum256([]byte(strings.Join(pkgs, "\n")))
	dir := filepath.Join(cache, "cordon-test", "clients-"+hex.EncodeToString(sum[:6]))
	release, err := holdClients(dir)
	if err != nil {
		return "", err
	}
	defer release()
	done := filepath.Join(dir, "complete")
	if _, err := os.Stat(done); err == nil {
		return clientsIn(dir)
	}
	if err := os.RemoveAll(dir); err != nil { // what an installation left that was broken off
		return "", err
	}
	cmd := exec.Command("npm", append(append([]string{"install", "--prefix", dir}, pkgs...), plainNpm...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install %s: %w\n%s", strings.Join(pkgs, " "), err, out)
	}
	bin, err := clientsIn(dir)
	if err != nil {
		return "", err
	}
	return bin, os.WriteFile(done, nil, 0o644)
})

// holdClients keeps other processes from installing into the same directory.
func holdClients(dir string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}

// clientsIn wants every client in a directory, in its pinned version.
func clientsIn(dir string) (string, error) {
	bin := filepath.Join(dir, "node_modules", ".bin")
	for name, c := range realClients {
		var is struct{ Version string }
		text, err := os.ReadFile(filepath.Join(dir, "node_modules", c.pkg, "package.json"))
		if err == nil {
			err = json.Unmarshal(text, &is)
		}
		if err == nil && is.Version != c.version {
			err = fmt.Errorf("%s in %s is %s, and the tests are for %s", c.pkg, dir, is.Version, c.version)
		}
		if err == nil {
			_, err = os.Stat(filepath.Join(bin, string(name)))
		}
		if err != nil {
			return "", err
		}
	}
	return bin, nil
}

// clients puts the real clients into the home of the site, where a cell shows them,
// and is the directory of their programs. What cannot be linked is not in the home of
// anybody that a cell hides: it is used where it is.
func (s *site) clients() string {
	s.t.Helper()
	bin := installed(s.t)
	from, to := filepath.Dir(filepath.Dir(bin)), filepath.Join(s.home, "clients")
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(at, 0o755)
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		}
		return os.Link(path, at)
	})
	if errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EPERM) {
		return bin
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return filepath.Join(to, "node_modules", ".bin")
}
