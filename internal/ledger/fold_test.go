package ledger

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// book writes events as the journal would hand them out.
type book struct {
	t      *testing.T
	events []journal.Event
}

func (b *book) add(worker, typ string, data any) *book {
	b.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		b.t.Fatal(err)
	}
	n := uint64(len(b.events) + 1)
	b.events = append(b.events, journal.Event{Seq: n, Time: began.Add(time.Duration(n) * time.Minute), Worker: worker, Type: typ, Data: raw,
		Hash: strings.Repeat("a", 64)})
	return b
}

func sealed(t *testing.T, id string, roots ...string) lease.Sealed {
	t.Helper()
	p := policy.Default()
	if roots != nil {
		p.Filesystem.WriteRoots = roots
	}
	s, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: lease.ID(id), Branch: "b", Base: oid("b"), Target: "refs/heads/main", Created: began, Expires: began.Add(time.Hour), Policy: p,
		},
		Place: lease.Place{Worktree: "/state/" + id, Home: "/home"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *book) leased(id string) *book {
	b.t.Helper()
	s := sealed(b.t, id)
	return b.add(id, Leased, Lease{Lease: s.Bytes(), Hash: s.Hash(), Command: []string{"true"}})
}

func (b *book) fold() *Ledger {
	b.t.Helper()
	l, err := Fold(b.events)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

func oid(c string) git.OID { return git.OID(strings.Repeat(c, 40)) }

const otter = "brisk-otter"

var (
	fine    = cell.Exit{Reason: cell.Exited}
	failed  = cell.Exit{Code: 3, Reason: cell.Exited}
	stopped = cell.Exit{Code: 143, Reason: cell.Interrupted}
	clean   = Audit{Verdict: audit.VerdictClean, Digest: "d"}
	dirty   = Audit{Verdict: audit.VerdictViolations}
	move    = gate.Landing{Ref: "refs/heads/main", Old: oid("b"), New: oid("c")}
	merged  = gate.Result{Outcome: gate.Merged, Commit: oid("c"), Target: "refs/heads/main"}
)

// steps are events of a worker in order, from which a prefix or a choice is taken.
func steps(t *testing.T, typs ...string) *Worker {
	t.Helper()
	b := (&book{t: t}).leased(otter)
	amended := sealed(t, otter, "docs")
	data := map[string]any{
		Prepared: Tree{Files: 3}, Started: Start{Command: []string{"true"}, Baseline: "x"}, Ended: fine, Audited: clean,
		Visited:  Visit{Command: []string{"ls"}},
		Intended: move, Judged: merged, Quarantined: Quarantine{Reasons: []string{"r"}, Result: oid("d")},
		Released:  Release{Lease: amended.Bytes(), Hash: amended.Hash(), Who: "w", Why: "y"},
		Discarded: Discard{Who: "w"}, Removed: Removal{Why: "y"},
	}
	for _, typ := range typs {
		typ, variant, _ := strings.Cut(typ, ":")
		d := data[typ]
		switch variant {
		case "failed":
			d = failed
		case "stopped":
			d = stopped
		case "more":
			d = Audit{Verdict: audit.VerdictClean, Digest: "d", Summary: audit.Summary{Landing: 2}}
		case "dirty":
			d = dirty
		case "":
		default:
			d = gate.Result{Outcome: gate.Outcome(variant), Commit: oid("c"), Target: "refs/heads/main"}
		}
		b.add(otter, typ, d)
	}
	w, err := b.fold().Find(otter)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Every word is derived: from what happened, who holds the lock and what
// ancestry says.
func TestStatus(t *testing.T) {
	t.Parallel()
	held, in := Facts{Held: true}, Facts{Ancestor: true}
	ran := []string{Prepared, Started, Ended, Audited}
	for _, c := range []struct {
		events []string
		facts  Facts
		want   Status
	}{
		{nil, Facts{}, Leasing},
		{[]string{Prepared}, Facts{}, Ready},
		{[]string{Prepared, Started}, held, Running},
		{[]string{Prepared, Started, Visited, Visited}, held, Running},
		{[]string{Prepared, Started, Visited}, Facts{}, Lost},
		{[]string{Prepared, Started}, Facts{}, Lost},
		{[]string{Prepared, Started, Ended}, held, Gating},
		{[]string{Prepared, Started, Ended}, Facts{}, Finished},
		{[]string{Prepared, Started, Ended + ":failed"}, Facts{}, Failed},
		{[]string{Prepared, Started, Ended + ":stopped"}, Facts{}, Stopped},
		{[]string{Prepared, Started, Ended + ":failed", Audited}, Facts{}, Failed},
		{ran, Facts{}, Finished}, // nothing to review
		{[]string{Prepared, Started, Ended, Audited + ":more"}, Facts{}, InReview},
		{[]string{Prepared, Started, Ended, Audited + ":more"}, held, Gating},
		{[]string{Prepared, Started, Ended + ":failed", Audited + ":more"}, Facts{}, Failed},
		{[]string{Prepared, Started, Ended, Audited + ":more", Judged}, in, MergedIn},
		{[]string{Prepared, Started, Ended, Audited + ":more", Judged}, Facts{}, Finished}, // moved back
		{append(ran, Intended), Facts{}, Finished},
		{append(ran, Intended, Judged), in, MergedIn},
		{append(ran, Intended, Judged), Facts{}, Finished}, // moved back
		{append(ran, Judged+":nothing"), Facts{}, NoChange},
		{append(ran, Judged+":conflict"), Facts{}, Conflicted},
		{append(ran, Judged+":conflict"), in, MergedIn}, // by hand
		{append(ran, Judged+":waiting"), Facts{}, WaitingFor},
		{append(ran, Judged+":waiting"), held, Gating},
		{append(ran, Judged+":waiting", Awaiting), held, WaitingFor},
		{append(ran, Judged+":waiting", Awaiting), Facts{}, WaitingFor},
		{append(ran, Judged+":waiting", Awaiting, Audited+":more"), held, Gating},
		{append(ran, Judged+":waiting"), in, MergedIn},
		{append(ran, Judged+":rejected"), Facts{}, Finished}, // its quarantine is still to come
		{append(ran, Quarantined), Facts{}, InQuarantine},
		{append(ran, Quarantined), held, InQuarantine},
		{append(ran, Quarantined, Released), held, Gating},
		{append(ran, Quarantined, Released, Judged), in, MergedIn},
		{append(ran, Quarantined, Released, Judged+":conflict"), Facts{}, Conflicted},
		{append(ran, Quarantined, Released, Judged+":violations", Quarantined), Facts{}, InQuarantine},
		{append(ran, Quarantined, Discarded), Facts{}, ThrownAway},
		{append(ran, Intended, Judged, Removed), in, MergedIn},
		{[]string{Prepared, Started, Ended + ":failed", Audited, Started}, held, Running},
		{append(ran, Intended, Judged, Started, Ended), Facts{}, Finished},
	} {
		if got := steps(t, c.events...).Status(c.facts); got != c.want {
			t.Errorf("%v with %+v: %q, want %q", c.events, c.facts, got, c.want)
		}
	}
}

// The policy of a lease, or the operator for one run, decides whether there is a review.
func TestAwaitsReview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		land    policy.Land
		options Options
		want    Status
	}{
		{policy.LandReview, Options{}, InReview},
		{policy.LandReview, Options{Merge: true}, Finished}, // killed on its way to the gate
		{policy.LandReview, Options{NoMerge: true}, Finished},
		{policy.LandAuto, Options{}, Finished},
		{"", Options{}, Finished}, // sealed before there was the key
	} {
		p := policy.Default()
		p.Gate.Land = c.land
		l := sealed(t, otter).Lease()
		l.Policy = p
		s, err := lease.Seal(l)
		if err != nil {
			t.Fatal(err)
		}
		b := (&book{t: t}).add(otter, Leased, Lease{Lease: s.Bytes(), Hash: s.Hash(), Command: []string{"true"}, Options: c.options})
		b.add(otter, Prepared, Tree{Files: 3}).add(otter, Started, Start{Command: []string{"true"}, Baseline: "x"}).add(otter, Ended, fine)
		b.add(otter, Audited, Audit{Verdict: audit.VerdictClean, Summary: audit.Summary{Landing: 1}})
		if got := b.fold().Workers[0].Status(Facts{}); got != c.want {
			t.Errorf("%q with %+v: %q, want %q", c.land, c.options, got, c.want)
		}
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	for _, s := range []Status{Leasing, Ready, Running, Lost, Stopped, Failed, Finished, InReview, Gating, Conflicted, WaitingFor, "what is this"} {
		if !s.Live() {
			t.Errorf("%q holds nothing", s)
		}
	}
	for _, s := range []Status{MergedIn, NoChange, InQuarantine, ThrownAway} {
		if s.Live() {
			t.Errorf("%q holds its write_roots", s)
		}
	}
}

// Going back a step makes everything after it happen again: no verdict survives
// what it was a verdict on.
func TestFoldForgets(t *testing.T) {
	t.Parallel()
	ran := []string{Prepared, Started, Ended, Audited, Intended, Judged}
	for _, c := range []struct {
		again  string
		has    []string
		hasNot []string
	}{
		{Started, []string{"Tree", "Start"}, []string{"Exit", "Audit", "Intent", "Gate"}},
		{Audited, []string{"Exit", "Audit"}, []string{"Intent", "Gate"}},
		{Quarantined, []string{"Quarantine", "Gate"}, []string{"Release", "Intent"}},
	} {
		w := reflect.ValueOf(steps(t, append(ran, c.again)...)).Elem()
		for _, name := range c.has {
			if w.FieldByName(name).IsNil() {
				t.Errorf("after %s again there is no %s", c.again, name)
			}
		}
		for _, name := range c.hasNot {
			if !w.FieldByName(name).IsNil() {
				t.Errorf("after %s again there is still %s", c.again, name)
			}
		}
	}
	w := steps(t, Prepared, Started, Ended, Audited, Judged+":rejected", Quarantined, Released)
	if w.Gate != nil || w.Quarantine == nil {
		t.Error("a release keeps the verdict it overrules, or forgets the quarantine")
	}
	if got := w.Lease.Lease().Policy.Filesystem.WriteRoots; len(got) != 1 || got[0] != "docs" {
		t.Errorf("the released worker's lease allows %v, want the amended one", got)
	}
	if w = steps(t, Prepared, Started, Ended, Audited, Quarantined, Released, Judged); w.Quarantine != nil {
		t.Error("a merged release is still quarantined")
	}
	if w = steps(t, Prepared, Started, Ended, Audited, Quarantined, Released, Judged+":violations", Quarantined); w.Release != nil {
		t.Error("a result that is quarantined again is still released")
	}
}

func TestFoldRecords(t *testing.T) {
	t.Parallel()
	w := steps(t, Prepared, Started, Ended, Audited)
	if w.Tree.Files != 3 || w.StartSeq != 3 || w.AuditEntry != "5:"+strings.Repeat("a", 64) || w.Events != 5 {
		t.Errorf("got %+v", w)
	}
	if !w.Created.Equal(began.Add(time.Minute)) || !w.Changed.Equal(began.Add(5*time.Minute)) {
		t.Errorf("created %v, changed %v", w.Created, w.Changed)
	}
}

// What it does not know it does not guess.
func TestFoldRefuses(t *testing.T) {
	t.Parallel()
	other := sealed(t, "able-fox")
	good := sealed(t, otter)
	for name, b := range map[string]*book{
		"an unknown type":         (&book{t: t}).leased(otter).add(otter, "gate.bypassed", Removal{}),
		"an unknown worker":       (&book{t: t}).leased(otter).add("able-fox", Prepared, Tree{}),
		"no worker":               (&book{t: t}).add("", Prepared, Tree{}),
		"a lease twice":           (&book{t: t}).leased(otter).leased(otter),
		"another worker's lease":  (&book{t: t}).add(otter, Leased, Lease{Lease: other.Bytes(), Hash: other.Hash()}),
		"a lease of another hash": (&book{t: t}).add(otter, Leased, Lease{Lease: good.Bytes(), Hash: other.Hash()}),
		"no lease":                (&book{t: t}).add(otter, Leased, Lease{}),
		"a bad amendment":         (&book{t: t}).leased(otter).add(otter, Released, Release{Lease: good.Bytes(), Hash: "x"}),
		"data of another type":    (&book{t: t}).leased(otter).add(otter, Judged, "merged"),
		"an unknown outcome":      (&book{t: t}).leased(otter).add(otter, Judged, gate.Result{Outcome: "waived"}),
		"no outcome":              (&book{t: t}).leased(otter).add(otter, Judged, gate.Result{}),
		"an unknown field":        (&book{t: t}).leased(otter).add(otter, Ended, map[string]any{"code": 0, "reason": "exited", "forgiven": true}),
	} {
		if _, err := Fold(b.events); err == nil {
			t.Errorf("%s was folded", name)
		} else if !strings.HasPrefix(err.Error(), "journal entry ") {
			t.Errorf("%s: %v does not say where", name, err)
		}
	}
	b := (&book{t: t}).leased(otter)
	b.events = append(b.events, journal.Event{Seq: 2, Worker: otter, Type: Ended})
	if _, err := Fold(b.events); err == nil {
		t.Error("an event without data was folded")
	}
	// A repair of the journal itself is nobody's.
	l := (&book{t: t}).leased(otter).add("", Repaired, journal.Repair{}).fold()
	if len(l.Workers) != 1 || l.Workers[0].Events != 1 {
		t.Error("a repair is an event of a worker")
	}
}

// Every type of event there is has a meaning.
func TestEveryTypeIsFolded(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{Prepared, Started, Ended, Audited, Intended, Judged, Quarantined, Released, Discarded, Removed} {
		if transitions[typ] == nil {
			t.Errorf("%s means nothing", typ)
		}
	}
	for _, outcome := range []gate.Outcome{gate.Merged, gate.Nothing, gate.Conflict, gate.Waiting, gate.Violating, gate.Rejected} {
		if gated[outcome] == "" {
			t.Errorf("there is no word for %s", outcome)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	l := (&book{t: t}).leased("brisk-otter").leased("brisk-owl").leased("able-fox").fold()
	for prefix, want := range map[string]string{"brisk-otter": "brisk-otter", "brisk-ot": "brisk-otter", "a": "able-fox", "brisk-ow": "brisk-owl"} {
		if w, err := l.Find(prefix); err != nil || string(w.ID) != want {
			t.Errorf("%q: %v, %v", prefix, w, err)
		}
	}
	for prefix, words := range map[string]string{"": "no worker", "x": "no worker", "otter": "no worker", "brisk": "2 workers",
		"brisk-o": "brisk-owl", "brisk-otterx": "no worker"} {
		if w, err := l.Find(prefix); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, %v, want words %q", prefix, w, err, words)
		}
	}
	if !l.Taken("able-fox") || l.Taken("able-owl") {
		t.Error("names are taken wrongly")
	}
	// A name that is given stays given, so that nothing is said of two workers.
	if l := (&book{t: t}).leased(otter).add(otter, Removed, Removal{}).fold(); !l.Taken(otter) {
		t.Error("the name of a removed worker is free")
	}
}

// Visits are those of the last launch.
func TestFoldCountsVisits(t *testing.T) {
	b := (&book{t: t}).leased("brisk-otter").add("brisk-otter", Started, Start{Command: []string{"true"}})
	visit := func() { b.add("brisk-otter", Visited, Visit{Command: []string{"ls"}}) }
	visit()
	visit()
	if n := b.fold().Workers[0].Visits; n != 2 {
		t.Errorf("%d visits, want 2", n)
	}
	b.add("brisk-otter", Started, Start{Command: []string{"true"}})
	visit()
	if n := b.fold().Workers[0].Visits; n != 1 {
		t.Errorf("after another launch %d visits, want 1", n)
	}
}

// A worker whose later events may be lost is quarantined, whatever was decided about it before.
func TestRepairQuarantines(t *testing.T) {
	t.Parallel()
	judged := func() *book {
		b := (&book{t: t}).leased(otter).add(otter, Prepared, Tree{}).add(otter, Started, Start{Command: []string{"true"}})
		return b.add(otter, Ended, fine).add(otter, Audited, clean).add(otter, Judged, gate.Result{Outcome: gate.Waiting, Target: "refs/heads/main"})
	}
	for _, c := range []struct {
		suspended []string
		want      Status
	}{{nil, WaitingFor}, {[]string{otter}, InQuarantine}} { // the first is the control
		w, err := judged().add("", Salvaged, journal.Salvage{Kept: 6, Suspended: c.suspended}).fold().Find(otter)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Status(Facts{}); got != c.want || (w.Gate == nil) != (c.suspended != nil) {
			t.Errorf("suspended are %v: %q, %+v", c.suspended, got, w.Gate)
		}
	}
}

// What was doubted about one launch is doubted after every later one.
func TestDoubtsStay(t *testing.T) {
	t.Parallel()
	b := (&book{t: t}).leased(otter).add(otter, Prepared, Tree{}).add(otter, Wired, Wiring{Client: "claude"})
	b.add(otter, Started, Start{Command: []string{"claude"}, Agent: true}).add(otter, Ended, fine) // no hook reported
	for _, want := range []int{2, 2, 2} {
		w, err := b.fold().Find(otter)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.AllDoubts(); len(got) != want {
			t.Errorf("after %d events the doubts are %q", len(b.events), got)
		}
		b.add(otter, Started, Start{Command: []string{"true"}}).add(otter, Ended, fine)
	}
}
