// Package wording finds the words for the commit that lands: the operator's own, or those
// of the agent's report, commits and prompt. The operator may edit them.
//
// It refuses to clean or shorten them: package message does that, and knows no worker.
package wording

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/message"
	"cordon/internal/plainfile"
	"cordon/internal/worksite"
)

// Edited has the operator edit a message. The file lies where no worker can write.
func Edited(ctx context.Context, s *worksite.Site, w *ledger.Worker, m message.Message, terminal *os.File) (message.Message, error) {
	operator, err := s.Host.Operator(ctx, s.Trees())
	if err != nil {
		return m, err
	}
	dir, err := os.MkdirTemp("", "cordon-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "COMMIT_EDITMSG")
	comment := fmt.Sprintf("The message of the commit that %s lands on %s. An empty message stops the\nlanding. Lines that begin with # are left out; cordon "+
		"adds its trailers.", w.ID, strings.TrimPrefix(w.Lease.Lease().Target, "refs/heads/"))
	if err := os.WriteFile(file, []byte(m.Template(comment)), 0o600); err != nil {
		return m, err
	}
	if err := operator.Edit(ctx, file, terminal); err != nil {
		return m, err
	}
	text, err := plainfile.Read(file, plainfile.Text)
	if err != nil {
		return m, err
	}
	return message.Edited(string(text))
}

// Composed is the message of a result: the operator's own words, if they gave any, or what
// package message makes of the agent's.
func Composed(ctx context.Context, s *worksite.Site, w *ledger.Worker, own string, lands []audit.Finding, h *audit.History) (message.Message, error) {
	if own != "" {
		return message.Own(own)
	}
	from := message.Source{Earlier: w.Earlier}
	if w.Claim != nil {
		from.Report = w.Claim.Text
	}
	if w.Agent != nil {
		from.Prompt = w.Agent.Prompt
	}
	for _, f := range lands {
		if f.Class == audit.Landing {
			from.Changes = append(from.Changes, message.Change{
				Path: f.Path.String(), Added: f.Old.Mode == git.Absent, Removed: f.New.Mode == git.Absent,
			})
		}
	}
	var err error
	repo := s.HistoryRepo(w)
	if w.Release != nil {
		repo = s.Gate.Repo()
	}
	from.Commits, err = commitMessages(ctx, w, repo, h)
	return message.Compose(from), err
}

// SoFar is how a worker described its work up to the end of this attempt, for the message of
// a later one. Commits that cannot be read say nothing.
func SoFar(ctx context.Context, s *worksite.Site, w *ledger.Worker) string {
	from := message.Source{Earlier: w.Earlier}
	if w.Claim != nil {
		from.Report = w.Claim.Text
	}
	repo, h := s.Gate.Repo(), StoredHistory(s, w)
	if w.Quarantine == nil {
		if report, err := s.Report(w); err == nil {
			repo, h = s.HistoryRepo(w), report.History
		}
	}
	from.Commits, _ = commitMessages(ctx, w, repo, h)
	if m := message.Said(from); m.Subject != "" {
		return m.String()
	}
	return ""
}

// StoredHistory is the history of a quarantined result, if its commits were stored.
func StoredHistory(s *worksite.Site, w *ledger.Worker) *audit.History {
	report, err := s.Report(w)
	if err != nil || w.Quarantine == nil || report.History == nil || report.History.Head != w.Quarantine.History {
		return nil
	}
	return report.History
}

// maxMessages is how many of a worker's commits are read for the message of a result.
const maxMessages = 100

// commitMessages are those of the worker's own last commits, oldest first.
func commitMessages(ctx context.Context, w *ledger.Worker, repo git.Repo, h *audit.History) ([]string, error) {
	if h == nil {
		return nil, nil
	}
	texts, err := repo.CommitTexts(ctx, h.Commits[max(0, len(h.Commits)-maxMessages):])
	if err != nil {
		return nil, err
	}
	var list []string
	for _, c := range texts {
		if !c.TooLong && (h.Borrowed == 0 || committedBy(c, enclosure.CommitterEmail(w.ID))) {
			list = append(list, c.Message)
		}
	}
	return list, nil
}

// committedBy reports whether a commit names a committer. A worker can forge it, and then
// only hides its own words.
func committedBy(c git.CommitText, email string) bool {
	for _, h := range c.Headers {
		if h.Key == "committer" {
			sig, err := git.ParseSignature(h.Value)
			return err == nil && sig.Email == email
		}
	}
	return false
}
