package worksite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/plainfile"
)

// UnusedPolicyError says that the policy file in the operator's checkout is not the one
// that a run would have.
type UnusedPolicyError struct {
	What string // what is wrong with it
	Ways string // how to go on
}

func (u *UnusedPolicyError) Error() string { return u.What + ": " + u.Ways }

func unused(what, ways string) error {
	return &fault.RefusedError{Err: &UnusedPolicyError{what, ways}}
}

// policyText is a policy file in a commit or in a checkout. Line ends do not count: git
// may convert them.
type policyText struct {
	text []byte
	ok   bool // there is one
}

func (t policyText) same(other policyText) bool {
	return t.ok == other.ok && bytes.Equal(t.text, other.text)
}

func withoutReturns(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// refuseUnused compares the policy file of the operator's checkout with the one of a base
// commit, which a run would use. A file that is committed in the checkout's own HEAD may
// differ from that of another base, as the operator chose that base; but the default never
// stands in for a file that the operator sees.
func (s *Site) refuseUnused(ctx context.Context, base git.OID, used policyText) error {
	if s.Host.Top == "" {
		return nil
	}
	here, err := policyIn(s.Host.Top)
	if err != nil {
		return err
	}
	if here.same(used) {
		return nil
	}
	committed, err := s.policyAtHead(ctx, base, used)
	if err != nil {
		return err
	}
	name := policyArgument(s.Host.Top)
	switch {
	case !here.ok && !committed.ok:
		return nil // of another branch
	case !here.ok:
		return s.deletedPolicy(ctx, base)
	case here.same(committed) && used.ok:
		return nil
	case here.same(committed):
		return unused(fmt.Sprintf("%s of your checkout is not in the base commit %s, so the default policy would hold", PolicyName, base.Short()),
			"commit it there, or use it with --policy "+name)
	case !committed.ok:
		return unused(PolicyName+" in your checkout is not committed, so it would not hold", "commit it, or use it with --policy "+name)
	}
	return unused(PolicyName+" in your checkout has changes that are not committed, so they would not hold",
		"commit them, or use the file as it is with --policy "+name)
}

// policyAtHead is the file in the commit that the checkout is on. used is that of base.
func (s *Site) policyAtHead(ctx context.Context, base git.OID, used policyText) (policyText, error) {
	head, err := s.Host.HeadCommit(ctx)
	switch {
	case errors.Is(err, git.ErrNoRef):
		return policyText{}, nil
	case err != nil:
		return policyText{}, err
	case head == base:
		return used, nil
	}
	return s.policyAt(ctx, head)
}

func (s *Site) policyAt(ctx context.Context, commit git.OID) (policyText, error) {
	text, ok, err := s.Host.FileAt(ctx, commit, PolicyName)
	return policyText{withoutReturns(text), ok}, err
}

// policyIn is the file in a checkout. Something else under its name is no policy that
// git could have written, and differs from every one.
func policyIn(top string) (policyText, error) {
	path := filepath.Join(top, PolicyName)
	text, err := plainfile.Read(path, plainfile.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return policyText{}, nil
	}
	if info, missing := os.Lstat(path); missing == nil && !info.Mode().IsRegular() {
		return policyText{[]byte{0}, true}, nil
	}
	return policyText{withoutReturns(text), true}, err
}

// deletedPolicy refuses a checkout without the file that its own commit has, unless the
// checkout is sparse.
func (s *Site) deletedPolicy(ctx context.Context, base git.OID) error {
	hidden, err := s.Host.HiddenBits(ctx, git.Checkout{Top: s.Host.Top, GitDir: s.Host.Private})
	if err != nil {
		return err
	}
	if slices.Contains(hidden, "S "+PolicyName) {
		return nil
	}
	return unused(fmt.Sprintf("%s is deleted in your checkout, and would hold as it is in the base commit %s", PolicyName, base.Short()),
		"commit the deletion, restore the file with git restore "+PolicyName+", or name a policy with --policy")
}

// policyArgument is how the operator names the checkout's policy file.
func policyArgument(top string) string {
	path := filepath.Join(top, PolicyName)
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil {
		return short
	}
	return path
}
