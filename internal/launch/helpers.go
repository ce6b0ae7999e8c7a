package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/lease"
	"cordon/internal/paths"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// helper is a program of the operator's that the tools of a client run. It lies where the
// client keeps its own, which a worker does not see, and is shown on the worker's PATH.
type helper struct{ name, from string }

// at is where the client finds it: beside cordon, in a directory that it cannot write.
func (h helper) at(dir string) string { return filepath.Join(dir, filepath.Dir(binaryFile), h.name) }

// chooseHelpers finds the helpers of the client that the worker's PATH does not have, and
// names those that are missing.
func (o *clientSetup) chooseHelpers(s *worksite.Site, l lease.Lease, search string) {
	for _, h := range o.adapter.Helpers {
		if worksite.FindProgram(h.Program, search) != "" {
			continue
		}
		var own []string
		for _, dir := range h.Below {
			own = append(own, filepath.Join(l.Home, dir))
		}
		found := worksite.FindProgram(h.Program, strings.Join(own, string(os.PathListSeparator)))
		if found == "" || paths.Below(worksite.RealPath(found), worksite.RealPath(l.Worktree)) {
			s.Voice.Step(l.ID, "client", h.Lacking())
			continue
		}
		o.helpers = append(o.helpers, helper{h.Program, worksite.RealPath(found)})
	}
}

// placeHelpers makes the places where they are shown. Without a mount namespace, links stand there.
func (o *clientSetup) placeHelpers(l lease.Lease, dir string) error {
	var errs []error
	for _, h := range o.helpers {
		if l.Policy.Isolation == policy.None {
			errs = append(errs, os.Symlink(h.from, h.at(dir)))
			continue
		}
		errs = append(errs, os.WriteFile(h.at(dir), nil, 0o500))
	}
	return errors.Join(errs...)
}
