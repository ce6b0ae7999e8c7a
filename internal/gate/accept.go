package gate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// Acceptance runs a policy's commands on a merged tree in a place of its own.
type Acceptance struct {
	Policy policy.Policy
	// Place makes the tree of a commit, and returns what takes it away.
	Place func(ctx context.Context, commit git.OID) (leave func(), err error)
	// Command makes the command for a line of the policy in the merged tree.
	Command func(ctx context.Context, line string) (cell.Command, error)
	Output  io.Writer
	Now     func() time.Time
}

// Run checks a commit out, runs setup and then every acceptance command, and
// stops at the first that fails.
func (a Acceptance) Run(ctx context.Context, commit git.OID) ([]Check, error) {
	leave, err := a.Place(ctx, commit)
	if err != nil {
		return nil, err
	}
	defer leave()
	for _, line := range a.Policy.Setup {
		if c, err := a.one(ctx, line); err != nil || c.Code != 0 {
			c.Command = "setup: " + c.Command
			return []Check{c}, err
		}
	}
	var checks []Check
	for _, line := range a.Policy.Acceptance {
		c, err := a.one(ctx, line)
		if err != nil {
			return checks, err
		}
		if checks = append(checks, c); c.Code != 0 {
			break
		}
	}
	return checks, nil
}

func (a Acceptance) one(ctx context.Context, line string) (Check, error) {
	var tail ring
	out := io.MultiWriter(a.Output, &tail)
	fmt.Fprintf(a.Output, "$ %s\n", line)
	began := a.Now()
	c, err := a.Command(ctx, line)
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
	check := Check{Command: line, Code: exit.Code, Took: a.Now().Sub(began), Output: tail.String()}
	if exit.Reason != cell.Exited {
		check.Ended, check.Code = enclosure.DescribeExit(a.Policy.Limits, exit), max(exit.Code, 1)
	}
	return check, nil
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
