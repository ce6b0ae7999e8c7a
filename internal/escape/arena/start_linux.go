package arena

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// RunLimit ends an attack that hangs. A slow machine needs seconds for an ordinary one.
const RunLimit = 30 * time.Second

// Judge looks at the host. With cordon, nothing may have changed, survived or
// stayed mounted, whatever the attack was after; without, the attack's own aim
// is what makes it a control.
func (f *Fixture) Judge(at Attempt) (string, error) {
	if at.Judge != nil {
		if escaped, err := at.Judge(f); escaped != "" || err != nil {
			return escaped, err
		}
	}
	if at.Judge != nil && !f.Confined {
		return "", nil
	}
	if !at.Final {
		if escaped, err := f.Changed(); escaped != "" || err != nil {
			return escaped, err
		}
	}
	return f.Left(), nil
}

// Run starts the attack and waits for its end.
func (f *Fixture) Run(ctx context.Context, at Attempt, confine func(string) []string) ([]byte, error) {
	argv, err := f.argv(at, confine)
	if err != nil {
		return nil, err
	}
	limit := at.Limit
	if limit == 0 {
		limit = RunLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = f.Work, f.environment(), f.extra, f.Attr
	if f.dir != "" {
		cmd.Dir = f.dir
	}
	cmd.WaitDelay = 200 * time.Millisecond // a survivor may hold the output open
	cmd.Stdout, cmd.Stderr = &output, &output
	for i, to := range []*os.File{f.Stdio[1], f.Stdio[2]} {
		if to != nil {
			*[]*io.Writer{&cmd.Stdout, &cmd.Stderr}[i] = to
		}
	}
	if f.Stdio[0] != nil {
		cmd.Stdin = f.Stdio[0]
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f.Top = cmd.Process
	done := make(chan struct{})
	var wg sync.WaitGroup
	if at.During != nil {
		wg.Go(func() { at.During(f, done) })
	}
	err = cmd.Wait()
	close(done)
	wg.Wait()
	return output.Bytes(), err
}

// argv is the whole command line. The control has a shell around the attack, so
// that it has a parent with its own environment, as a confined one has cordon.
func (f *Fixture) argv(at Attempt, confine func(string) []string) ([]string, error) {
	arena, err := json.Marshal(f.Arena)
	if err != nil {
		return nil, err
	}
	attack := append(append([]string{}, f.self...), at.Name, string(arena))
	if confine == nil {
		return slices.Concat(f.shell, []string{"/bin/sh", "-c", `"$@"; exit $?`, "sh"}, attack), nil
	}
	f.Cordon = confine("")
	f.Cordon = f.Cordon[:max(0, slices.Index(f.Cordon, "exec"))]
	policy := ""
	if f.policyText(at) != "" {
		policy = f.policy()
	}
	return slices.Concat(f.shell, confine(policy), attack), nil
}

// Mount has the run begin with something mounted at a path, in a mount namespace of its own.
// Where nobody may make one, nothing is mounted: LeakBeside notices.
func (f *Fixture) Mount(path string) { f.mount(path, "-t", "tmpfs", "mnt") }

// MountAgain has the run begin with a directory that is seen at a second path as well.
func (f *Fixture) MountAgain(dir, path string) { f.mount(path, "-o", "rbind", dir) }

// mount takes three words of mount's, and the path.
func (f *Fixture) mount(path string, what ...string) {
	const line = `unshare -rm true 2>/dev/null && exec unshare -rm sh -c 'mount "$1" "$2" "$3" "$0"; shift 3; exec "$@"' "$0" "$@"; shift 3; exec "$@"`
	f.shell = append([]string{"/bin/sh", "-c", line, path}, what...)
}

// environment is the operator's: little, and known.
func (f *Fixture) environment() []string {
	return append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + f.Home, "USER=operator", "TERM=xterm", "LANG=C.UTF-8",
	}, f.Env...)
}

// Died reports whether a process was ended by a signal.
func Died(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	ws, ok := exit.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled()
}
