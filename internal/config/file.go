package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"cordon/internal/consent"
	"cordon/internal/gitfile"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

// Name is the name of the file in its directory.
const Name = "config.yaml"

const maxFile = 1 << 20

// Loaded is a configuration, and where it came from.
type Loaded struct {
	Config
	File  string           // where the file is, or would be
	There bool             // whether there is one
	Given strictyaml.Given // the keys that it gives, with their lines

	Machine strictyaml.Given // the keys that MachineFile gives, with their lines
	// Bound narrows every policy, whoever named it: the rights that the operator or the
	// machine wrote down. Isolation is without a bound where neither did: then the default is
	// for the policies of repositories only, which need the operator's consent.
	Bound policy.Rights
}

// Grants are the words for what the operator's own rights open in every repository.
func (l Loaded) Grants() []string { return consent.Written(l.Bound, l.Given) }

// Dir is the directory of the operator's configuration, whether it is there or not. No
// cell can read or write it.
func Dir() (string, error) {
	base := os.Getenv("XDG_CONFIG_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no directory for your configuration: %w", err)
		}
		base = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("XDG_CONFIG_HOME must be an absolute path, not %q", base)
	}
	return filepath.Join(base, "cordon"), nil
}

// Load reads the operator's configuration.
func Load() (Loaded, error) {
	dir, err := Dir()
	if err != nil {
		return Loaded{}, err
	}
	l := Loaded{Config: Default(), File: filepath.Join(dir, Name)}
	switch text, err := ReadOwn(l.File); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Loaded{}, err
	default:
		l.There = true
		if l.Config, l.Given, err = Parse(l.File, text); err != nil {
			return Loaded{}, err
		}
	}
	machine, given, err := readMachine(MachineFile)
	if err != nil {
		return Loaded{}, err
	}
	l.narrow(machine, given)
	return l, nil
}

// Secret reads the key of the webhook's signature. It is checked like the configuration,
// and nobody else may read it either.
func (l Loaded) Secret() ([]byte, error) {
	file := filepath.Join(filepath.Dir(l.File), l.Notify.Webhook.Secret)
	text, err := ReadOwn(file)
	if err != nil {
		return nil, err
	}
	fi, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if fi.Mode().Perm()&0o077 != 0 {
		return nil, refused(file, "others can read it", "chmod go= "+file)
	}
	return text, nil
}

// ReadOwn reads a file that only the operator, or root, can have written.
func ReadOwn(file string) ([]byte, error) { return owner{}.read(file) }

// owner is who may have written a file and the directories above it: the operator or root,
// or root alone. What root alone wrote may lie in a repository, as /etc often does.
type owner struct{ root bool }

func (o owner) read(file string) ([]byte, error) {
	if _, err := os.Lstat(file); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil { // a link to nothing is not a missing file
		return nil, refused(file, err.Error(), "")
	}
	f, err := plainfile.Open(real, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, fmt.Errorf("%s: %w", real, err)
	}
	if err := o.owns(real, &st); err != nil {
		return nil, err
	}
	// The directories of both spellings: a link can be replaced in its own.
	for _, place := range []string{file, real} {
		if err := o.checkAbove(place); err != nil {
			return nil, err
		}
	}
	return plainfile.Bounded(f, maxFile)
}

// checkAbove refuses a file if others can write a directory above it, or if it lies in a
// repository.
func (o owner) checkAbove(file string) error {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if err := o.owns(dir, &st); err != nil {
			return err
		}
		if _, in := gitfile.Here(dir); in && !o.root {
			return refused(file, "it lies inside the repository "+dir, "set XDG_CONFIG_HOME to a directory outside of it; if it holds your "+
				"dotfiles, rename its .git and call git with --git-dir and --work-tree")
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// owns refuses what others can change.
func (o owner) owns(path string, st *unix.Stat_t) error {
	if o.root && st.Uid != 0 {
		return refused(path, fmt.Sprintf("it belongs to uid %d", st.Uid), "chown root "+path)
	}
	if problem, hint := plainfile.Foreign(path, st); problem != "" {
		return refused(path, problem, hint)
	}
	return nil
}

func refused(path, problem, hint string) error {
	return &strictyaml.Error{Name: path, Problem: "your configuration is not used: " + problem, Hint: hint}
}
