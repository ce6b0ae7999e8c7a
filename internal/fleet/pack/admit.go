package pack

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"cordon/internal/audit"
	"cordon/internal/fleet/packname"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// Admission is a result that a node has returned. Its manifest was verified.
type Admission struct {
	Bin    git.Binary
	Host   git.Repo // only read
	Dir    string   // does not exist yet: the quarantine of the result
	Store  Store
	Pack   packname.Name
	Base   git.OID // of the lease
	Commit git.OID
	Rules  policy.Rules // of the lease
	Most   int64        // bytes of the largest file
	Many   uint32       // objects
}

// Admitted is a result in its quarantine.
type Admitted struct {
	Repo     git.Repo // the quarantine; it reads the host's objects
	Findings []audit.Finding
}

// RefusedError says that a pack is not what a node may return.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "the result of the node is refused: " + e.Why }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Admit unpacks a result into a new repository, checks it and audits its tree. Every finding
// with a violation means quarantine, which the gate decides.
func (a Admission) Admit(ctx context.Context) (Admitted, error) {
	var got Admitted
	f, err := a.Store.Open(a.Pack)
	if err != nil {
		return got, err
	}
	defer f.Close()
	if err := a.checkCount(f); err != nil {
		return got, err
	}
	if err := os.Mkdir(a.Dir, 0o700); err != nil {
		return got, err
	}
	got.Repo, err = git.Init(ctx, a.Bin, a.Dir, git.InitOptions{Bare: true, Format: a.Host.Format, Alternate: a.Host.ObjectsDir()})
	if err != nil {
		return got, err
	}
	brought, err := got.Repo.AddPackUnlinked(ctx, f, git.StrictForeign, fmt.Sprintf("--max-input-size=%d", a.Pack.Size))
	if err != nil {
		return got, refuse("%v", err)
	}
	for _, check := range []func(context.Context, git.Repo, []git.OID) error{a.checkSizes, a.checkCommit, a.checkObjects} {
		if err := check(ctx, got.Repo, brought); err != nil {
			return got, err
		}
	}
	got.Findings, err = audit.Merged(ctx, got.Repo, a.Base, a.Commit, a.Rules)
	return got, err
}

// checkCount refuses a pack whose header says that it holds too many objects: git takes memory for each before it
// has seen one, and refuses a pack that holds more than its header says.
func (a Admission) checkCount(f io.ReaderAt) error {
	header := make([]byte, 12) // "PACK", the version and the count
	if _, err := f.ReadAt(header, 0); err != nil {
		return refuse("the pack has no header")
	}
	if n := binary.BigEndian.Uint32(header[8:]); n > a.Many {
		return refuse("its pack says that it holds %d objects; the bound is %d", n, a.Many)
	}
	return nil
}

// checkSizes refuses a file that a few bytes of the pack blow up.
func (a Admission) checkSizes(ctx context.Context, repo git.Repo, brought []git.OID) error {
	large, err := repo.Larger(ctx, brought, a.Most)
	if err == nil && large != "" {
		return refuse("its object %s is longer than %d bytes", large.Short(), a.Most)
	}
	return err
}

// checkCommit refuses anything but one commit on top of the base, which the pack brought.
func (a Admission) checkCommit(ctx context.Context, repo git.Repo, brought []git.OID) error {
	if !slices.Contains(brought, a.Commit) {
		return refuse("the pack does not hold the commit %s that its manifest names", a.Commit.Short())
	}
	texts, err := repo.CommitTexts(ctx, []git.OID{a.Commit})
	if err != nil {
		return err
	}
	var parents []string
	for _, h := range texts[0].Headers {
		if h.Key == "parent" {
			parents = append(parents, h.Value)
		}
	}
	if texts[0].TooLong || len(parents) != 1 || parents[0] != string(a.Base) {
		return refuse("%s is not one commit on top of the base %s", a.Commit.Short(), a.Base.Short())
	}
	return nil
}

// checkObjects refuses a pack with more than the commit needs, and a tree that names an object
// of the host's which neither the base nor the pack holds: the node was not given that, and
// would be shown it with the next base.
func (a Admission) checkObjects(ctx context.Context, repo git.Repo, brought []git.OID) error {
	list, err := repo.Commits(ctx, []git.OID{a.Commit}, a.Base, "--objects", "--no-object-names")
	if err != nil {
		return err
	}
	needed, known := map[git.OID]bool{}, map[git.OID]bool{}
	for _, oid := range list {
		needed[oid] = true
	}
	for _, oid := range brought {
		if !needed[oid] {
			return refuse("the pack holds %s, which its commit does not need", oid.Short())
		}
		known[oid] = true
	}
	files, err := repo.Tree(ctx, a.Base)
	if err != nil {
		return err
	}
	for _, f := range files {
		known[f.OID] = true
	}
	deltas, err := repo.Diff(ctx, a.Base, a.Commit)
	if err != nil {
		return err
	}
	for _, d := range deltas {
		if d.New.Mode != git.Absent && d.New.Mode != git.Gitlink && !known[d.New.OID] {
			return refuse("%s has content that neither the base nor the pack holds", audit.Path(d.Path))
		}
	}
	return nil
}
