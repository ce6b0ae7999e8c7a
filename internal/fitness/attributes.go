// Package fitness decides whether a clean result may land in the form that it has: whether
// its attributes leave every file in a checkout as it was tested, and whether the worker's
// own commits can be kept as history.
//
// It refuses to change a result: package session lands it as one commit, or not at all.
package fitness

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/lfs"
	"cordon/internal/plainfile"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

type site struct{ *worksite.Site }

// refuseAttributes refuses to land attributes that change which files need a filter, or
// with which git cannot write the files of a clone. The changes are those between two commits.
func (s site) refuseAttributes(ctx context.Context, repo git.Repo, from, to git.OID, changes []git.Delta) error {
	var macros map[string][]string // of an attribute
	for _, d := range changes {
		now, before := git.File{Path: d.Path, Entry: d.New}, git.File{Path: d.Path, Entry: d.Old}
		if !worktree.IsAttributes(now) && !worktree.IsAttributes(before) {
			continue
		}
		if macros == nil {
			var err error
			if macros, err = s.attributeMacros(ctx, repo, from, to); err != nil {
				return err
			}
		}
		had, err := attributesText(ctx, repo, before)
		if err != nil {
			return err
		}
		has, err := attributesText(ctx, repo, now)
		if err != nil {
			return err
		}
		if strings.Contains(has, "\x00") {
			return fmt.Errorf("%s has a zero byte: git may not read the lines after it", audit.Path(now.Path))
		}
		if err := refuseFilterLines(now.Path, had, has, macros[filterAttribute]); err != nil {
			return err
		}
		if err := refuseEncodings(now.Path, had, has, macros[encodingAttribute]); err != nil {
			return err
		}
	}
	return nil
}

const (
	filterAttribute   = "filter"
	encodingAttribute = "working-tree-encoding"
)

// attributeMacros are the macros with which attributes of two commits, and of the
// operator's repository, give filters and encodings.
func (s site) attributeMacros(ctx context.Context, repo git.Repo, commits ...git.OID) (map[string][]string, error) {
	own, _ := plainfile.ReadLinked(filepath.Join(s.Host.Dir, "info", "attributes"), plainfile.Text) // there may be none
	texts := []string{string(own)}
	for _, c := range commits {
		text, _, err := repo.FileAt(ctx, c, ".gitattributes")
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	macros := map[string][]string{}
	for _, name := range []string{filterAttribute, encodingAttribute} {
		macros[name] = worktree.MacrosOf(name, texts...)
	}
	return macros, nil
}

// attributesText is the text of a file of attributes; any other file has none.
func attributesText(ctx context.Context, repo git.Repo, f git.File) (string, error) {
	if !worktree.IsAttributes(f) {
		return "", nil
	}
	text, err := repo.Blob(ctx, f.OID)
	return string(text), err
}

// refuseFilterLines refuses to add, remove or reorder lines about filters: the files that they
// are about would be others than were judged and tested.
func refuseFilterLines(path, before, now string, macros []string) error {
	had, has := worktree.LinesAbout(before, filterAttribute, macros), worktree.LinesAbout(now, filterAttribute, macros)
	for i, line := range has {
		if i >= len(had) || had[i].Text != line.Text {
			return fmt.Errorf("%s:%d asks for %s: a worker cannot change which files need a filter", audit.Path(path), line.Number, filterWords(line.Text))
		}
	}
	if len(had) > len(has) {
		return fmt.Errorf("%s no longer asks for %s: a worker cannot change which files need a filter", audit.Path(path), filterWords(had[len(has)].Text))
	}
	return nil
}

func filterWords(line string) string {
	for _, word := range strings.Fields(line)[1:] {
		switch name, ok := strings.CutPrefix(word, filterAttribute+"="); {
		case ok && name == lfs.Filter:
			return "Git LFS"
		case ok:
			return "the filter " + name
		}
	}
	return "a filter or none"
}

// Forms refuses a result whose files would have another form in a checkout than they
// had in the tests. It counts everything since the operator's commit, also what an earlier
// attempt wrote.
func Forms(ctx context.Context, of *worksite.Site, w *ledger.Worker, result git.OID) error {
	s := site{of}
	if w.Waives(ledger.NotJudged) {
		return nil // the operator saw it and took it
	}
	base := w.Began()
	changes, err := s.Gate.Repo().Diff(ctx, base, result)
	if err != nil {
		return err
	}
	if err := s.refuseAttributes(ctx, s.Gate.Repo(), base, result, changes); err != nil {
		return err
	}
	return s.refuseFilteredFiles(ctx, w.ID, base, changes)
}

// refuseFilteredFiles is refuseFiltered for the result of a worker.
func (s site) refuseFilteredFiles(ctx context.Context, id lease.ID, base git.OID, changes []git.Delta) error {
	special, err := s.Special(ctx, base)
	if err != nil {
		return err
	}
	if named, err := lfs.Named(ctx, s.Host.Repo, special); err != nil || !named {
		return err
	}
	scratch := s.State.Ignore(string(id) + ".attributes")
	if err := s.State.Erase(scratch); err != nil {
		return err
	}
	return s.refuseFiltered(ctx, s.Host.Repo, base, changes, scratch, false)
}

// refuseFiltered refuses to land files for which the attributes of a commit name a filter
// of the operator's that cordon does not run.
func (s site) refuseFiltered(ctx context.Context, repo git.Repo, commit git.OID, changes []git.Delta, dir string, large bool) error {
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

// refuseEncodings refuses a line about encodings that the file did not have before:
// git fails, or writes other bytes than were tested, in every clone.
func refuseEncodings(path, before, now string, macros []string) error {
	had := map[string]bool{}
	for _, line := range worktree.LinesAbout(before, encodingAttribute, macros) {
		had[line.Text] = true
	}
	for _, line := range worktree.LinesAbout(now, encodingAttribute, macros) {
		if !had[line.Text] {
			return fmt.Errorf("%s:%d asks for a working-tree-encoding: git would fail or convert files in every clone", audit.Path(path), line.Number)
		}
	}
	return nil
}
