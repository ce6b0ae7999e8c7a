package session

import (
	"context"
	"fmt"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/lfs"
	"cordon/internal/worktree"
)

// refuseAttributes refuses to land attributes that change which files need a filter, or
// with which git cannot write the files of a clone.
func refuseAttributes(ctx context.Context, repo git.Repo, changes []git.Delta) error {
	for _, d := range changes {
		now, before := git.File{Path: d.Path, Entry: d.New}, git.File{Path: d.Path, Entry: d.Old}
		if !worktree.IsAttributes(now) && !worktree.IsAttributes(before) {
			continue
		}
		if err := refuseFilterLines(ctx, repo, now, before); err != nil {
			return err
		}
		if !worktree.IsAttributes(now) {
			continue
		}
		if err := refuseEncodings(ctx, repo, now, before); err != nil {
			return err
		}
	}
	return nil
}

// refuseFilterLines refuses to add or remove lines about filters: the files that they are
// about would be others than were judged and tested.
func refuseFilterLines(ctx context.Context, repo git.Repo, now, before git.File) error {
	had, err := filterLines(ctx, repo, before)
	if err != nil {
		return err
	}
	has, err := filterLines(ctx, repo, now)
	if err != nil {
		return err
	}
	for line, n := range has {
		if _, ok := had[line]; !ok {
			return fmt.Errorf("%s:%d asks for %s: a worker cannot change which files need a filter", audit.Path(now.Path), n, filterWords(line))
		}
	}
	for line := range had {
		if _, ok := has[line]; !ok {
			return fmt.Errorf("%s no longer asks for %s: a worker cannot change which files need a filter", audit.Path(now.Path), filterWords(line))
		}
	}
	return nil
}

func filterWords(line string) string {
	if name := worktree.FilterOf(line); name != lfs.Filter {
		return "the filter " + name
	}
	return "Git LFS"
}

// filterLines are the lines about filters in a file of attributes, with their numbers.
func filterLines(ctx context.Context, repo git.Repo, f git.File) (map[string]int, error) {
	found := map[string]int{}
	if !worktree.IsAttributes(f) {
		return found, nil
	}
	text, err := repo.Blob(ctx, f.OID)
	for n, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); worktree.FilterOf(line) != "" {
			found[line] = n + 1
		}
	}
	return found, err
}

// refuseFilteredFiles is refuseFiltered for the result of a worker.
func (s *Session) refuseFilteredFiles(ctx context.Context, w *ledger.Worker, changes []git.Delta) error {
	base := w.Lease.Lease().Base
	files, err := s.FilesOf(ctx, base)
	if err != nil || !lfs.Named(s.Host.Repo, files) {
		return err
	}
	scratch := s.State.Ignore(string(w.ID) + ".attributes")
	if err := s.State.Erase(scratch); err != nil {
		return err
	}
	return s.refuseFiltered(ctx, s.Host.Repo, base, changes, scratch, false)
}

// refuseFiltered refuses to land files for which the attributes of a commit name a filter
// of the operator's that cordon does not run.
func (s *Session) refuseFiltered(ctx context.Context, repo git.Repo, commit git.OID, changes []git.Delta, dir string, large bool) error {
	var paths []string
	for _, d := range changes {
		if d.New.Mode == git.Regular || d.New.Mode == git.Executable {
			paths = append(paths, d.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	base, err := repo.Listing(ctx, commit)
	if err != nil {
		return err
	}
	defer base.Close()
	filters, err := lfs.Filters(ctx, repo, base, paths, dir)
	if err != nil || len(filters) == 0 {
		return err
	}
	known, err := s.Host.FilterNames(ctx)
	for p, filter := range filters {
		if filter != lfs.Filter && known[filter] || filter == lfs.Filter && large {
			return fmt.Errorf("%s needs the filter %s, which cordon does not run", audit.Path(p), filter)
		}
	}
	return err
}

// landingFiles are the changes of a report that are to land.
func landingFiles(report *audit.Report) []git.Delta {
	var list []git.Delta
	for _, f := range report.Landing(false) {
		list = append(list, git.Delta{Path: string(f.Path), Old: f.Old, New: f.New})
	}
	return list
}

// refuseEncodings refuses a line about encodings that the file did not have before:
// git fails, or writes other bytes than were tested, in every clone.
func refuseEncodings(ctx context.Context, repo git.Repo, now, before git.File) error {
	had := map[string]bool{}
	if worktree.IsAttributes(before) {
		old, err := repo.Blob(ctx, before.OID)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(old)) {
			had[strings.TrimSpace(line)] = true
		}
	}
	text, err := repo.Blob(ctx, now.OID)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(string(text), "\n") {
		for _, word := range []string{"working-tree-encoding", "-working-tree-encoding", "working-tree-encoding="} {
			if worktree.HasAttribute(line, word) && !had[strings.TrimSpace(line)] {
				return fmt.Errorf("%s:%d asks for a working-tree-encoding: git would fail or convert files in every clone", audit.Path(now.Path), n+1)
			}
		}
	}
	return nil
}
