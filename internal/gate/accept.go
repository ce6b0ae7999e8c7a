package gate

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/codewords"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/lease"
)

// Acceptance runs a policy's commands on a merged tree, each in a place of its own.
type Acceptance struct {
	Gate  *Gate
	Lease lease.Sealed
	// Place makes the tree of a commit that no command has written, and returns what takes it away. It holds
	// what setup commands may leave if they ran in the place before.
	Place func(ctx context.Context, commit git.OID, prepared bool) (leave func(), err error)
	// Command makes the command for a line of the policy in the merged tree.
	Command func(ctx context.Context, line string) (cell.Command, error)
	Output  io.Writer
	Now     func() time.Time
}

// Run runs the setup commands on a commit and then every acceptance command in a place of its own, and
// stops at the first that fails: the code of a result runs in them, and must not write what the next one
// looks at. Commands that look at some paths come last.
func (a Acceptance) Run(ctx context.Context, commit git.OID) ([]Check, error) {
	p := a.Lease.Lease().Policy
	whole, parts := p.AcceptanceOrder()
	var checks []Check
	if len(whole) > 0 {
		var err error
		if checks, err = a.on(ctx, commit, whole); err != nil || failed(checks) {
			return checks, err
		}
	}
	for _, line := range parts {
		in, err := p.Scope(line)
		if err != nil {
			return checks, err
		}
		c, err := a.scopedRun(ctx, commit, line, in)
		if err != nil {
			return checks, err
		}
		if checks = append(checks, c); c.Code != 0 {
			break
		}
	}
	return checks, nil
}

func failed(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.Code != 0 })
}

// on runs commands on a commit. Setup runs once for all of them.
func (a Acceptance) on(ctx context.Context, commit git.OID, lines []string) ([]Check, error) {
	setup := a.Lease.Lease().Policy.Setup
	if len(setup) > 0 {
		checks, err := a.place(ctx, commit, false, setup)
		if err != nil {
			return nil, err
		}
		if c := checks[len(checks)-1]; c.Code != 0 {
			c.Command = "setup: " + c.Command
			return []Check{c}, nil
		}
	}
	var checks []Check
	for _, line := range lines {
		c, err := a.place(ctx, commit, len(setup) > 0, []string{line})
		if err != nil {
			return checks, err
		}
		if checks = append(checks, c...); failed(c) {
			break
		}
	}
	return checks, nil
}

// place runs commands one after another in one place, until one fails.
func (a Acceptance) place(ctx context.Context, commit git.OID, prepared bool, lines []string) ([]Check, error) {
	leave, err := a.Place(ctx, commit, prepared)
	if err != nil {
		return nil, err
	}
	defer leave()
	var checks []Check
	for _, line := range lines {
		c, err := a.one(ctx, line)
		if err != nil {
			return nil, err
		}
		if checks = append(checks, c); c.Code != 0 {
			break
		}
	}
	return checks, nil
}

func (a Acceptance) one(ctx context.Context, line string) (Check, error) {
	var tail enclosure.Tail
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
	if !exit.OK() {
		if hint := enclosure.ExplainHome(a.Lease.Lease(), a.Lease.Rules(), c.Cell, line, tail.String()); hint != "" {
			fmt.Fprintf(a.Output, "cordon: %s\n", hint) // and not to the next attempt: a command could ask what there is
		}
	}
	check := Check{Command: line, Code: exit.Code, Took: a.Now().Sub(began), Output: tail.String()}
	if exit.Reason != cell.Exited {
		check.Ended, check.Code = enclosure.DescribeExit(a.Lease.Lease().Policy.Limits, exit), max(exit.Code, 1)
	}
	return check, nil
}

// trial is what acceptance said of a tree, and how often it had failed before.
type trial struct {
	checks []Check
	failed int
}

// accept runs the acceptance commands on the tree that would land: once, and again as often
// as the policy lets failed acceptance run again.
func (g *Gate) accept(ctx context.Context, o Order, p *proposal, tested map[git.OID]trial) (bool, error) {
	wanted, res := len(o.Lease.Lease().Policy.Acceptance), &p.res
	if why, err := g.broken(ctx, res.Commit, o.Artifacts); err != nil || why != "" && !o.AcceptFailed {
		res.reject(why)
		return false, err
	}
	if wanted == 0 { // otherwise they run on a checkout of it
		return true, g.tryCheckout(ctx, o, res.Commit)
	}
	t, ok := tested[p.tree]
	if !ok {
		var err error
		if t, err = runTrials(ctx, o, res.Commit); err != nil {
			return false, err
		}
		tested[p.tree] = t
	}
	res.Retries = t.failed
	res.Checks = nil
	for _, c := range t.checks {
		c.Names = namedBy(c.Command, p.changes)
		res.Checks = append(res.Checks, c)
	}
	why := whyRejected(t.checks, wanted)
	if why != "" && o.AcceptFailed {
		res.Why = why + ", and was waived"
	} else if why != "" {
		res.reject(why)
		return false, nil
	}
	return true, nil
}

// mostNamed bounds how many files a check lists.
const mostNamed = 20

// namedBy lists changed files that a command names, or that lie in a directory that it names.
func namedBy(command string, changes []audit.Finding) (list []audit.Path) {
	var words []string
	for _, w := range codewords.Of(command, nil) {
		if text := strings.TrimSuffix(w.Text, "/..."); text != "" && !(w.Command && text == ".") {
			words = append(words, path.Clean(text))
		}
	}
	for _, f := range changes {
		at := string(f.Path)
		named := slices.ContainsFunc(words, func(w string) bool { return w == "." || w == at || strings.HasPrefix(at, w+"/") })
		if named && f.New.Mode != git.Absent && len(list) < mostNamed {
			list = append(list, f.Path)
		}
	}
	return list
}

// reject makes it the result of a worker whose checks failed. One that changed nothing has no commit
// then: that of the target, which was tested, is in the target whatever the worker did.
func (res *Result) reject(why string) {
	if res.Outcome == Nothing {
		res.Commit = ""
	}
	res.Outcome, res.Why = Rejected, why
}

func runTrials(ctx context.Context, o Order, commit git.OID) (trial, error) {
	p := o.Lease.Lease().Policy
	t := trial{failed: o.Failed}
	for left := p.Gate.Retries; ; left-- {
		var err error
		if t.checks, err = o.Accept(ctx, commit); err != nil {
			return t, err
		}
		why := whyRejected(t.checks, len(p.Acceptance))
		if why == "" || left <= 0 || o.AcceptFailed {
			return t, nil
		}
		if t.failed++; o.Retry != nil {
			o.Retry(why, left)
		}
	}
}

// whyRejected says which acceptance command failed, or "".
func whyRejected(checks []Check, wanted int) string {
	for _, c := range checks {
		if c.Code != 0 {
			return fmt.Sprintf("acceptance command %q %s", c.Command, c.How())
		}
	}
	if len(checks) != wanted {
		return fmt.Sprintf("%d of %d acceptance commands ran", len(checks), wanted)
	}
	return ""
}
