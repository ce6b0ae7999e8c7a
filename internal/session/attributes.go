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
func (s *Session) refuseAttributes(ctx context.Context, report *audit.Report) error {
	var files []git.File
	for _, f := range report.Landing(false) {
		now := git.File{Path: string(f.Path), Entry: f.New}
		if !worktree.IsAttributes(now) {
			continue
		}
		if err := s.refuseEncodings(ctx, now, git.File{Path: now.Path, Entry: f.Old}); err != nil {
			return err
		}
		files = append(files, now)
	}
	return worktree.RefuseFilters(ctx, s.gate.Repo(), files)
}

// refuseEncodings refuses a line about encodings that the file did not have before:
// git fails, or writes other bytes than were tested, in every clone.
func (s *Session) refuseEncodings(ctx context.Context, now, before git.File) error {
	had := map[string]bool{}
	if worktree.IsAttributes(before) {
		old, err := s.gate.Repo().Blob(ctx, before.OID)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(old)) {
			had[strings.TrimSpace(line)] = true
		}
	}
	text, err := s.gate.Repo().Blob(ctx, now.OID)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(string(text), "\n") {
		for _, word := range []string{"working-tree-encoding", "-working-tree-encoding", "working-tree-encoding="} {
			if attribute(line, word) && !had[strings.TrimSpace(line)] {
				return fmt.Errorf("%s:%d asks for a working-tree-encoding: git would fail or convert files in every clone", audit.Path(now.Path), n+1)
			}
		}
	}
	return nil
}
