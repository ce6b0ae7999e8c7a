package session

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/config"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
)

// guardHooks are the hooks with which people guard a branch against what lands.
var guardHooks = []string{"reference-transaction", "pre-merge-commit", "commit-msg"}

// nameSkippedHooks says which of the operator's hooks a landing passes by: cordon runs no
// hook. An operator who wants them to run is asked first.
func (s *Session) nameSkippedHooks(id lease.ID, own git.Operator, wanted config.Hooks) error {
	dir := cmp.Or(git.Homed(own.Value("core.hookspath")), filepath.Join(s.Host.Dir, "hooks"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cmp.Or(s.Host.Top, s.Host.Dir), dir)
	}
	var found []string
	for _, name := range guardHooks {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	names := strings.Join(found, ", ") + " in " + dir
	if wanted == config.RunHooks {
		return &undecidedError{&fault.PersonError{Err: fmt.Errorf("nothing landed: your configuration says land.hooks: run, and this version of cordon "+
			"does not run hooks (%s). Look with cordon diff %s; with land.hooks: skip, cordon merge %s lands it without them", names, id, id)}}
	}
	s.Voice.Step(id, "hooks", "not run for this landing: "+names)
	return nil
}
