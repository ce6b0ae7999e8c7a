package testground

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"cordon/internal/gitfile"
)

// inherited are the variables of the machine that change what git, a client or cordon does. The tests set
// those that they are about.
var inherited = []string{
	"GIT_", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_DATA_HOME=", "XDG_RUNTIME_DIR=", "LC_", "LANG=", "LANGUAGE=", "TZ=",
	"NO_COLOR=", "FORCE_COLOR=", "CLICOLOR",
	"EDITOR=", "VISUAL=", "PAGER=", "BROWSER=", "SSH_", "GPG_", "GNUPGHOME=", "http_proxy=", "https_proxy=", "all_proxy=", "no_proxy=",
	"HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=", "NO_PROXY=", "TMUX", "SUDO_",
}

// stand takes the variables of the machine away and makes a directory for temporary files below parent, or where
// temporary files are if that is "".
func stand(parent string) (leave func(), err error) {
	for _, entry := range os.Environ() {
		for _, name := range inherited {
			if strings.HasPrefix(entry, name) {
				key, _, _ := strings.Cut(entry, "=")
				if err := os.Unsetenv(key); err != nil {
					return nil, err
				}
			}
		}
	}
	syscall.Umask(0o022) // with another, files that tests write belong to others too, or cannot be read by them
	dir, err := os.MkdirTemp(parent, "ct-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // tests that become another user pass through it
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if err := alone(dir); err != nil {
		return nil, err
	}
	if parent != "" { // without cells, nothing needs the home of this user
		if err := os.Setenv("HOME", dir); err != nil {
			return nil, err
		}
	}
	leave = func() { os.RemoveAll(dir) } // what a test left is its own failure
	return leave, os.Setenv("TMPDIR", dir)
}

// alone refuses a directory below a repository: git and cordon would find it from every test.
func alone(dir string) error {
	if at, found := gitfile.Around(filepath.Dir(dir)); found {
		return fmt.Errorf("the repository %s disturbs the tests, whose temporary files would lie in it: set TMPDIR to a directory outside of it", at.GitDir)
	}
	return nil
}
