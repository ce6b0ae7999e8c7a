package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/legible"
)

// target is the branch that the result is for, by its full name.
func (s maker) target(ctx context.Context, name string) (string, error) {
	if name == "" {
		ref, err := s.Host.HeadBranch(ctx)
		if err != nil {
			return "", err
		}
		if ref == "" {
			return "", fault.Refuse("HEAD is detached, so there is no branch to merge into: name one with --target")
		}
		return ref, nil
	}
	return "refs/heads/" + strings.TrimPrefix(name, "refs/heads/"), nil
}

// aim binds a lease to its target, and returns the commit that the worker starts from
// unless the request names one: the tip of the target, or that of the operator's checkout for a
// branch that is only created when the result lands.
func (s maker) aim(ctx context.Context, d *Request, l *lease.Lease) (git.OID, error) {
	var err error
	if l.Target, err = s.target(ctx, d.Target); err != nil {
		return "", err
	}
	tip, err := s.Host.Ref(ctx, l.Target)
	name := strings.TrimPrefix(l.Target, "refs/heads/")
	switch {
	case errors.Is(err, git.ErrNoRef) && d.Target == "":
		return "", fault.Refuse("branch %s has no commit yet: make a first commit and try again", name)
	case !errors.Is(err, git.ErrNoRef):
		return tip, err
	}
	if err := s.creatable(ctx, name); err != nil {
		return "", err
	}
	d.Options.NewTarget = true
	tip, err = s.Host.HeadCommit(ctx)
	if errors.Is(err, git.ErrNoRef) {
		return "", fault.Refuse("there is no commit yet that %s could begin at: make a first commit and try again", name)
	}
	return tip, err
}

// creatable refuses a name that no branch can get here.
func (s maker) creatable(ctx context.Context, name string) error {
	mistake := func(format string, args ...any) error {
		return &fault.MistakeError{Err: fmt.Errorf("--target: "+format, args...)}
	}
	if !s.Host.ValidBranch(ctx, name) || strings.HasPrefix(name, "-") {
		return mistake("%q is not a name that git accepts for a branch", name)
	}
	switch {
	case strings.HasPrefix(name, "refs/"):
		return mistake("%s is not the name of a branch, and as a new one it would be taken for another ref", name)
	case legible.Text(name) != name:
		return mistake("%s has characters that cannot be seen", legible.Text(name))
	}
	all, err := s.Host.Refs(ctx, "refs/heads/")
	if err != nil {
		return err
	}
	for _, r := range all {
		there := strings.TrimPrefix(r.Name, "refs/heads/")
		if strings.HasPrefix(name, there+"/") || strings.HasPrefix(there, name+"/") {
			return mistake("%s cannot be created, because there is a branch %s", name, there)
		}
		if strings.EqualFold(name, there) {
			return mistake("%s differs from the branch %s only in case: some file systems treat both as one", name, there)
		}
	}
	checkouts, err := s.Host.Checkouts(ctx)
	if err != nil {
		return err
	}
	for _, c := range checkouts {
		if c.Branch == "refs/heads/"+name {
			return mistake("%s has no commit yet, and the checkout %s is on it: make a first commit", name, c.Top)
		}
	}
	return nil
}
