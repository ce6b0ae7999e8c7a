package gate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/worktree"
)

// Acceptance runs a policy's commands on a merged tree in a place of its own.
type Acceptance struct {
	Gate  *Gate
	Lease lease.Lease
	// Command makes the command for a line of the policy in the merged tree.
	Command func(ctx context.Context, top, line string) (cell.Command, error)
	Output  io.Writer
	Now     func() time.Time
}

// Run checks a commit out, runs setup and then every acceptance command, and
// stops at the first that fails.
func (a Acceptance) Run(ctx context.Context, commit git.OID) ([]Check, error) {
	l, id := a.Lease, string(a.Lease.ID)
	dir := a.Gate.state.Acceptance(id)
	for _, d := range []string{dir, dir + ".new"} {
		if err := a.Gate.state.Erase(d); err != nil { // left by an interrupted attempt
			return nil, err
		}
	}
	_, err := worktree.Make(ctx, worktree.Order{
		Bin: a.Gate.bin, Host: a.Gate.host, Source: a.Gate.repo, Alternate: a.Gate.repo.ObjectsDir(),
		Commit: commit, Branch: l.Branch, Partial: dir + ".new", Path: dir,
	})
	if err != nil {
		return nil, err
	}
	defer a.Gate.state.Trash(dir, a.Now()) // a tree that stays behind is erased by the next attempt or by gc
	l.Worktree = dir
	for _, line := range l.Policy.Setup {
		if c, err := a.one(ctx, l, line); err != nil || c.Code != 0 {
			c.Command = "setup: " + c.Command
			return []Check{c}, err
		}
	}
	var checks []Check
	for _, line := range l.Policy.Acceptance {
		c, err := a.one(ctx, l, line)
		if err != nil {
			return checks, err
		}
		if checks = append(checks, c); c.Code != 0 {
			break
		}
	}
	return checks, nil
}

func (a Acceptance) one(ctx context.Context, l lease.Lease, line string) (Check, error) {
	var tail ring
	out := io.MultiWriter(a.Output, &tail)
	fmt.Fprintf(a.Output, "$ %s\n", line)
	began := a.Now()
	c, err := a.Command(ctx, l.Worktree, line)
	if err != nil {
		return Check{}, err
	}
	c.Stdout, c.Stderr = out, out
	exit, err := cell.Run(ctx, c)
	if ctx.Err() != nil {
		return Check{}, ctx.Err()
	}
	if err != nil {
		return Check{}, err
	}
	if exit.Reason != cell.Exited && exit.Code == 0 {
		exit.Code = 1
	}
	return Check{Command: line, Code: exit.Code, Took: a.Now().Sub(began), Output: tail.String()}, nil
}

// ring keeps the end of what was written to it.
type ring struct{ buf bytes.Buffer }

const ringSize = 4096

func (r *ring) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > ringSize {
		p = p[len(p)-ringSize:]
	}
	r.buf.Write(p)
	if over := r.buf.Len() - ringSize; over > 0 {
		r.buf.Next(over)
	}
	return n, nil
}

func (r *ring) String() string { return string(bytes.ToValidUTF8(r.buf.Bytes(), []byte("?"))) }
