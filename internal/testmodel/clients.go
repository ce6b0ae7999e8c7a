package testmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"cordon/internal/agent/clients"
	"cordon/internal/policy"
)

// Package is where a client comes from.
type Package struct{ Name, Version string }

// Packages are those of the real clients, pinned, by the names of their programs.
var Packages = packages()

func packages() map[string]Package {
	list := map[string]Package{}
	for _, a := range clients.All() {
		list[a.Program] = Package{a.Package, a.Tested.String()}
	}
	return list
}

// Npm are arguments that make npm ask the registry that the preset is for, whatever the
// configuration of the machine says.
var Npm = []string{"--registry=https://" + registry() + "/", "--userconfig=/dev/null", "--no-audit", "--no-fund"}

func registry() string {
	p, ok := policy.PresetNamed("@npm")
	if !ok {
		panic("there is no preset @npm")
	}
	return p.Domains[0].Domain
}

// Install is the directory with the programs of the real clients. They are installed
// once for each set of versions and each user; CORDON_TEST_CLIENTS names a directory
// that has them in node_modules already, or is to have them.
var Install = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("node"); err != nil {
		return "", err
	}
	var pkgs []string
	for _, c := range Packages {
		pkgs = append(pkgs, c.Name+"@"+c.Version)
	}
	slices.Sort(pkgs)
	dir, err := clientsDir(pkgs)
	if err != nil {
		return "", err
	}
	if bin, err := clientsIn(dir); err == nil {
		return bin, nil // also where this user may not write
	}
	release, err := holdClients(dir)
	if err != nil {
		return "", err
	}
	defer release()
	if bin, err := clientsIn(dir); err == nil {
		return bin, nil // by another process, meanwhile
	}
	cmd := exec.Command("npm", append(append([]string{"install", "--prefix", dir}, pkgs...), Npm...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install %s: %w\n%s", strings.Join(pkgs, " "), err, out)
	}
	return clientsIn(dir)
})

// clientsDir is where the clients are, or are to be.
func clientsDir(pkgs []string) (string, error) {
	if dir := os.Getenv("CORDON_TEST_CLIENTS"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join(pkgs, "\n")))
	return filepath.Join(cache, "cordon-test", "clients-"+hex.EncodeToString(sum[:6])), nil
}

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
	for name, c := range Packages {
		var is struct{ Version string }
		text, err := os.ReadFile(filepath.Join(dir, "node_modules", c.Name, "package.json"))
		if err == nil {
			err = json.Unmarshal(text, &is)
		}
		if err == nil && is.Version != c.Version {
			err = fmt.Errorf("%s in %s is %s, and the tests are for %s", c.Name, dir, is.Version, c.Version)
		}
		if err == nil {
			_, err = os.Stat(filepath.Join(bin, name))
		}
		if err != nil {
			return "", err
		}
	}
	return bin, nil
}
