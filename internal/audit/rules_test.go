package audit

import (
	"testing"

	"cordon/internal/git"
	"cordon/internal/policy"
)

// at is a place that is never looked at: rules are about names.
var at = policy.Location{Worktree: "/w/tree", Home: "/home/me"}

func rulesOf(t testing.TB, fs policy.Filesystem) policy.Rules {
	t.Helper()
	r, err := policy.Compile(policy.Policy{Filesystem: fs}, at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func writes(t testing.TB, roots ...string) policy.Rules {
	t.Helper()
	return rulesOf(t, policy.Filesystem{WriteRoots: roots})
}

var (
	file = git.Entry{Mode: git.Regular, OID: git.SHA1.Blob([]byte("file\n"))}
	link = git.Entry{Mode: git.Symlink, OID: git.SHA1.Blob([]byte("target"))}
)

func added(path string) Change { return Change{Path: Path(path), Kind: Added, New: file} }
