package conduct

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/checkfile"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/policy"
)

// situation is one combination of everything that decides whether a result lands without another word of a person.
type situation struct {
	policy, rights policy.Land
	request        string // flag of cordon run or cordon plan run
	verdict        string // what the audit found
	kind           string // of worker
	review         string // of its stage
	vote           string // about its result
}

var (
	lands    = []policy.Land{policy.LandAuto, policy.LandCareful, policy.LandReview}
	requests = map[string]ledger.Options{
		"": {}, "--merge": {Merge: true}, "--review": {Review: true}, "--no-merge": {NoMerge: true},
		"-i": {Interactive: true, Review: true}, "-i --merge": {Interactive: true, Merge: true}, "resume -i": {},
	}
	verdicts = map[string]ledger.Audit{
		"clean":      {Verdict: audit.VerdictClean, Summary: audit.Summary{Landing: 2}, Digest: "d", Whole: true},
		"tests":      {Verdict: audit.VerdictClean, Summary: audit.Summary{Landing: 2}, Digest: "d", Whole: true, Checks: []checkfile.Kind{checkfile.Tests}},
		"nothing":    {Verdict: audit.VerdictClean, Digest: "d", Whole: true},
		"violations": {Verdict: "violations", Summary: audit.Summary{Landing: 2, Violations: 1}, Digest: "d", Whole: true},
	}
	reviews = map[string]*plan.Review{
		"": nil, "person": {Person: true, Must: true}, "agent": {Agent: "codex", Must: true}, "lax agent": {Agent: "codex"},
	}
	votes = []string{"", "agent approve", "agent feedback", "agent escalate", "agent approve, but violates", "person approve", "person feedback"}
)

// rule says what SECURITY.md and docs/plans.md promise, without looking at the code.
func (c situation) rule() bool {
	order := []policy.Land{policy.LandReview, policy.LandCareful, policy.LandAuto}
	land := order[min(slices.Index(order, c.policy), slices.Index(order, c.rights))]
	word := strings.HasSuffix(c.request, "--merge") || c.kind == "stage of land: together"
	person := !word && (c.request != "" || land == policy.LandReview || land == policy.LandCareful && c.verdict == "tests")
	switch {
	case c.verdict == "violations":
		return false
	case c.request == "--no-merge":
		return false
	case c.verdict == "nothing": // the gate finds that there is nothing to land
		return true
	case c.kind == "run":
		return !person
	case !person && c.review == "":
		return true
	case strings.HasPrefix(c.vote, "person"):
		return c.vote == "person approve"
	case person || c.review == "person":
		return false
	case c.review == "lax agent":
		return c.vote != "" && c.vote != "agent escalate"
	}
	return c.vote == "agent approve"
}

// worker is a worker whose command ended by itself in this situation.
func (c situation) worker(t *testing.T, sealed map[string]lease.Sealed) *ledger.Worker {
	verdict, options := verdicts[c.verdict], requests[c.request]
	w := &ledger.Worker{
		ID: "calm-otter", Lease: sealed[string(c.policy+c.rights)], Options: options, Tree: new(ledger.Tree), Start: new(ledger.Start),
		Exit: &cell.Exit{Reason: cell.Exited}, Audit: &verdict, Attended: c.request == "resume -i",
	}
	if c.kind == "run" {
		return w
	}
	run := &ledger.PlanRun{Opening: ledger.Opening{Target: "refs/heads/main"}}
	on := map[string]string{"stage of land: together": "refs/heads/cordon/plan/p"}[c.kind]
	if on == "" {
		on = run.Target
	}
	w.Options = ledger.Options{Merge: (&Conductor{Merge: c.request == "--merge"}).lands(run, on)}
	w.Stage = &ledger.StageOf{Plan: "p", Run: 1, Stage: "s", Kind: plan.Worktree, Review: reviews[c.review] != nil}
	if c.kind == "resolver" {
		w.Stage.Role, w.Origin = ledger.Resolver, git.OID(strings.Repeat("c", 40))
	}
	return w
}

// decides is what the code says.
func (c situation) decides(t *testing.T, sealed map[string]lease.Sealed) bool {
	w := c.worker(t, sealed)
	status := w.Status(ledger.Facts{})
	if w.Audit.Verdict != audit.VerdictClean || w.Options.NoMerge {
		return false // the next step of a session is a quarantine, or none
	}
	if status == ledger.Finished {
		return true
	}
	if c.kind == "run" || status != ledger.InReview {
		return false
	}
	if ending(w, status) != plan.Interrupted {
		t.Fatalf("%+v: it is reviewed before it was tested", c)
	}
	w.Proposal = &ledger.Proposal{Digest: w.Audit.Digest}
	st := plan.Stage{ID: "s", Kind: plan.Worktree, Review: reviews[c.review]}
	run := &ledger.PlanRun{Opening: ledger.Opening{Plan: "p", Run: 1, Agent: "claude"}, Opinions: map[string][]ledger.Opinion{}}
	var reviewers []*ledger.Worker
	if of := w.Result(); c.vote != "" {
		voter, verdict, _ := strings.Cut(strings.TrimSuffix(c.vote, ", but violates"), " ")
		o := ledger.Opinion{Stage: "s", Of: of, Verdict: plan.Verdict(verdict), Who: voter}
		if voter == "agent" {
			o.Worker = "busy-crow"
			found, in := ledger.Audit{Verdict: audit.VerdictClean, Whole: true}, (*ledger.Quarantine)(nil)
			if strings.HasSuffix(c.vote, "violates") {
				found, in = verdicts["violations"], &ledger.Quarantine{Causes: []ledger.Cause{ledger.BrokeLease}}
			}
			reviewers = []*ledger.Worker{{ID: "busy-crow", Lease: w.Lease, Options: ledger.Options{NoMerge: true}, Tree: w.Tree, Start: w.Start, Exit: w.Exit,
				Audit: &found, Quarantine: in, Stage: &ledger.StageOf{Role: ledger.Reviewer, Looks: &of}}}
		}
		run.Opinions["s"] = []ledger.Opinion{o}
	}
	f := plan.Fact{Tries: tries(w, status)}
	f.Reviewed = reviewed(run, st, []*ledger.Worker{w}, reviewers, func(w *ledger.Worker) ledger.Status { return w.Status(ledger.Facts{}) })
	now := (plan.Plan{Stages: []plan.Stage{st}}).Standings(map[string]plan.Fact{"s": f})[0]
	return now.State == plan.StageReady && now.Job == plan.Admit
}

// What lands without another word of a person, for all combinations of policy, rights, request, verdict, kind of worker,
// review and vote.
func TestWhatLands(t *testing.T) {
	t.Parallel()
	sealed, n, yes := map[string]lease.Sealed{}, 0, 0
	for _, of := range lands {
		for _, most := range lands {
			p, rights := policy.Default(), policy.AllRights()
			p.Gate.Land, rights.Gate.Land = of, most
			p, _ = p.Within(rights)
			s, err := lease.Seal(lease.Lease{
				Terms: lease.Terms{ID: "calm-otter", Branch: "b", Base: git.OID(strings.Repeat("b", 40)), Target: "refs/heads/main",
					Created: time.Unix(1, 0), Expires: time.Unix(2, 0), Policy: p},
				Place: lease.Place{Worktree: "/state/calm-otter", Home: "/home"},
			})
			if err != nil {
				t.Fatal(err)
			}
			sealed[string(of+most)] = s
		}
	}
	try := func(c situation) {
		n++
		got := c.decides(t, sealed)
		if want := c.rule(); got != want {
			t.Errorf("%+v: lands: %v, want %v", c, got, want)
		}
		if got {
			yes++
		}
	}
	for key := range sealed {
		of, most := policy.Land(""), policy.Land("")
		for _, l := range lands {
			if rest, ok := strings.CutPrefix(key, string(l)); ok {
				of, most = l, policy.Land(rest)
			}
		}
		for verdict := range verdicts {
			for request := range requests {
				try(situation{of, most, request, verdict, "run", "", ""})
			}
			for _, kind := range []string{"stage", "stage of land: together", "resolver"} {
				for _, request := range []string{"", "--merge"} {
					for review := range reviews {
						for _, vote := range votes {
							try(situation{of, most, request, verdict, kind, review, vote})
						}
					}
				}
			}
		}
	}
	if t.Logf("%d of %d combinations land", yes, n); yes == 0 || yes == n {
		t.Error("the model decides nothing")
	}
}
