package fitness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/audit"
	"cordon/internal/config"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/message"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// Tip is the worker's last commit, if its commits can be kept as history.
// The audit was clean, so what each of them changes is.
func Tip(ctx context.Context, of *worksite.Site, w *ledger.Worker, h *audit.History, form config.Form) (git.OID, error) {
	s := site{of}
	if len(h.Commits) == 0 {
		return "", nil
	}
	why, err := s.whyUnfit(ctx, w, h)
	if err == nil && why == "" && form == config.Rebase {
		why, err = s.whyNoLine(ctx, w, h)
	}
	if err != nil {
		return "", err
	}
	if why != "" {
		s.Voice.Step(w.ID, "gate", why+": landing the tree as one commit")
		return "", nil
	}
	return h.Head, nil
}

// maxReplayed is how many commits are replayed at most: other results wait for their landing
// meanwhile.
const maxReplayed = 500

// whyNoLine says why commits cannot be replayed one after the other.
func (s site) whyNoLine(ctx context.Context, w *ledger.Worker, h *audit.History) (string, error) {
	if n := len(h.Commits); n > maxReplayed {
		return fmt.Sprintf("its %d commits are more than the %d that cordon replays", n, maxReplayed), nil
	}
	texts, err := s.HistoryRepo(w).CommitTexts(ctx, h.Commits)
	if err != nil {
		return "", err
	}
	before := w.Lease.Lease().Base
	for _, c := range texts {
		var parents []string
		for _, header := range c.Headers {
			if header.Key == "parent" {
				parents = append(parents, header.Value)
			}
		}
		if len(parents) != 1 || parents[0] != string(before) {
			return "commit " + c.Commit.Short() + " does not follow the one before it in a line", nil
		}
		before = c.Commit
	}
	return "", nil
}

// whyUnfit says why a worker's commits are not kept as history: they have to build on the
// base, be its own, and say nothing of themselves but what cordon can vouch for.
func (s site) whyUnfit(ctx context.Context, w *ledger.Worker, h *audit.History) (string, error) {
	repo, l := s.HistoryRepo(w), w.Lease.Lease()
	if ok, err := repo.IsAncestor(ctx, l.Base, h.Head); err != nil || !ok {
		return "its commits do not build on the base", err
	}
	if h.Scratch > 0 {
		return fmt.Sprintf("its commits hold %d changes of scratch", h.Scratch), nil
	}
	if h.Borrowed > 0 {
		return fmt.Sprintf("%d of its commits are not its own", h.Borrowed), nil
	}
	texts, err := repo.CommitTexts(ctx, h.Commits)
	if err != nil {
		return "", err
	}
	author := enclosure.Identity(l)
	v := authorship{
		author: author, committer: policy.Identity{Name: "cordon worker " + string(w.ID), Email: enclosure.CommitterEmail(w.ID)},
		from: l.Created.Add(-clockSkew), to: s.Now().Add(clockSkew),
	}
	for _, c := range texts {
		if why := v.unprovenClaim(c); why != "" {
			return "commit " + c.Commit.Short() + " " + why, nil
		}
	}
	return s.unfitChanges(ctx, repo, l.Base, h.Commits, w.Lease.Rules())
}

// unfitChanges says which commit has something that the result as a whole is refused for:
// each of them can be checked out once it is in the history.
func (s site) unfitChanges(ctx context.Context, repo git.Repo, base git.OID, commits []git.OID, rules policy.Rules) (string, error) {
	steps, err := repo.CommitDeltas(ctx, commits)
	if err != nil {
		return "", err
	}
	before, err := repo.Listing(ctx, base)
	if err != nil {
		return "", err
	}
	defer before.Close()
	scratch, err := os.MkdirTemp("", "cordon-history-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	for _, step := range steps {
		if why := audit.UnportableIn(step.Deltas, before); why != "" && rules.PortableNames() {
			return "commit " + step.Commit.Short() + " adds " + why, before.Err()
		}
		if err := s.refuseAttributes(ctx, repo, base, step.Commit, step.Deltas); err != nil {
			return "commit " + step.Commit.Short() + " has attributes that do not land: " + fault.OneLine(err), ctx.Err()
		}
		if err := s.refuseFiltered(ctx, repo, base, step.Deltas, filepath.Join(scratch, "attributes"), true); err != nil {
			return "commit " + step.Commit.Short() + " has files that land in another form: " + fault.OneLine(err), ctx.Err()
		}
	}
	return "", before.Err()
}

// clockSkew is how far the clock may have been set while a worker ran.
const clockSkew = 5 * time.Minute

// authorship is what cordon knows of a worker's commits: who makes them, and between which
// times.
type authorship struct {
	author, committer policy.Identity
	from, to          time.Time
}

// unprovenClaim describes the first claim of a commit that cordon cannot vouch for, in
// words that follow the name of the commit. It returns "" if there is none.
func (v authorship) unprovenClaim(c git.CommitText) string {
	if c.TooLong {
		return fmt.Sprintf("is longer than %d bytes", git.MaxCommit)
	}
	for _, check := range []func(git.CommitText) string{v.headers, v.people, v.message} {
		if why := check(c); why != "" {
			return why
		}
	}
	return ""
}

// headers wants those that every commit has, in git's order: a signature, an encoding or
// anything that a later git may understand is not cordon's to pass on.
func (v authorship) headers(c git.CommitText) string {
	var keys []string
	for i, h := range c.Headers {
		if h.Key != "parent" || i == 0 || c.Headers[i-1].Key != "parent" {
			keys = append(keys, h.Key)
		}
		if strings.Contains(h.Value, "\n") {
			return fmt.Sprintf("has a header %q of several lines", h.Key)
		}
	}
	for _, key := range keys {
		if !slices.Contains([]string{"tree", "parent", "author", "committer"}, key) {
			return fmt.Sprintf("has a header %q", key)
		}
	}
	if !slices.Equal(keys, []string{"tree", "parent", "author", "committer"}) {
		return "has other headers than tree, parent, author and committer"
	}
	return ""
}

func (v authorship) people(c git.CommitText) string {
	for _, h := range c.Headers {
		who := v.author
		switch h.Key {
		case "author":
		case "committer":
			who = v.committer
		default:
			continue
		}
		sig, err := git.ParseSignature(h.Value)
		switch {
		case err != nil:
			return "has a malformed " + h.Key
		case sig.Name != git.CleanName(who.Name) || sig.Email != git.CleanName(who.Email):
			return fmt.Sprintf("names somebody else as its %s", h.Key)
		case sig.Time.Before(v.from) || sig.Time.After(v.to):
			return fmt.Sprintf("has a date of its %s at which the worker did not run", h.Key)
		}
	}
	return ""
}

// attestation is a line that says who stands behind a commit. The name of a co-author
// stands behind nothing, and clients write their own.
// A line after it that begins with a space goes on with it.
var attestation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[\t ]*([a-z][a-z-]*-by|(?:signed off|authored|reviewed|approved|acked|tested) by)[\t ]*:(.*)(\n[\t ]+\S)?`)
})

func (v authorship) message(c git.CommitText) string {
	switch {
	case strings.TrimSpace(c.Message) == "":
		return "has no message"
	case legible.Text(c.Message) != c.Message:
		return "has control characters in its message"
	case strings.Contains(strings.ToLower(c.Message), "cordon-"):
		return "has a message with cordon's own trailers"
	case message.Acts(c.Message):
		return "has a message that programs would act on"
	}
	for _, m := range attestation().FindAllStringSubmatch(message.PlainDashes(c.Message), -1) {
		if m[3] != "" {
			return fmt.Sprintf("has a %s of several lines in its message", m[1])
		}
		own := func(who policy.Identity) bool {
			return strings.TrimSpace(m[2]) == git.CleanName(who.Name)+" <"+git.CleanName(who.Email)+">"
		}
		if !strings.EqualFold(m[1], "Co-authored-by") && !own(v.author) && !own(v.committer) {
			return fmt.Sprintf("has a %s of somebody else in its message", m[1])
		}
	}
	return ""
}
