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
	changes []Change  // paths of each commit, against each parent
	kinds   map[git.OID]string
}

// Tip is a named commit.
type Tip struct {
	Ref Path    `json:"ref"`
	OID git.OID `json:"oid"`
}

// ReadHistory imports the commits of a worker's private repository into a
// repository of cordon's own and lists what each of them changed.
func ReadHistory(ctx context.Context, gitDir string, into git.Repo, base git.OID) (*History, error) {
	oids, err := importObjects(ctx, gitDir, into)
	if err != nil {
		return nil, err
	}
	table, err := readRefs(gitDir)
	if err != nil {
		return nil, err
	}
	h := &History{Head: table.resolve("HEAD")}
	if h.kinds, err = into.Kinds(ctx, oids); err != nil {
		return nil, err
	}
	return h, h.read(ctx, into, table.tips(), base)
}

// HistoryOf lists what the commits between base and head changed, for a tree
// whose commits are in the host already.
func HistoryOf(ctx context.Context, repo git.Repo, head, base git.OID, ref string) (*History, error) {
	h := &History{Head: head}
	return h, h.read(ctx, repo, map[string]git.OID{ref: head}, base)
}

func (h *History) read(ctx context.Context, repo git.Repo, tips map[string]git.OID, base git.OID) error {
	var names []string
	for name := range tips {
		names = append(names, name)
	}
	sort.Strings(names)
	reach := map[git.OID]string{} // commit → the first ref that reaches it
	if !h.Head.IsZero() {
		commits, err := repo.Commits(ctx, []git.OID{h.Head}, base)
		if err != nil {
			return fmt.Errorf("HEAD: %w", err)
		}
		h.Commits = commits
		for _, c := range commits {
			reach[c] = "HEAD"
		}
	}
	for _, name := range names {
		h.Tips = append(h.Tips, Tip{Ref: Path(name), OID: tips[name]})
		if err := h.follow(ctx, repo, name, tips[name], base, reach); err != nil {
			return fmt.Errorf("%s: %w", Path(name), err)
		}
	}
	h.Others = len(reach) - len(h.Commits)
	for oid, kind := range h.kinds {
		if _, ok := reach[oid]; kind == "commit" && !ok {
			h.Orphans = append(h.Orphans, oid)
		}
	}
	sort.Slice(h.Orphans, func(i, j int) bool { return h.Orphans[i] < h.Orphans[j] })
	return h.diff(ctx, repo, reach)
}

// follow notes what a ref reaches. A ref on something that is not a commit
// shows nothing that could land and is noted by name only.
func (h *History) follow(ctx context.Context, repo git.Repo, name string, oid, base git.OID, reach map[git.OID]string) error {
	if strings.HasPrefix(name, "refs/replace/") {
		h.changes = append(h.changes, Change{Path: Path(name), Kind: Replaced, Source: "ref"})
	}
	commit, err := repo.Commit(ctx, string(oid))
	if err != nil {
		kinds, kerr := repo.Kinds(ctx, []git.OID{oid})
		if kerr == nil && kinds[oid] != "" && kinds[oid] != "commit" {
			return nil
		}
		return err
	}
	commits, err := repo.Commits(ctx, []git.OID{commit}, base)
	for _, c := range commits {
		if reach[c] == "" {
			reach[c] = name
		}
	}
	return err
}

func (h *History) diff(ctx context.Context, repo git.Repo, reach map[git.OID]string) error {
	var commits []git.OID
	for c := range reach {
		commits = append(commits, c)
	}
	sort.Slice(commits, func(i, j int) bool { return commits[i] < commits[j] })
	deltas, err := repo.CommitDeltas(ctx, commits)
	if err != nil {
		return err
	}
	for _, d := range deltas {
		source := fmt.Sprintf("commit %s on %s", d.Commit.Short(), Path(reach[d.Commit]))
		for _, x := range d.Deltas {
			ch, err := commitChange(ctx, repo, x)
			if err != nil {
				return err
			}
			ch.Source = source
			h.changes = append(h.changes, ch)
		}
	}
	return nil
}

func commitChange(ctx context.Context, repo git.Repo, d git.Delta) (Change, error) {
	ch := Change{Path: Path(d.Path), Kind: Commit, Old: d.Old, New: d.New, Detail: string(kindOf(d.Old, d.New))}
	switch {
	case d.New.Mode == git.Gitlink || d.Old.Mode == git.Gitlink:
		ch.Kind = GitlinkHit
	case d.New.Mode != git.Absent && d.New.Mode != git.Regular && d.New.Mode != git.Executable && d.New.Mode != git.Symlink:
		ch.Kind, ch.Detail = Special, "mode "+d.New.Mode.String()
	case d.Old.Mode == git.Absent && badName(d.Path) != "":
		ch.Kind, ch.Detail = BadName, badName(d.Path)
	case d.New.Mode == git.Symlink:
		target, err := repo.Blob(ctx, d.New.OID)
		if err != nil {
			return ch, err
		}
		ch.Target = Path(target)
	}
	return ch, nil
}

// findings are what the history adds to an audit: only what it does wrong, since
// what it does right is in the tree or lands nowhere.
func (h *History) findings(rules Judge) []Finding {
	list := make([]Change, len(h.changes))
	copy(list, h.changes)
	for i := range list {
		ch := &list[i]
		if ch.Kind != Commit || ch.New.Mode != git.Symlink {
			continue
		}
		if why := leadsOut(string(ch.Path), alone(*ch), rules); why != "" {
			ch.Kind, ch.Detail = LinkOut, why
		}
	}
	return historyViolations(list, rules)
}

// alone looks up one link only: the rest of its commit's tree was judged where
// it changed.
func alone(ch Change) func(string) (string, bool) {
	return func(p string) (string, bool) { return string(ch.Target), p == string(ch.Path) }
}

func historyViolations(list []Change, rules Judge) []Finding {
	found := Violations(list, rules)
	for i := range found {
		if found[i].Kind == Replaced {
			found[i].Rule = never[Replaced]
		}
	}
	return found
}

// GitDir is where a private tree keeps its repository.
func GitDir(top string) string { return filepath.Join(top, ".git") }
