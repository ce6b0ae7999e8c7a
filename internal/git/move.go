package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// RefMove is a ref that git has locked after it verified the old value. From here on the
// move fails only if the disk fails. A git process waits for the decision to commit or
// abort, and aborts when this process ends.
type RefMove struct {
	name   string
	cmd    *exec.Cmd
	say    io.WriteCloser
	hear   *bufio.Reader
	stderr *bytes.Buffer
}

// PrepareRef locks a ref that is to move from old to new, or fails with ErrMoved or a
// *RefLockedError. The locks stay held until git has ended, even when this process is
// killed before.
func (r Repo) PrepareRef(ctx context.Context, name string, new, old OID, reason string, locks ...*os.File) (*RefMove, error) {
	mute, err := r.withoutHooks(ctx)
	if err != nil {
		return nil, err
	}
	m := &RefMove{name: name, stderr: &bytes.Buffer{}}
	m.cmd = r.bin.command(ctx, call{
		dir: r.Dir, repo: []string{"--git-dir=" + r.Dir}, hold: locks, mute: mute,
		args: []string{"update-ref", "--no-deref", "-m", reason, "--stdin"},
	})
	m.cmd.Stderr = &limited{w: m.stderr, left: 1 << 20}
	if m.say, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.hear = bufio.NewReader(out)
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	for _, step := range []struct{ say, hear string }{
		{"start", "start: ok"},
		{fmt.Sprintf("update %s %s %s", name, new, old), ""},
		{"prepare", "prepare: ok"},
	} {
		if err := m.ask(step.say, step.hear); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *RefMove) ask(line, answer string) error {
	_, err := io.WriteString(m.say, line+"\n")
	heard := ""
	if err == nil && answer != "" {
		heard, err = m.hear.ReadString('\n')
	}
	if err == nil && strings.TrimSuffix(heard, "\n") == answer {
		return nil
	}
	return errors.Join(m.end(), m.failure(err))
}

// failure is what git said of it.
func (m *RefMove) failure(err error) error {
	text := strings.TrimSpace(m.stderr.String())
	if moved(text) {
		return fmt.Errorf("%s: %w", m.name, ErrMoved)
	}
	if locked := refLocked(text); locked != nil {
		return locked
	}
	return fmt.Errorf("git update-ref %s: %s (%v)", m.name, text, err)
}

// end lets git go and waits for it. How it ended is of interest only with a commit.
func (m *RefMove) end() error {
	_ = m.say.Close()
	err := m.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// Commit moves the ref.
func (m *RefMove) Commit() error {
	if err := m.ask("commit", "commit: ok"); err != nil {
		return err
	}
	return m.end()
}

// Abort leaves the ref where it was.
func (m *RefMove) Abort() { _ = m.end() }
