package walls

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/cell/plan"
	"cordon/internal/paths"
)

// canary is something that the mounts leave open and only Landlock refuses.
type canary struct{ dir int }

// NewCanary makes it: a writable directory that no rule names. It has to work
// before Landlock does.
func NewCanary(s plan.Spec) (canary, error) {
	if !s.Has(plan.Landlock) || !s.Has(plan.Namespaces) {
		return canary{-1}, nil
	}
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return canary{-1}, fmt.Errorf("canary: %w", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return canary{-1}, fmt.Errorf("canary: %w", err)
	}
	dir, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return canary{-1}, fmt.Errorf("canary: %w", err)
	}
	c := canary{dir}
	if err := c.write("before"); err != nil {
		return c, fmt.Errorf("canary: %w", err)
	}
	return c, nil
}

func (c canary) write(name string) error {
	fd, err := unix.Openat(c.dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// act is something that the cell tries before the worker does.
type act struct {
	name string
	try  func() error
	fail bool // it has to fail
}

// Prove tries what must fail and what must succeed. A wrong answer is an error,
// and the worker never starts.
func Prove(s plan.Spec, c canary) ([]string, error) {
	var proven []string
	for _, a := range acts(s, c) {
		err := a.try()
		switch {
		case a.fail && err == nil:
			return nil, fmt.Errorf("proof failed: %s was not refused", a.name)
		case !a.fail && err != nil:
			return nil, fmt.Errorf("proof failed: %s: %w", a.name, err)
		}
		proven = append(proven, a.name)
	}
	return proven, nil
}

func acts(s plan.Spec, c canary) []act {
	p := s.Proof
	list := []act{{"write outside", func() error { return touch(p.Outside) }, !p.Private}}
	for _, h := range p.Hidden {
		list = append(list, act{"read hidden", func() error { return look(h) }, true})
	}
	if len(p.Closed) > 0 {
		list = append(list, act{"look into hidden", func() error { return showOnly(p.Placed, p.Closed...) }, false})
	}
	for _, to := range p.Connect {
		name, _, _ := strings.Cut(to, ":")
		list = append(list, act{"connect " + name, func() error { return connect(to) }, true})
	}
	if p.Elsewhere > 0 {
		list = append(list, act{"connect elsewhere", func() error { return refusedElsewhere(p.Elsewhere) }, false})
	}
	if p.Parent > 0 && s.Has(plan.Namespaces) {
		list = append(list, act{"signal parent", func() error { return signal(p.Parent) }, true})
	}
	list = append(list, act{"capability", capability, true})
	if s.Has(plan.Landlock) && s.Has(plan.Namespaces) {
		list = append(list, act{"landlock canary", func() error { defer unix.Close(c.dir); return c.write("after") }, true})
	}
	if s.Has(plan.Seccomp) {
		list = append(list, act{"seccomp canary", refusedCall, false})
	}
	if s.Trace && s.Has(plan.Namespaces) {
		list = append(list, act{"untraceable", untraceable, false})
	}
	for _, dir := range p.Inside {
		list = append(list, act{"write inside", func() error { return writeInside(dir) }, false})
	}
	for _, dir := range p.Sealed {
		list = append(list, act{"read-only tree", func() error { return writesNothing(dir) }, false})
	}
	if p.Commit != "" {
		list = append(list, act{"commit", func() error { return commit(s) }, false})
	}
	return list
}

// signal tries to reach a process of the host by its number. The first process of a PID
// namespace has no parent in it: what has the number there is a process of the cell, as it
// happens in a container, where numbers are small.
func signal(pid int) error {
	err := unix.Kill(pid, 0)
	if err == nil && os.Getpid() == 1 && os.Getppid() == 0 {
		return unix.ESRCH
	}
	return err
}

// untraceable shows that no process of the cell without a capability can look into this
// one, the first, or steer it.
func untraceable() error {
	v, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err == nil && v != 0 {
		err = fmt.Errorf("the first process of the cell can be traced (dumpable is %d)", v)
	}
	return err
}

// touch makes a file and removes it.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already", path)
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(path))
}

// proofName begins the names that a proof makes in the worker's directories.
const proofName = ".cordon-proof-"

// writeInside shows that the worker can do its work. It makes a directory and no file:
// one that a kill leaves behind is nothing that git tracks or that could land, and the
// next proof there removes it.
func writeInside(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), proofName) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // not one that holds something
		}
	}
	name := filepath.Join(dir, proofName+rand.Text())
	if err = os.Mkdir(name, 0o700); err == nil {
		if err = os.Remove(name); errors.Is(err, os.ErrNotExist) {
			return nil // another cell in this directory has removed it
		}
	}
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w (the cell runs as your user and without root's rights: it cannot write to directories of other users)", err)
	}
	return err
}

// writesNothing shows that the worker can read a directory and make nothing in it. Only a refusal counts:
// a directory that is not there would refuse as well.
func writesNothing(dir string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return err
	}
	name := filepath.Join(dir, proofName+rand.Text())
	err := os.Mkdir(name, 0o700)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%s can be written", dir), os.Remove(name))
	case errors.Is(err, unix.EROFS), errors.Is(err, unix.EACCES):
		return nil
	}
	return err
}

// look reads what must not be readable. That it is absent or empty will do.
func look(path string) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		entries, err := os.ReadDir(path)
		if err == nil && len(entries) == 0 {
			return os.ErrNotExist
		}
		return err
	}
	_, err = os.ReadFile(path)
	return err
}

// showOnly wants nothing in hidden directories but what was placed there and what leads to that.
func showOnly(placed []string, dirs ...string) error {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			return err
		}
		for _, e := range entries {
			at := filepath.Join(dir, e.Name())
			if slices.Contains(placed, at) {
				continue
			}
			if !slices.ContainsFunc(placed, func(p string) bool { return paths.Within(p, at) }) {
				return fmt.Errorf("%s is seen", at)
			}
			if err := showOnly(placed, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// connect tries to reach something that listens on the host.
func connect(to string) error {
	kind, where, _ := strings.Cut(to, ":")
	family, address := unix.AF_UNIX, unix.Sockaddr(&unix.SockaddrUnix{Name: "@" + where})
	if kind == "tcp" {
		port, err := strconv.Atoi(where)
		if err != nil {
			return err
		}
		family, address = unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return uninterrupted(func() error { return unix.Connect(fd, address) })
}

// refusedElsewhere wants an address that nobody has to refuse a connection at once:
// it leads to this cell.
func refusedElsewhere(port uint16) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return err
	}
	to := &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{192, 0, 2, 1}} // of a network for examples
	if err := uninterrupted(func() error { return unix.Connect(fd, to) }); !errors.Is(err, unix.ECONNREFUSED) {
		return fmt.Errorf("it was not refused: %v", err)
	}
	return nil
}

// capability succeeds when this thread has any left.
func capability() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return nil // unknown is a capability
	}
	if sets == [2]unix.CapUserData{} {
		return unix.EPERM
	}
	return nil
}

// refusedCall makes a call that the kernel has and the filter answers for.
func refusedCall() error {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH})
	if err == nil {
		unix.Close(fd)
	}
	if !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("the filter does not answer: %v", err)
	}
	return nil
}

// patience is how long git may take in a repository that a worker has had: a pipe
// in the place of a ref would hold it for ever.
const patience = 20 * time.Second

// commit shows that the worker can commit: it writes an unnamed object and has git prepare a
// ref to what HEAD holds, and keeps neither. The ref is never made: a kill at any moment
// leaves a lock that nobody waits for and a file that every git passes over and removes,
// and the audit of either is clean.
func commit(s plan.Spec) error {
	// The one that the worker finds: what cordon found may lie where it sees nothing.
	program, err := host.FindProgram("git", s.Env)
	if err != nil {
		program = s.Proof.Git
	}
	nonce := rand.Text() // another cell may prove itself in the same repository
	if err := writeObject(s.Proof.Objects, nonce); err != nil {
		return err
	}
	var said bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "update-ref", "--stdin")
	cmd.WaitDelay = patience // its output may come late on a busy machine
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Proof.Commit, s.Env, nil, &said
	cmd.Stdin = strings.NewReader("start\ncreate refs/cordon/proof-" + nonce + " HEAD^{tree}\nprepare\nabort\n")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git update-ref: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// writeObject writes what git begins an object with, in the directory of some objects, and
// removes it.
func writeObject(objects, nonce string) error {
	sum := sha256.Sum256([]byte(nonce))
	dir := filepath.Join(objects, hex.EncodeToString(sum[:1]))
	made := os.Mkdir(dir, 0o777)
	if made != nil && !errors.Is(made, os.ErrExist) {
		return made
	}
	file := filepath.Join(dir, "tmp_obj_"+nonce)
	err := os.WriteFile(file, sum[:], 0o444)
	if err == nil {
		err = os.Remove(file)
	}
	if made == nil {
		_ = os.Remove(dir) // unless another has put something there meanwhile
	}
	return err
}

// uninterrupted repeats a call that a signal interrupted.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
