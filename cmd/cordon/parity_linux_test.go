package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/desk"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/policy"
	"cordon/internal/view"
)

// situation is a worker in a state, made of the events that lead there.
type situation struct {
	stage  string        // its name in the plan, which is what a test calls it
	status ledger.Status // what every command has to say
	doing  string        // the word in a list; "": the status
	group  string
	held   bool // a process works on it
	state  plan.State
	events func(*parity) []happening
}

// word is what a list says of it.
func (one situation) word() string { return cmp.Or(one.doing, string(one.status)) }

type happening struct {
	typ  string
	data any
}

// parity is a site whose journal has workers in every state.
type parity struct {
	*site
	log   *journal.Journal
	tip   git.OID
	aside git.OID // no ancestor of the target
	ids   map[string]string
}

func then(list ...happening) func(*parity) []happening {
	return func(*parity) []happening { return list }
}

// launched are the events of a worker whose command ran, and what came of that.
func launched(more ...happening) []happening {
	return append([]happening{{ledger.Prepared, ledger.Tree{}}, {ledger.Started, ledger.Start{Command: []string{"work"}}}}, more...)
}

var (
	exited  = happening{ledger.Ended, cell.Exit{Reason: cell.Exited}}
	asked   = happening{ledger.Asked, ledger.Question{Text: "left or right?", Options: []string{"left", "right"}}}
	audited = happening{ledger.Audited, ledger.Audit{Verdict: audit.VerdictClean, Summary: audit.Summary{Landing: 2}, Digest: "d", Report: "r"}}
)

// judged is a worker whose result went to the gate.
func judged(outcome gate.Outcome, change func(*parity, *gate.Result), more ...happening) func(*parity) []happening {
	return func(p *parity) []happening {
		r := gate.Result{Outcome: outcome, Target: "refs/heads/main"}
		if change != nil {
			change(p, &r)
		}
		return append(launched(exited, audited, happening{ledger.Judged, r}), more...)
	}
}

// situations are every state, and those in which the state is not the word of a list.
var situations = []situation{
	{stage: "leased", status: ledger.Leasing, group: view.NeedsYou, state: plan.StageReady, events: then()},
	{stage: "refused", status: ledger.Ready, group: view.NeedsYou, state: plan.StageReady,
		events: then(happening{ledger.Prepared, ledger.Tree{}}, happening{ledger.NotStarted, ledger.Refusal{Why: "no user namespaces"}})},
	{stage: "ready", status: ledger.Ready, group: view.NeedsYou, state: plan.StageReady, events: then(happening{ledger.Prepared, ledger.Tree{}})},
	{stage: "running", status: ledger.Running, group: view.AtWork, held: true, state: plan.StageRunning, events: then(launched()...)},
	{stage: "running-asks", status: ledger.Running, doing: "asks", group: view.NeedsYou, held: true, state: plan.StageRunning, events: then(launched(asked)...)},
	{stage: "lost", status: ledger.Lost, group: view.NeedsYou, state: plan.StageReady, events: then(launched()...)},
	{stage: "interrupted", status: ledger.Stopped, group: view.NeedsYou, state: plan.StageReady,
		events: then(launched(happening{ledger.Ended, cell.Exit{Code: 143, Reason: cell.Interrupted}})...)},
	{stage: "stopped", status: ledger.Stopped, group: view.NeedsYou, state: plan.StageNeeds,
		events: then(launched(happening{ledger.StopAsked, ledger.Stop{Who: "somebody"}}, happening{ledger.Ended, cell.Exit{Code: 143, Reason: cell.Interrupted}})...)},
	{stage: "failed", status: ledger.Failed, group: view.NeedsYou, state: plan.StageNeeds,
		events: then(launched(happening{ledger.Ended, cell.Exit{Code: 3, Reason: cell.Exited}})...)},
	{stage: "asks", status: ledger.Asking, group: view.NeedsYou, state: plan.StageNeeds, events: then(launched(asked, exited, audited)...)},
	{stage: "answered", status: ledger.Asking, group: view.NeedsYou, state: plan.StageReady,
		events: then(launched(asked, exited, audited, happening{ledger.Answered, ledger.Answer{Question: 1, Text: "left", Who: "somebody"}})...)},
	{stage: "finished", status: ledger.Finished, group: view.NeedsYou, state: plan.StageReady, events: then(launched(exited)...)},
	{stage: "moved-back", status: ledger.Finished, group: view.NeedsYou, state: plan.StageNeeds,
		events: judged(gate.Merged, func(p *parity, r *gate.Result) { r.Commit = p.aside })},
	{stage: "review", status: ledger.InReview, group: view.NeedsYou, state: plan.StageNeeds,
		events: then(launched(exited, audited, happening{ledger.Proposed, ledger.Proposal{Digest: "d"}})...)},
	{stage: "at-the-gate", status: ledger.Gating, group: view.AtWork, held: true, state: plan.StageRunning, events: then(launched(exited, audited)...)},
	{stage: "merged", status: ledger.MergedIn, group: view.Landed, state: plan.StageDone,
		events: judged(gate.Merged, func(p *parity, r *gate.Result) { r.Commit = p.tip })},
	{stage: "no-change", status: ledger.NoChange, group: view.Landed, state: plan.StageDone, events: judged(gate.Nothing, nil)},
	{stage: "conflict", status: ledger.Conflicted, group: view.NeedsYou, state: plan.StageNeeds,
		events: judged(gate.Conflict, func(p *parity, r *gate.Result) { r.Commit, r.Paths = p.aside, []audit.Path{"src/a.txt"} })},
	{stage: "waiting", status: ledger.WaitingFor, group: view.NeedsYou, state: plan.StageNeeds,
		events: judged(gate.Waiting, func(p *parity, r *gate.Result) { r.Commit, r.Why = p.aside, "src/a.txt has uncommitted changes" })},
	{stage: "unsigned", status: ledger.WaitingFor, group: view.NeedsYou, state: plan.StageNeeds,
		events: judged(gate.Waiting, func(p *parity, r *gate.Result) { r.Commit, r.Why = p.aside, "the commit could not be signed: no key" })},
	{stage: "in-the-way", status: ledger.WaitingFor, group: view.NeedsYou, state: plan.StageNeeds,
		events: judged(gate.Waiting, func(p *parity, r *gate.Result) {
			r.Commit, r.Why = p.aside, "src/a.txt has uncommitted changes"
			r.InTheWay = []gate.Obstacle{{Checkout: p.repo, Path: "src/a.txt", Why: "it has uncommitted changes"}}
		})},
	{stage: "waiting-held", status: ledger.WaitingFor, group: view.NeedsYou, held: true, state: plan.StageNeeds,
		events: judged(gate.Waiting, func(p *parity, r *gate.Result) { r.Commit, r.Why = p.aside, "src/a.txt has uncommitted changes" },
			happening{ledger.Awaiting, ledger.Wait{Until: time.Now().Add(time.Hour)}})},
	{stage: "quarantined", status: ledger.InQuarantine, group: view.NeedsYou, state: plan.StageNeeds,
		events: then(launched(exited, audited, happening{ledger.Quarantined, ledger.Quarantine{Reasons: []string{"docs/guide.md is outside its lease", "so is x"},
			Causes: []ledger.Cause{ledger.BrokeLease}}})...)},
	{stage: "discarded", status: ledger.ThrownAway, group: view.Over, state: plan.StageNeeds,
		events: then(launched(exited, happening{ledger.Discarded, ledger.Discard{Who: "somebody", Why: "not wanted"}})...)},
}

// newParity is a site with a worker in each situation, each the worker of a stage of one plan.
func newParity(t *testing.T) *parity {
	t.Helper()
	p := &parity{site: newSite(t), ids: map[string]string{}}
	p.cordon([]int{0}, "run", "--no-merge", "--", "true") // makes the state directory
	p.cordon([]int{0}, "discard", "--yes", p.only().Worker)
	p.log = p.journal()
	p.tip = git.OID(p.git("rev-parse", "main"))
	p.aside = git.OID(p.git("commit-tree", "-p", "main", "-m", "aside", "main^{tree}"))
	text := "version: 1\nplan: every\nstages:\n"
	for _, one := range situations {
		text += fmt.Sprintf("  - {id: %s, task: t, write: [src/%[1]s.txt], command: [\"true\"], artifacts: [src/a.txt]}\n", one.stage)
	}
	p.tell(p.log, "", ledger.PlanOpened, ledger.Opening{
		Plan: "every", Run: 1, Text: text, Digest: plan.Digest([]byte(text)), Name: "every.yaml", Target: "refs/heads/main", Who: "somebody",
	})
	taken := map[lease.ID]bool{}
	for _, one := range situations {
		p.make(one, taken)
	}
	return p
}

func (p *parity) make(one situation, taken map[lease.ID]bool) {
	p.t.Helper()
	id, err := lease.NewID(func(id lease.ID) bool { return taken[id] })
	if err != nil {
		p.t.Fatal(err)
	}
	taken[id], p.ids[one.stage] = true, string(id)
	sealed, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: id, Branch: "cordon/" + string(id), Base: p.tip, Target: "refs/heads/main",
			Created: time.Now(), Expires: time.Now().Add(time.Hour), Policy: policy.Default(),
		},
		Place: lease.Place{Worktree: p.place("state/trees/" + string(id)), Home: p.home},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.tell(p.log, id, ledger.Leased, ledger.Lease{Lease: sealed.Bytes(), Hash: sealed.Hash(), Command: []string{"work"},
		Stage: &ledger.StageOf{Plan: "every", Run: 1, Stage: one.stage, Kind: plan.Worktree}})
	for _, e := range one.events(p) {
		p.tell(p.log, id, e.typ, e.data)
	}
	if one.held {
		p.hold(string(id))
	}
}

// hold takes the lock of a worker, as the process that works on it does, and returns how to let it go.
func (s *site) hold(id string) (release func()) {
	s.t.Helper()
	dirs, err := filepath.Glob(s.place("state/cordon/*/workers"))
	if err != nil || len(dirs) != 1 {
		s.t.Fatal(dirs, err)
	}
	name := filepath.Join(dirs[0], id, "lock")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { f.Close() })
	return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
}

// read runs a command with --json.
func (p *parity) read(into any, args ...string) {
	p.t.Helper()
	p.parse(p.cordon([]int{0}, append(args, "--json")...).out, into)
}

// words runs it without, and returns both streams.
func (p *parity) words(args ...string) string {
	p.t.Helper()
	o := p.cordon([]int{0}, args...)
	return o.out + o.err
}

// line is the one line of a text that begins with a name.
func line(t *testing.T, text, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^ *`+regexp.QuoteMeta(name)+`( .*)?$`).FindAllString(text, -1)
	if len(found) != 1 {
		t.Errorf("%d lines begin with %s, want one, in\n%s", len(found), name, text)
		return ""
	}
	return found[0]
}

// TestParity makes a worker in every state and wants every command to say the same of it, as
// an object and in words.
func TestParity(t *testing.T) {
	t.Parallel()
	covered := map[ledger.Status]bool{}
	for _, one := range situations {
		covered[one.status] = true
	}
	for _, status := range ledger.Statuses() {
		if !covered[status] {
			t.Errorf("no situation is in the state %q: nobody compares what is said of it", status)
		}
	}
	p := newParity(t)
	var listed, quarantined view.Workers
	p.read(&listed, "ls")
	p.read(&quarantined, "quarantine", "ls")
	byID := map[string]view.Worker{}
	for _, w := range listed.Workers {
		byID[w.ID] = w
	}
	if len(listed.Workers) != len(situations)+1 { // the first one made the state directory
		t.Errorf("cordon ls --json has %d workers, want %d", len(listed.Workers), len(situations)+1)
	}
	table := p.words("ls", "--all-states")
	for _, one := range situations {
		w := byID[p.ids[one.stage]]
		if w.Status != string(one.status) || w.Group != one.group {
			t.Errorf("%s: cordon ls --json says %q of the group %q, want %q of %q", one.stage, w.Status, w.Group, one.status, one.group)
		}
		p.compareList(one, w, table)
		p.compareShow(one, w)
		p.compareReview(one, w)
		at := slices.IndexFunc(quarantined.Workers, func(q view.Worker) bool { return q.ID == w.ID })
		if in := at >= 0; in != (one.status == ledger.InQuarantine) {
			t.Errorf("%s: in the list of quarantined results: %v", one.stage, in)
		} else if in && !reflect.DeepEqual(quarantined.Workers[at], w) {
			t.Errorf("%s: cordon quarantine ls --json says another thing than cordon ls --json:\n%+v\n%+v", one.stage, quarantined.Workers[at], w)
		}
	}
	p.compareQuarantine(quarantined.Workers)
	p.compareDesks(listed.Workers)
	p.compareServers(byID)
	p.compareFilters()
	p.compareShort(listed.Workers)
	p.compareInbox(byID)
	p.comparePlan(byID)
}

// compareList is about the row of a worker in cordon ls, and what it needs.
func (p *parity) compareList(one situation, w view.Worker, table string) {
	p.t.Helper()
	row := line(p.t, table, w.ID)
	if !strings.Contains(row, "  "+one.word()+" ") {
		p.t.Errorf("%s: cordon ls does not say %q: %s", one.stage, one.word(), row)
	}
	if w.Group == view.NeedsYou {
		if len(w.Next) == 0 || w.Reason == "" || !strings.HasSuffix(row, w.Next[0]) {
			p.t.Errorf("%s needs a person, for the reason %q, and what to type is %q: %s", one.stage, w.Reason, w.Next, row)
		}
		for _, next := range w.Next {
			if !strings.HasPrefix(next, "cordon ") || !strings.Contains(next, w.ID) {
				p.t.Errorf("%s: %q is no command about it", one.stage, next)
			}
		}
	}
}

// compareFilters is about cordon ls --status, for each word of the list.
func (p *parity) compareFilters() {
	p.t.Helper()
	byWord := map[string][]string{}
	for _, one := range situations {
		word := one.word()
		byWord[word] = append(byWord[word], p.ids[one.stage])
	}
	for word, ids := range byWord {
		var filtered view.Workers
		p.read(&filtered, "ls", "--status", word)
		for _, id := range ids {
			if !slices.ContainsFunc(filtered.Workers, func(f view.Worker) bool { return f.ID == id }) {
				p.t.Errorf("cordon ls --status %q leaves out %s", word, id)
			}
		}
	}
}

// compareShow is about cordon show.
func (p *parity) compareShow(one situation, w view.Worker) {
	p.t.Helper()
	var shown view.OneWorker
	p.read(&shown, "show", w.ID)
	if !reflect.DeepEqual(shown.Worker, w) {
		p.t.Errorf("%s: cordon show --json says another thing than cordon ls --json:\n%s\n%s", one.stage, object(shown.Worker), object(w))
	}
	text := p.words("show", w.ID)
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, w.ID+"  "+w.Status) {
		p.t.Errorf("%s: cordon show begins with %q, and the status is %q", one.stage, first, w.Status)
	}
	for _, next := range w.Next {
		if one.doing == "" && !one.held && !strings.Contains(text, next) {
			p.t.Errorf("%s: cordon show does not say what cordon ls --json does, %q:\n%s", one.stage, next, text)
		}
	}
}

// compareReview is about cordon show --review: it says the same of every state, and who needs a person
// can decide something.
func (p *parity) compareReview(one situation, w view.Worker) {
	p.t.Helper()
	var v view.Review
	p.read(&v, "show", "--review", w.ID)
	if v.Worker != w.ID || v.Status != w.Status || v.Group != w.Group || v.Title != w.Title || !v.Since.Equal(w.Since) {
		p.t.Errorf("%s: the review says %s, %s, %s, and cordon ls --json %s", one.stage, v.Worker, v.Status, v.Group, object(w))
	}
	if inTarget := strings.Contains(v.Verdict, "Nothing of it is in main."); inTarget == (w.Group == view.Landed) {
		p.t.Errorf("%s: the verdict is %q", one.stage, v.Verdict)
	}
	var names []string
	for _, f := range v.Facts {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"audit", "acceptance", "cell", "guard", "network", "base"}) {
		p.t.Errorf("%s: the facts are %q", one.stage, names)
	}
	if (len(v.Reasons) > 0) != (one.status == ledger.InQuarantine) {
		p.t.Errorf("%s: the reasons are %+v", one.stage, v.Reasons)
	}
	if (len(v.Choices) > 0) != (w.Group == view.NeedsYou || w.Group == view.AtWork) {
		p.t.Errorf("%s of the group %q: the choices are %+v", one.stage, w.Group, v.Choices)
	}
	for _, c := range v.Choices {
		if !strings.HasPrefix(c.Command, "cordon ") || !strings.Contains(c.Command, w.ID) || c.Does == "" {
			p.t.Errorf("%s: %+v is no choice about it", one.stage, c)
		}
	}
	if v.Digests.Lease != w.Lease || v.Digests.Target != w.Target || v.Digests.Tip != string(p.tip) {
		p.t.Errorf("%s: the digests are %+v", one.stage, v.Digests)
	}
	text := p.words("show", "--review", w.ID)
	if !strings.HasPrefix(text, w.ID+"  "+w.Status+"\n") || !strings.Contains(text, "\n"+v.Verdict+"\n") {
		p.t.Errorf("%s: cordon show --review does not begin with the verdict %q:\n%s", one.stage, v.Verdict, text)
	}
}

// compareDesks is about the desks: who needs a person has a row with the reason in both, and a key for
// everything that its review says can be decided.
func (p *parity) compareDesks(list []view.Worker) {
	p.t.Helper()
	reviews := map[string]view.Review{}
	list = slices.DeleteFunc(slices.Clone(list), func(w view.Worker) bool { return w.Group != view.NeedsYou })
	for _, w := range list {
		var v view.Review
		p.read(&v, "show", "--review", w.ID)
		reviews[w.ID] = v
	}
	p.compareBrowser(list, reviews)
	p.compareTerminal(list, reviews)
}

// compareServers is about cordon serve and cordon mcp.
func (p *parity) compareServers(byID map[string]view.Worker) {
	p.t.Helper()
	s := &served{site: p.site}
	s.start()
	defer s.end()
	for name, text := range map[string]func() string{
		"cordon serve": func() string { return s.ask(200, s.secret("read"), "GET", "/v1/workers", "") },
		"cordon mcp":   func() string { text, _ := p.mcpTool(p.connected(), "cordon_status", nil); return text },
	} {
		var got view.Workers
		p.parse(text(), &got)
		if len(got.Workers) != len(byID) {
			p.t.Errorf("%s has %d workers, and cordon ls --json %d", name, len(got.Workers), len(byID))
		}
		for _, w := range got.Workers {
			if !reflect.DeepEqual(w, byID[w.ID]) {
				p.t.Errorf("%s says another thing than cordon ls --json:\n%s\n%s", name, object(w), object(byID[w.ID]))
			}
		}
	}
}

// compareBrowser is about the desk in the browser.
func (p *parity) compareBrowser(list []view.Worker, reviews map[string]view.Review) {
	p.t.Helper()
	d := openDesk(p.site)
	web := d.screen("/")
	for _, w := range list {
		reason := w.Reason
		if len(w.Questions) > 0 {
			reason = w.Questions[0].Text
		}
		_, row, found := strings.Cut(web, `id="item-`+w.ID+`"`)
		row, _, _ = strings.Cut(row, `id="item-`)
		if !found || !strings.Contains(row, html.EscapeString(reason)) {
			p.t.Errorf("%s: the desk in the browser has no row with %q", w.ID, reason)
		}
		page := d.screen("/worker/" + w.ID)
		for _, c := range reviews[w.ID].Choices {
			if !regexp.MustCompile(`value="` + c.Name + `" data-key="[A-Za-z]"`).MatchString(page) {
				p.t.Errorf("%s, %s: %q has no form with a key", w.ID, w.Status, c.Name)
			}
		}
	}
}

// compareTerminal is about the desk in the terminal, drawn and as lines.
func (p *parity) compareTerminal(list []view.Worker, reviews map[string]view.Review) {
	p.t.Helper()
	plain := p.words("ui", "--plain")
	d := inTerminal(p.site, 119, 120)
	for _, w := range list {
		why, state := desk.Why(w), desk.State(w)
		if why == "" {
			p.t.Errorf("%s: nothing says why it is %q", w.ID, state)
		}
		row := regexp.MustCompile(`(?m)^[▌ ]*` + regexp.QuoteMeta(desk.GlyphOf(state).Sign) + ` ` + w.ID + ` .*$`)
		p.await(fmt.Sprintf("the row of %s in the terminal says %q and %q", w.ID, state, why), func() bool { // at a look it may be half drawn
			said := row.FindString(d.screen())
			return strings.Contains(said, " "+state+" ") && strings.Contains(said, why[:min(len(why), 40)])
		}, d.screen)
	}
	for _, w := range list {
		if !regexp.MustCompile(`(?m)^.*\b` + w.ID + `\b.*\S.*$`).MatchString(plain) {
			p.t.Errorf("%s: cordon ui --plain has no line about it:\n%s", w.ID, plain)
		}
		d.goTo(w.ID)
		d.until(w.ID, reviews[w.ID].Verdict[:20], "YOU CAN")
		for _, c := range reviews[w.ID].Choices {
			key := regexp.MustCompile(` [A-Za-z] ` + c.Name + `( |\n)`)
			p.await(fmt.Sprintf("%s, %s: %q has a key in the terminal", w.ID, w.Status, c.Name), func() bool {
				_, can, _ := strings.Cut(d.screen(), "YOU CAN")
				return key.MatchString(can)
			}, d.screen)
		}
	}
}

func object(w view.Worker) string {
	text, err := json.Marshal(w)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// compareQuarantine is about cordon quarantine ls in words.
func (p *parity) compareQuarantine(list []view.Worker) {
	p.t.Helper()
	text := p.words("quarantine", "ls")
	if n := strings.Count(text, "\n"); n != len(list) {
		p.t.Errorf("cordon quarantine ls has %d lines, and --json %d workers:\n%s", n, len(list), text)
	}
	for _, w := range list {
		if row := line(p.t, text, w.ID); !strings.Contains(row, w.Reasons[0]) {
			p.t.Errorf("the reason %q is not in %q", w.Reasons[0], row)
		}
	}
}

// compareShort is about cordon ls --short, which asks the journal alone: what moved the branch
// back is not seen.
func (p *parity) compareShort(list []view.Worker) {
	p.t.Helper()
	var n view.Short
	p.read(&n, "ls", "--short")
	want := view.Short{}
	for _, w := range list {
		switch {
		case w.ID == p.ids["moved-back"]:
		case w.Group == view.NeedsYou:
			want.NeedYou++
		case w.Group == view.AtWork:
			want.Running++
		}
	}
	if n.NeedYou != want.NeedYou || n.Running != want.Running {
		p.t.Errorf("cordon ls --short --json says %d and %d, and cordon ls --json has %d and %d", n.NeedYou, n.Running, want.NeedYou, want.Running)
	}
}

// compareInbox is about the questions in cordon inbox.
func (p *parity) compareInbox(byID map[string]view.Worker) {
	p.t.Helper()
	var inbox view.Inbox
	p.read(&inbox, "inbox")
	text := p.words("inbox")
	asking := map[string]bool{}
	for _, q := range inbox.Questions {
		w := byID[q.Worker]
		asking[q.Worker] = true
		if q.Status != w.Status || len(w.Questions) != 1 || !reflect.DeepEqual(w.Questions[0], q.Question) {
			p.t.Errorf("cordon inbox --json has %+v of a worker with %+v, in the state %q", q, w.Questions, w.Status)
		}
		if row := line(p.t, text, q.Worker+" "+q.ID); (q.Waits == "ended") != strings.Contains(row, "has ended ("+w.Status+")") {
			p.t.Errorf("cordon inbox says %q of a worker that is %s (%s)", row, w.Status, q.Waits)
		}
	}
	for id, w := range byID {
		if (len(w.Questions) > 0) != asking[id] {
			p.t.Errorf("%s is %s with %d open questions; it is in the inbox: %v", id, w.Status, len(w.Questions), asking[id])
		}
	}
	p.compareStages(inbox.Stages, text)
}

// compareStages is about the stages in cordon inbox.
func (p *parity) compareStages(stages []view.Attention, text string) {
	p.t.Helper()
	var shown view.Plan
	p.read(&shown, "plan", "show", "every")
	needs := 0
	for _, s := range shown.Stages {
		if s.State != string(plan.StageNeeds) {
			continue
		}
		needs++
		want := view.Attention{
			Plan: "every", Stage: s.ID, Need: s.Need, Why: s.Why, Blocks: s.Blocks, Worker: s.Worker, Since: s.Since, Next: s.Next,
		}
		if !slices.Contains(stages, want) {
			p.t.Errorf("cordon inbox --json lacks %+v, which cordon plan show --json has", want)
		}
		if row := line(p.t, text, "every "+s.ID); !strings.HasSuffix(row, "  "+s.Need) {
			p.t.Errorf("cordon inbox says %q, and the need of %s is %q", row, s.ID, s.Need)
		}
	}
	if len(stages) != needs {
		p.t.Errorf("cordon inbox --json has %d stages, and %d need a person", len(stages), needs)
	}
}

// comparePlan is about cordon plan show.
func (p *parity) comparePlan(byID map[string]view.Worker) {
	p.t.Helper()
	var shown view.Plan
	p.read(&shown, "plan", "show", "every")
	text := p.words("plan", "show", "every")
	for _, one := range situations {
		at := slices.IndexFunc(shown.Stages, func(s view.StageNow) bool { return s.ID == one.stage })
		if at < 0 {
			p.t.Errorf("cordon plan show --json has no stage %s", one.stage)
			continue
		}
		s, w := shown.Stages[at], byID[p.ids[one.stage]]
		if s.Worker != w.ID || s.State != string(one.state) {
			p.t.Errorf("%s: cordon plan show --json has the worker %s in %q (%s), want %s in %q", one.stage, s.Worker, s.State, s.Why, w.ID, one.state)
		}
		if row := line(p.t, text, "  "+s.ID); !strings.Contains(row, " "+s.State+" ") || !strings.Contains(row, " "+w.ID) {
			p.t.Errorf("%s: cordon plan show says %q, and --json %q of %s", one.stage, row, s.State, w.ID)
		}
	}
}
