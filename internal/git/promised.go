package git

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"cordon/internal/gitfile"
)

// Promisor is the remote that a partial clone gets its missing objects from; "" where
// the repository is not a partial clone.
func (r Repo) Promisor(ctx context.Context) (string, error) {
	if !gitfile.Mentions(r.Dir, "promisor", "partialclone") {
		return "", nil // the usual case needs no process
	}
	out, err := r.run(ctx, "config", "--local", "--includes", "-z", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	remote := ""
	for _, rec := range lines(out) {
		key, value, _ := strings.Cut(rec, "\n")
		if key == "extensions.partialclone" {
			return value, nil
		}
		if value == "" || value == "true" || value == "1" || value == "yes" || value == "on" {
			remote = strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor")
		}
	}
	return remote, nil
}

// Missing lists the objects that the files of a commit need and the repository does not
// have. Below a tree that is missing, nobody knows what else is.
func (r Repo) Missing(ctx context.Context, commit OID) ([]OID, error) {
	out, err := r.run(ctx, "rev-list", "--objects", "--missing=print", "--no-object-names", "--no-walk", string(commit), "--")
	if err != nil {
		return nil, err
	}
	var missing []OID
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "?"); ok {
			oid, err := ParseOID(name)
			if err != nil {
				return nil, err
			}
			missing = append(missing, oid)
		}
	}
	return missing, nil
}

// reroutingVariables would make the operator's git work on another repository.
var reroutingVariables = map[string]bool{
	"GIT_DIR": true, "GIT_WORK_TREE": true, "GIT_INDEX_FILE": true, "GIT_OBJECT_DIRECTORY": true, "GIT_ALTERNATE_OBJECT_DIRECTORIES": true,
	"GIT_COMMON_DIR": true, "GIT_NAMESPACE": true, "GIT_PREFIX": true, "GIT_NO_LAZY_FETCH": true, "GIT_ALLOW_PROTOCOL": true,
}

// fetchEnviron is the operator's own environment: their agent of keys, their helpers.
func fetchEnviron() []string {
	var env []string
	for _, kv := range os.Environ() {
		if key, _, _ := strings.Cut(kv, "="); !reroutingVariables[key] {
			env = append(env, kv)
		}
	}
	return env
}

// FetchObjects has the operator's own git fetch objects from a remote of the repository,
// with the operator's configuration and credentials. It is the only call that talks to
// anybody. Whoever calls it took the names of the objects from a commit of the operator's,
// never from anything that a worker wrote.
func (r Repo) FetchObjects(ctx context.Context, remote string, oids []OID) error {
	if remote == "" || strings.HasPrefix(remote, "-") {
		return fmt.Errorf("%q is not the name of a remote", remote)
	}
	_, err := r.call(ctx, call{
		fetches: true, patience: -1, stdin: oneToALine(oids),
		config: []string{
			"fetch.negotiationAlgorithm=noop", "core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false", "fetch.writeCommitGraph=false",
		},
		args: []string{"fetch", remote, "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin"},
	})
	return err
}

// IncompleteError says that a partial clone lacks objects that could not be fetched.
type IncompleteError struct {
	Commit OID
	Remote string
	Count  int
	Err    error // of the fetch; nil: the remote did not send them
}

func (e *IncompleteError) Error() string {
	text := fmt.Sprintf("this repository is a partial clone, and %d objects of %s are missing", e.Count, e.Commit.Short())
	if e.Err != nil {
		text += fmt.Sprintf(" (fetching them from %s failed: %s)", e.Remote, lastLine(e.Err.Error()))
	}
	return text + fmt.Sprintf(": git fetch --refetch --no-filter %s gets everything", e.Remote)
}

func (e *IncompleteError) Unwrap() error { return e.Err }

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// maxRounds bounds the fetches for one commit: trees may be missing, and what those name
// is known only afterwards.
const maxRounds = 50

// Complete makes sure that a partial clone has all files of a commit of the operator's. The
// operator's own git fetches what is missing, from the remote that the repository is a
// partial clone of. say hears how many objects are fetched from where.
func (r Repo) Complete(ctx context.Context, commit OID, say func(count int, remote string)) error {
	remote, err := r.Promisor(ctx)
	if err != nil || remote == "" {
		return err
	}
	var before []OID
	for range maxRounds {
		missing, err := r.Missing(ctx, commit)
		if err != nil || len(missing) == 0 {
			return err
		}
		if slices.Equal(before, missing) { // the remote answered, and sent nothing
			return &IncompleteError{Commit: commit, Remote: remote, Count: len(missing)}
		}
		before = missing
		if say != nil {
			say(len(missing), remote)
		}
		if err := r.FetchObjects(ctx, remote, missing); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &IncompleteError{Commit: commit, Remote: remote, Count: len(missing), Err: err}
		}
	}
	return &IncompleteError{Commit: commit, Remote: remote, Count: len(before)}
}
