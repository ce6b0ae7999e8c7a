// Package seen names what a person saw of a worker when they decided about it: its state, its
// lease, its result, the branch on which the result is to land, and its open questions. A
// decision that carries such a mark is refused when one of the things that it rests on has
// changed.
//
// A mark is a text in the form
//
//	DECISIONS.STATUS.ATTEMPT.LEASE.RESULT.TIP.QUESTIONS
//
// for example 2.quarantined.0.5be1c0a9d2f41b7e.9f3ac1d2e4b5a6c7d8e9f0a1.c08ec06812ab4f5e.-
// Its parts are compared one by one, so that a refusal can say what moved. The result is a
// digest of everything that the audit recorded; the question marks are names.
//
// The package compares. It refuses to decide, to write, and to call something unchanged that
// it could not look at.
package seen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// Sight is a worker as a person sees it.
type Sight struct {
	Status    ledger.Status
	Lease     string
	Attempt   int
	Audit     string // digest of the changes that may land
	Report    string // SHA-256 of the stored audit
	Result    git.OID
	Target    string
	Tip       git.OID // "": there is no such branch
	Questions []string
	Decisions int
}

// Look looks at a worker. held says whether another process is at work on it.
func Look(ctx context.Context, s *worksite.Site, w *ledger.Worker, held bool) (Sight, error) {
	v := Sight{
		Lease: w.Lease.Hash(), Attempt: w.Attempts, Target: w.Lease.Lease().Target, Result: resultOf(w), Decisions: w.Decisions,
	}
	if w.Audit != nil {
		v.Audit, v.Report = w.Audit.Digest, w.Audit.Report
	}
	for _, q := range w.Open() {
		v.Questions = append(v.Questions, q.ID())
	}
	found, err := s.Host.Lookup(ctx, []string{v.Target})
	if err != nil {
		return Sight{}, err
	}
	if found[0].Kind == "commit" {
		v.Tip = found[0].OID
	}
	facts, err := s.Facts(ctx, w)
	if err != nil {
		return Sight{}, err
	}
	facts.Held = held
	v.Status = w.Status(facts)
	return v, nil
}

// resultOf is the commit that holds a result.
func resultOf(w *ledger.Worker) git.OID {
	switch {
	case w.Quarantine != nil && w.Release == nil:
		return w.Quarantine.Result
	case w.Gate != nil && w.Gate.Commit != "":
		return w.Gate.Commit
	case w.Proposal != nil:
		return w.Proposal.Commit
	}
	return ""
}

// Mark is what is kept of a sight.
type Mark struct {
	decisions, attempt                    int
	status, lease, result, tip, questions string
}

// none stands for an empty part.
const none = "-"

// Mark is the mark of a sight.
func (v Sight) Mark() Mark {
	sum := sha256.Sum256([]byte(strings.Join([]string{v.Audit, v.Report, string(v.Result)}, "\n")))
	return Mark{
		decisions: v.Decisions, attempt: v.Attempt, status: strings.ReplaceAll(string(v.Status), " ", "_"), lease: part(v.Lease, 16),
		result: hex.EncodeToString(sum[:12]), tip: part(string(v.Tip), 16), questions: part(strings.Join(v.Questions, "+"), len(v.Questions)*8),
	}
}

// part is the beginning of a text that is one part of a mark.
func part(text string, most int) string {
	if text == "" {
		return none
	}
	return text[:min(len(text), most)]
}

func (m Mark) String() string {
	return strings.Join([]string{strconv.Itoa(m.decisions), m.status, strconv.Itoa(m.attempt), m.lease, m.result, m.tip, m.questions}, ".")
}

// Parse reads a mark. A text that is not exactly one is a mistake.
func Parse(text string) (Mark, error) {
	f := strings.Split(text, ".")
	if len(f) == 7 && !slices.Contains(f, "") {
		decisions, err := strconv.Atoi(f[0])
		attempt, also := strconv.Atoi(f[2])
		m := Mark{decisions: decisions, attempt: attempt, status: f[1], lease: f[3], result: f[4], tip: f[5], questions: f[6]}
		if err == nil && also == nil && m.String() == text {
			return m, nil
		}
	}
	return Mark{}, &fault.MistakeError{Err: fmt.Errorf("%q is not a digest of what you saw: digests.seen of cordon show --review --json is one", text)}
}
