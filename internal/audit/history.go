package audit

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"cordon/internal/git"
)

// History is what a worker left in its own repository.
type History struct {
	Head    git.OID   `json:"head,omitempty"` // where its HEAD stood
	Tips    []Tip     `json:"tips,omitempty"`
	Commits []git.OID `json:"commits,omitempty"` // reachable from HEAD, oldest first
	Others  int       `json:"others,omitempty"`  // reachable only from other refs
	Orphans []git.OID `json:"orphans,omitempty"` // commits that no ref reaches
	Scratch int       `json:"scratch,omitempty"` // changes of scratch in these commits: the history cannot be kept without them
	// Borrowed are commits of HEAD that the worker's repository did not hold
	// itself: they are the host's, from somewhere else than the base.
	Borrowed int      `json:"borrowed,omitempty"`
	Gone     int      `json:"gone,omitempty"` // files of HEAD that neither the base nor what may land has
	refs     []Change // refs that are changes by themselves
	steps    []step   // what each commit changed, against each parent
	kinds    map[git.OID]string
	repo     git.Repo // where the commits are
}

// step is what one commit changed against one parent.
type step struct {
	commit  git.OID
	changes []Change
}

// Tip is a named commit.
type Tip struct {
	Ref Path    `json:"ref"`
	OID git.OID `json:"oid"`
}

// ReadHistory imports the commits of a worker's private repository into a
// repository of cordon's own and lists what each of them changed. It copies no more than
// room bytes: see Room.
func ReadHistory(ctx context.Context, gitDir string, into git.Repo, base git.OID, room int64) (*History, error) {
	oids, err := importObjects(ctx, gitDir, into, room)
	if err != nil {
		return nil, err
	}
	table, err := readRefs(gitDir)
	if err != nil {
		return nil, err
	}
	h := &History{Head: table.resolve("HEAD"), repo: into}
	if h.kinds, err = into.Kinds(ctx, oids); err != nil {
		return nil, err
	}
	return h, h.read(ctx, table.tips(), base)
}

// HistoryOf lists what the commits between base and head changed, for a tree
// whose commits are in the host already.
func HistoryOf(ctx context.Context, repo git.Repo, head, base git.OID, ref string) (*History, error) {
	h := &History{Head: head, repo: repo}
	return h, h.read(ctx, map[string]git.OID{ref: head}, base)
}

func (h *History) read(ctx context.Context, tips map[string]git.OID, base git.OID) error {
	var names []string
	for name := range tips {
		names = append(names, name)
	}
	sort.Strings(names)
	reach := &reached{by: map[git.OID]string{}}
	if !h.Head.IsZero() {
		commits, err := h.repo.Commits(ctx, []git.OID{h.Head}, base)
		if err != nil {
			return fmt.Errorf("HEAD: %w", err)
		}
		h.Commits = commits
		reach.add("HEAD", commits)
	}
	for _, name := range names {
		if proof, err := h.isProof(ctx, name, tips[name], base); err != nil {
			return fmt.Errorf("%s: %w", Path(name), err)
		} else if proof {
			continue
		}
		h.Tips = append(h.Tips, Tip{Ref: Path(name), OID: tips[name]})
		if err := h.follow(ctx, name, tips[name], base, reach); err != nil {
			return fmt.Errorf("%s: %w", Path(name), err)
		}
	}
	h.Others = len(reach.order) - len(h.Commits)
	for _, c := range h.Commits {
		if h.kinds != nil && h.kinds[c] == "" {
			h.Borrowed++
		}
	}
	for oid, kind := range h.kinds {
		if _, ok := reach.by[oid]; kind == "commit" && !ok {
			h.Orphans = append(h.Orphans, oid)
		}
	}
	sort.Slice(h.Orphans, func(i, j int) bool { return h.Orphans[i] < h.Orphans[j] })
	return h.diff(ctx, reach)
}

// reached are the commits that something names, oldest first for each name.
type reached struct {
	by    map[git.OID]string // commit → the first ref that reaches it
	order []git.OID
}

func (r *reached) add(ref string, commits []git.OID) {
	for _, c := range commits {
		if r.by[c] == "" {
			r.by[c] = ref
			r.order = append(r.order, c)
		}
	}
}

// compare counts what the worker committed last and no longer has in its tree.
func (h *History) compare(ctx context.Context, base git.OID, left []Change) error {
	if len(h.Commits) == 0 {
		return nil
	}
	deltas, err := h.repo.Diff(ctx, base, h.Head)
	if err != nil {
		return err
	}
	lands := map[string]bool{}
	for _, ch := range left {
		if ch.Kind.Landable() && !ch.Ignored && ch.Kind != Deleted {
			lands[string(ch.Path)] = true
		}
	}
	for _, d := range deltas {
		if d.Old.Mode == git.Absent && !lands[d.Path] {
			h.Gone++
		}
	}
	return nil
}

// follow notes what a ref reaches. A ref on something that is not a commit
// shows nothing that could land and is noted by name only.
func (h *History) follow(ctx context.Context, name string, oid, base git.OID, reach *reached) error {
	if strings.HasPrefix(name, "refs/replace/") {
		h.refs = append(h.refs, Change{Path: Path(name), Kind: Replaced, Source: "ref"})
	}
	if oid == base {
		return nil // nothing that was not there
	}
	commit, err := h.repo.Commit(ctx, string(oid))
	if err != nil {
		kinds, kerr := h.repo.Kinds(ctx, []git.OID{oid})
		if kerr == nil && kinds[oid] != "" && kinds[oid] != "commit" {
			return nil
		}
		return err
	}
	commits, err := h.repo.Commits(ctx, []git.OID{commit}, base)
	reach.add(name, commits)
	return err
}

func (h *History) diff(ctx context.Context, reach *reached) error {
	deltas, err := h.repo.CommitDeltas(ctx, reach.order)
	if err != nil {
		return err
	}
	var all []git.Delta
	for _, d := range deltas {
		all = append(all, d.Deltas...)
	}
	targets, err := h.repo.Links(ctx, newLinks(all))
	if err != nil {
		return err
	}
	for _, d := range deltas {
		source := fmt.Sprintf("commit %s on %s", d.Commit.Short(), Path(reach.by[d.Commit]))
		s := step{commit: d.Commit}
		for _, x := range d.Deltas {
			ch := commitChange(x, targets)
			ch.Source = source
			s.changes = append(s.changes, ch)
		}
		h.steps = append(h.steps, s)
	}
	return nil
}

// newLinks are the links among some changes.
func newLinks(deltas []git.Delta) []git.OID {
	var links []git.OID
	for _, d := range deltas {
		if d.New.Mode == git.Symlink {
			links = append(links, d.New.OID)
		}
	}
	return links
}

// endless stands for a target that is longer than any link: it leads out.
const endless = "/…"

func commitChange(d git.Delta, targets map[git.OID]string) Change {
	ch := Change{Path: Path(d.Path), Kind: Commit, Old: d.Old, New: d.New, Detail: string(kindOf(d.Old, d.New))}
	switch {
	case d.New.Mode == git.Gitlink || d.Old.Mode == git.Gitlink:
		ch.Kind = GitlinkHit
	case d.New.Mode != git.Absent && d.New.Mode != git.Regular && d.New.Mode != git.Executable && d.New.Mode != git.Symlink:
		ch.Kind, ch.Detail = Special, "mode "+d.New.Mode.String()
	case d.Old.Mode == git.Absent && badName(d.Path) != "":
		ch.Kind, ch.Detail = BadName, badName(d.Path)
	case d.New.Mode == git.Symlink:
		target, ok := targets[d.New.OID]
		if !ok {
			ch.Kind, ch.Detail = LinkOut, "its target is longer than a link can be, or missing"
		}
		ch.Target = Path(target)
	}
	return ch
}

// GitDir is where a private tree keeps its repository.
func GitDir(top string) string { return filepath.Join(top, ".git") }
