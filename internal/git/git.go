// Package git is the only caller of the git binary.
//
// Every call has the same shape: an argument vector (never a shell string), a
// fixed environment built from nothing, and a list of configuration overrides
// that switch off everything git could execute or fetch on somebody else's
// behalf. System and global configuration are not read, but for one call that lists
// them and one that finds a repository: git refuses one of somebody else's by that
// configuration. What a repository's own configuration says is overridden where it could
// run a program.
//
// The package refuses to run git by discovery inside a tree that a worker could
// have written: callers name the git directory, and for the trees of workers
// there is no call at all. What a worker left is read by package audit, file by
// file.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// MinVersion is the oldest git that has merge-tree --write-tree and
// safe.bareRepository.
var MinVersion = Version{2, 38, 0}

// Version is a git release.
type Version [3]int

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Less reports whether v is older than w.
func (v Version) Less(w Version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

// Binary is a git executable whose version was read and found new enough.
type Binary struct {
	Path    string
	Version Version
	known   *known // nil: nothing is remembered
	memory  Memory // nil: nothing is remembered longer than this program runs
}

func parseVersion(s string) (Version, error) {
	var v Version
	word, ok := strings.CutPrefix(strings.TrimSpace(s), "git version ")
	if !ok {
		return v, fmt.Errorf("unexpected answer from git version: %q", s)
	}
	word, _, _ = strings.Cut(word, " ")
	for i, part := range strings.SplitN(word, ".", 4) {
		if i == len(v) {
			break
		}
		part, _, _ = strings.Cut(part, "-") // 2.40.0-rc1
		n, err := strconv.Atoi(part)
		if err != nil {
			break // 2.39.GIT
		}
		v[i] = n
	}
	if v[0] == 0 {
		return v, fmt.Errorf("unexpected answer from git version: %q", s)
	}
	return v, nil
}

// overrides are passed with -c on every call: the command line wins over every
// file, and is the scope in which git honours the safe.* keys.
var overrides = []string{
	"core.hooksPath=/dev/null",       // every hook, reference-transaction and post-index-change included
	"core.fsmonitor=false",           // a program that says what changed
	"core.attributesFile=/dev/null",  // operator-wide attributes change bytes
	"core.excludesFile=/dev/null",    // operator-wide ignore rules differ between machines
	"core.alternateRefsCommand=true", // a command run to list the refs of alternates
	"core.untrackedCache=false",      // a cache that can be made stale on purpose
	"core.commitGraph=false",         // a file that could lie about parents
	"core.autocrlf=false",            // the bytes in a tree are the bytes of the blob
	"core.fsync=all",                 // an object that a ref names is on disk
	"core.checkStat=default",         // a file of the same size and second is not an unchanged file
	"core.trustctime=true",
	"core.filesRefLockTimeout=5000", // another git process at the same ref is waited for
	"core.packedRefsTimeout=5000",
	"core.pager=cat",     // a program
	"diff.external=",     // a program
	"diff.renames=false", // a rename is a deletion and an addition
	"gpg.program=false",  // programs
	"gpg.openpgp.program=false",
	"gpg.x509.program=false",
	"gpg.ssh.program=false",
	"commit.gpgSign=false",
	"log.showSignature=false", // runs them
	"credential.helper=",      // programs
	"gc.auto=0",               // nothing is started behind our back
	"maintenance.auto=false",
	"submodule.recurse=false",
	"protocol.allow=never", // no transport at all: objects move through pack pipes
	"protocol.ext.allow=never",
	"protocol.file.allow=never",
	"safe.bareRepository=explicit",
	"init.defaultBranch=main",
	"advice.graftFileDeprecated=false", // said of GIT_GRAFT_FILE below, in every error
}

// environ is the whole environment of every git process.
func environ() []string {
	env := []string{
		"LC_ALL=C",
		"HOME=/nonexistent",
		"XDG_CONFIG_HOME=/nonexistent",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		// No transport at all. This wins over protocol.NAME.allow of a
		// repository, which protocol.allow on the command line does not.
		"GIT_ALLOW_PROTOCOL=",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_ASKPASS=true",
		"GIT_EDITOR=true",
		"GIT_PAGER=cat",
		"GIT_PROGRESS_DELAY=0",
		"GIT_GRAFT_FILE=/dev/null",
		"GIT_DEFAULT_REF_FORMAT=files",
		"GIT_AUTHOR_NAME=cordon", "GIT_AUTHOR_EMAIL=cordon@localhost",
		"GIT_COMMITTER_NAME=cordon", "GIT_COMMITTER_EMAIL=cordon@localhost",
	}
	if v, ok := os.LookupEnv("TMPDIR"); ok {
		env = append(env, "TMPDIR="+v)
	}
	return env
}

// setting is one key of git's configuration. A key may hold any character, an
// equals sign included, so it cannot always be given with -c.
type setting struct{ key, value string }

// settings are the variables that hand settings to git.
func settings(list []setting) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(list))}
	for i, s := range list {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}

// call is one git process.
type call struct {
	dir      string    // working directory; "" means the root directory
	repo     []string  // --git-dir and --work-tree
	config   []string  // further -c overrides
	listing  bool      // on a checkout: names only, no content
	asks     bool      // it may ask for a passphrase on the terminal
	operator bool      // with the operator's own configuration: only to list that, and to find a repository
	fetches  bool      // with the operator's own configuration, environment and terminal: only for FetchObjects
	mute     []setting // further settings, weaker than -c
	env      []string  // further variables
	args     []string
	patience time.Duration // more than usual; negative: without end
	stdin    io.Reader
	stdout   io.Writer  // nil: collected and returned
	most     int        // bytes that are collected; 0: maxOutput
	stderr   io.Writer  // nil: kept for the error only
	hold     []*os.File // open in the process too, for the locks on them
}

// Error is a git process that did not exit with 0.
type Error struct {
	Args   []string
	Code   int
	Stderr string
}

func (e *Error) Error() string {
	msg := strings.TrimSpace(e.Stderr)
	if msg == "" {
		msg = "exit status " + strconv.Itoa(e.Code)
	}
	return fmt.Sprintf("git %s: %s", strings.Join(e.Args, " "), msg)
}

// NoRoom reports whether git said that a disk is full. Its words begin and end the line: names, which a worker chooses,
// stand between them.
func (e *Error) NoRoom() bool {
	full, err := regexp.MatchString(`(?m)^(?:fatal|error): .*: No space left on device$`, e.Stderr)
	return err == nil && full
}

// exitCode returns the status a git process ended with, or -1 when err is
// something else.
func exitCode(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

func (b Binary) command(ctx context.Context, c call) *exec.Cmd {
	args := []string{"--no-pager"}
	for _, o := range overrides {
		if !c.operator && !c.fetches {
			args = append(args, "-c", o)
		}
	}
	for _, o := range c.config {
		args = append(args, "-c", o)
	}
	args = append(args, c.repo...)
	cmd := exec.CommandContext(ctx, b.Path, append(args, c.args...)...)
	cmd.Dir = c.dir
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.Env = append(append(environ(), settings(c.mute)...), c.env...)
	if c.operator {
		cmd.Env = operatorEnviron()
	}
	if c.fetches {
		cmd.Env = fetchEnviron()
	}
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(b.Path)+":"+os.Getenv("PATH")) // it finds itself first
	cmd.Stdin = c.stdin
	cmd.ExtraFiles = c.hold
	// An interrupt typed at the terminal is for cordon, which decides what to
	// finish; a half-done ref update helps nobody. A fetch may ask for a password there.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.fetches}
	// Git removes its locks and temporary files when it is asked to end, not
	// when it is killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// patience is how long a call may take. Git waits without end for a named pipe
// where it expects a file, and a worker decides what it has to compute on.
const patience = 20 * time.Minute

// maxOutput bounds what one call may return in memory.
const maxOutput = 1 << 30

func (b Binary) run(ctx context.Context, c call) ([]byte, error) {
	whole := ctx
	if c.patience >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(c.patience, patience))
		defer cancel()
	}
	ctx, watcher := watch(ctx, c)
	defer watcher.stop()
	cmd := b.command(ctx, c)
	var out, errs bytes.Buffer
	answer := &limited{w: &out, left: cmp.Or(c.most, maxOutput)}
	cmd.Stdout, cmd.Stderr = io.Writer(answer), io.Writer(&limited{w: &errs, left: 1 << 20})
	if c.stdout != nil {
		cmd.Stdout = c.stdout
	}
	if c.stderr != nil {
		cmd.Stderr = io.MultiWriter(&limited{w: &errs, left: 1 << 20}, c.stderr)
	}
	err := cmd.Start()
	if err == nil {
		watcher.started.Store(int32(cmd.Process.Pid))
		bound(cmd.Process.Pid)
		err = cmd.Wait()
	}
	if whole.Err() != nil {
		return nil, whole.Err()
	}
	var blocked *BlockedError
	if err != nil && errors.As(context.Cause(ctx), &blocked) {
		return nil, blocked
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("git %s: gave up after %v", strings.Join(c.args, " "), patience)
	}
	if answer.over {
		return nil, fmt.Errorf("git %s: its answer is longer than %d MiB, which is more than cordon reads", strings.Join(c.args, " "), cmp.Or(c.most, maxOutput)>>20)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.Bytes(), &Error{Args: c.args, Code: exit.ExitCode(), Stderr: errs.String()}
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", strings.Join(c.args, " "), err)
	}
	return out.Bytes(), nil
}

// limited fails a process that prints without end.
type limited struct {
	w    io.Writer
	left int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		l.over = true
		return 0, errors.New("output too large")
	}
	l.left -= len(p)
	return l.w.Write(p)
}
