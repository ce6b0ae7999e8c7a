package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Signer signs commits as the operator's own git does.
type Signer struct {
	config []string
	env    []string
}

// SignError is a signature that could not be made.
type SignError struct{ Err error }

func (e *SignError) Error() string { return "the commit could not be signed: " + e.Err.Error() }

func (e *SignError) Unwrap() error { return e.Err }

// signingPrograms are the settings that name a program for each format, and the program
// without one.
var signingPrograms = map[string][]string{
	"openpgp": {"gpg.openpgp.program", "gpg.program", "gpg"},
	"x509":    {"gpg.x509.program", "gpgsm"},
	"ssh":     {"gpg.ssh.program", "ssh-keygen"},
}

// signingVariables let a signing program find its keys, its agent and a place to ask for a
// passphrase.
var signingVariables = []string{
	"HOME", "USER", "LOGNAME", "GNUPGHOME", "GPG_TTY", "PINENTRY_USER_DATA", "SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "TERM",
}

// Signs reports whether the operator's git signs commits: commit.gpgsign is on.
func (o Operator) Signs() bool {
	for _, s := range slices.Backward(o.values) {
		if s.Key == "commit.gpgsign" {
			n, err := strconv.Atoi(s.Value)
			return slices.Contains([]string{"", "true", "yes", "on"}, strings.ToLower(s.Value)) || err == nil && n != 0
		}
	}
	return false
}

// Signer is the operator's. No program is taken from the repository's own configuration,
// and none that lies in a tree.
func (o Operator) Signer() (*Signer, error) {
	format := cmp.Or(o.Value("gpg.format"), "openpgp")
	keys, ok := signingPrograms[format]
	if !ok {
		return nil, &SignError{fmt.Errorf("gpg.format is %q, and cordon knows openpgp, x509 and ssh", format)}
	}
	program := keys[len(keys)-1]
	for _, key := range slices.Backward(keys[:len(keys)-1]) {
		program = cmp.Or(o.Program(key), program)
	}
	program, err := o.find(program)
	if err != nil {
		return nil, &SignError{err}
	}
	s := &Signer{config: []string{"gpg.format=" + format, "gpg." + format + ".program=" + program}}
	if key := o.Value("user.signingkey"); key != "" {
		s.config = append(s.config, "user.signingkey="+key)
	}
	if asks := o.Program("gpg.ssh.defaultkeycommand"); asks != "" && format == "ssh" {
		if err := o.Outside("gpg.ssh.defaultKeyCommand", asks); err != nil {
			return nil, &SignError{err}
		}
		s.config = append(s.config, "gpg.ssh.defaultKeyCommand="+asks)
	}
	for _, name := range signingVariables {
		if value, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	return s, nil
}

// find is the file of a program that git starts without a shell.
func (o Operator) find(program string) (string, error) {
	at, err := exec.LookPath(Homed(program))
	if err != nil {
		return "", fmt.Errorf("the signing program: %w", err)
	}
	if at, err = filepath.Abs(at); err != nil {
		return "", err
	}
	if o.InTree(at) {
		return "", fmt.Errorf("the signing program %s is not run: it lies in a tree that a worker could have written", at)
	}
	return at, nil
}

// signPatience is how long a person may take to type a passphrase.
const signPatience = 5 * time.Minute

// Credit is who a commit names, and who signs it.
type Credit struct {
	Author    Person
	Committer Person  // the zero value: cordon
	Signer    *Signer // nil: nobody
}

// CommitAs writes a commit.
func (r Repo) CommitAs(ctx context.Context, tree OID, parents []OID, message string, by Credit) (OID, error) {
	args := []string{"commit-tree", string(tree), "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	c := call{env: []string{"GIT_AUTHOR_NAME=" + by.Author.Name, "GIT_AUTHOR_EMAIL=" + by.Author.Email}, stdin: strings.NewReader(message)}
	if by.Committer != (Person{}) {
		c.env = append(c.env, "GIT_COMMITTER_NAME="+by.Committer.Name, "GIT_COMMITTER_EMAIL="+by.Committer.Email)
	}
	if by.Signer != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, signPatience)
		defer cancel()
		args = slices.Insert(args, 1, "-S")
		c.config, c.env, c.asks = by.Signer.config, append(c.env, by.Signer.env...), true
	}
	c.args = args
	out, err := r.call(ctx, c)
	if err != nil && by.Signer != nil {
		var said *Error
		if errors.As(err, &said) {
			err = errors.New(strings.TrimSpace(said.Stderr))
		}
		return "", &SignError{err}
	}
	if err != nil {
		return "", err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}
