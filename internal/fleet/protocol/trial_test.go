package protocol

import (
	"encoding/json"
	"strings"
	"testing"

	"cordon/internal/fleet/trial"
)

const trialName = "calm-otter_trial"

// newTrialWorld has a trial of a result that alice made.
func newTrialWorld(t *testing.T) *world {
	w := newWorld(t)
	w.stages[trialName] = &Stage{Lease: trialName, Hash: hash, Base: base, Trial: &trial.Order{
		Tree: strings.Repeat("3", 40), Commands: []string{"make", "make test"}, Authors: []string{w.public(w.alice)},
	}}
	return w
}

func (w *world) askTrial() Ask { return Ask{Header: w.header(AskKind), Lease: trialName, Hash: hash} }

// verdict is one that calls the tree good.
func (w *world) verdict(fence uint64) Result {
	return Result{Header: w.header(ResultKind), Lease: trialName, Fence: fence, Hash: hash, Base: base, Verdict: &trial.Verdict{
		Tree: strings.Repeat("3", 40), Checks: []trial.Check{{Command: "make"}, {Command: "make test"}},
	}}
}

// A trial is granted to no author, and its verdict is taken only as it was asked for. After each refusal the honest verdict of the holder is
// taken, which is the control.
func TestHostileVerdict(t *testing.T) {
	for name, row := range map[string]struct {
		want Verdict
		try  func(w *world, fence uint64) Answer
	}{
		"honest":     {Taken, func(w *world, f uint64) Answer { return w.say(w.verdict(f), w.bob) }},
		"a failure":  {Taken, func(w *world, f uint64) Answer { return w.change(f, func(r *Result) { r.Verdict.Checks[1].Code = 2 }) }},
		"no verdict": {Taken, func(w *world, f uint64) Answer { return w.change(f, func(r *Result) { r.Verdict = nil }) }},
		"the author asks": {OwnWork, func(w *world, f uint64) Answer {
			return w.say(w.askTrial(), w.alice)
		}},
		"the author answers":                     {OwnWork, func(w *world, f uint64) Answer { return w.say(w.verdict(f), w.alice) }},
		"the author answers in another's name":   {OtherSender, func(w *world, f uint64) Answer { return w.tell(w.sign(w.verdict(f), w.bob), w.alice) }},
		"the author answers with another's name": {Unsigned, func(w *world, f uint64) Answer { return w.tell(w.inName(w.verdict(f)), w.bob) }},
		"another tree": {OtherTree, func(w *world, f uint64) Answer {
			return w.change(f, func(r *Result) { r.Verdict.Tree = strings.Repeat("4", 40) })
		}},
		"another commit": {OtherBase, func(w *world, f uint64) Answer { return w.change(f, func(r *Result) { r.Base = commit }) }},
		"other terms":    {OtherTerms, func(w *world, f uint64) Answer { return w.change(f, func(r *Result) { r.Hash = sha("other") }) }},
		"an older fence": {OldFence, func(w *world, f uint64) Answer { return w.say(w.verdict(f-1), w.bob) }},
		"a command less": {NoVerdict, func(w *world, f uint64) Answer {
			return w.change(f, func(r *Result) { r.Verdict.Checks = r.Verdict.Checks[:1] })
		}},
		"another command": {NoVerdict, func(w *world, f uint64) Answer {
			return w.change(f, func(r *Result) { r.Verdict.Checks[1].Command = "true" })
		}},
		"a commit": {Malformed, func(w *world, f uint64) Answer {
			return w.change(f, func(r *Result) { r.Commit, r.Pack = commit, pack })
		}},
		"a pack":           {Malformed, func(w *world, f uint64) Answer { m := w.put(f); m.Lease = trialName; return w.say(m, w.bob) }},
		"the result of W":  {OldFence, func(w *world, f uint64) Answer { return w.say(w.result(f), w.bob) }},
		"an unknown trial": {NoStage, func(w *world, f uint64) Answer { return w.change(f, func(r *Result) { r.Lease = "brisk-otter_trial" }) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrialWorld(t)
			a := w.say(w.askTrial(), w.bob)
			if a.Verdict != Granted {
				t.Fatalf("%+v", a)
			}
			if got := row.try(w, a.Fence).Verdict; got != row.want {
				t.Errorf("the home says %s, not %s", got, row.want)
			}
			if got := w.say(w.verdict(a.Fence), w.bob).Verdict; row.want != Taken && got != Taken {
				t.Errorf("the control: %s", got)
			}
			if got := w.say(w.verdict(a.Fence), w.bob).Verdict; got != Over {
				t.Errorf("a second verdict: %s", got)
			}
		})
	}
	w := newTrialWorld(t)
	r := w.result(w.grant(w.alice))
	r.Verdict = w.verdict(1).Verdict
	if got := w.say(r, w.alice).Verdict; got != Malformed {
		t.Errorf("a command with a verdict: %s", got)
	}
}

// change says something else than the honest verdict.
func (w *world) change(fence uint64, how func(*Result)) Answer {
	w.t.Helper()
	r := w.verdict(fence)
	how(&r)
	return w.say(r, w.bob)
}

// inName signs for bob with alice's key.
func (w *world) inName(message any) []byte {
	w.t.Helper()
	var s Signed
	err := json.Unmarshal(w.sign(message, w.alice), &s)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Key = w.public(w.bob)
	raw, err := json.Marshal(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return raw
}
