package session

import (
	"context"
	"fmt"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/worktree"
)

// refuseAttributes refuses to land attributes for which every later worker would be
// refused, or with which git cannot write the files of a clone.
func refuseAttributes(ctx context.Context, repo git.Repo, changes []git.Delta) error {
	var files []git.File
	for _, d := range changes {
		now := git.File{Path: d.Path, Entry: d.New}
		if !worktree.IsAttributes(now) {
			continue
		}
		if err := refuseEncodings(ctx, repo, now, git.File{Path: d.Path, Entry: d.Old}); err != nil {
			return err
		}
		files = append(files, now)
	}
	return worktree.RefuseFilters(ctx, repo, files)
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
