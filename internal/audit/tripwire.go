package audit

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"cordon/internal/git"
)

// Expected says which changes of the host are accounted for.
type Expected struct {
	Given         map[string][]git.OID // ref → values that cordon itself gave it meanwhile; "": it deleted it
	Adopted       []string             // worktrees of other tools that this worker or another one of cordon's has
	Committer     string               // the address in every commit of this worker
	OperatorWorks bool                 // the operator said that changes of their own are to be expected
	Confined      bool                 // every launch was strict and proven: the worker could not write here
	Ports         bool                 // it could talk to programs of the host, which could
}

// CompareHost lists what changed in the host and is not accounted for.
func CompareHost(ctx context.Context, host git.Repo, before, after *HostState, x Expected) []Finding {
	t := &tripwire{ctx: ctx, host: host, x: x}
	t.own(before)
	t.branchWas, t.branchIs = branches(host, before), branches(host, after)
	t.settingsWere, t.settingsAre = before.Settings, after.Settings
	t.control(before.Control, after.Control)
	t.refs(before.Refs, after.Refs)
	t.checkouts(before.Checkouts, after.Checkouts)
	return t.found
}

type tripwire struct {
	ctx   context.Context
	host  git.Repo
	x     Expected
	found []Finding

	tops, refsOf, heads map[string]bool // of adopted worktrees
	branchWas, branchIs map[string]string

	settingsWere, settingsAre map[string]map[string]string
}

// weight is what a change means, if a worker could have made it.
type weight int

const (
	daily  weight = iota // the operator's own work does it too
	grave                // only cordon does it, or this worker
	obeyed               // it decides what the operator's git does
)

// cordonsRefs is where nobody but cordon writes refs.
const cordonsRefs = "refs/cordon/"

const (
	byWorker  = "made by this worker, whose address its commits carry"
	byUnknown = "cannot be attributed: an unconfined worker, you or another program made it"
	byOthers  = "changed by you or another program: the worker could not write it"
	bySteered = "changed by you or another program, and your git obeys it: the worker could not write it"
	byPorts   = "the worker could reach programs of this machine through host_ports"
)

// Steers reports whether a finding is a change to something that the operator's git
// obeys, made by somebody else than the worker.
func (f Finding) Steers() bool { return f.Source == "host" && f.Rule == bySteered }

// report adds a finding. A confined worker could not have done it. Of others, what
// nobody can be named for is a violation unless the operator said that they work there
// themselves.
func (t *tripwire) report(name, detail, who string, is weight) {
	f := Finding{Class: Violation, Rule: who}
	f.Change = Change{Path: Path(name), Kind: HostChange, Source: "host", Detail: detail}
	switch {
	case t.x.Confined && is == obeyed && t.x.Ports:
		f.Rule = "your git obeys it, and " + byPorts
	case t.x.Confined && is == grave && t.x.Ports:
		f.Rule = "only cordon writes it, and " + byPorts
	case t.x.Confined && is == obeyed:
		f.Class, f.Rule = Note, bySteered
	case t.x.Confined:
		f.Class, f.Rule = Note, byOthers
	case t.x.OperatorWorks && is == daily:
		f.Class = Note
	}
	t.found = append(t.found, f)
}

// branches are what the HEADs of the checkouts name, by their place in the git directory.
func branches(host git.Repo, s *HostState) map[string]string {
	at := map[string]string{}
	for _, c := range s.Checkouts {
		if rel, err := filepath.Rel(encodable(host.Dir), c.GitDir); err == nil && c.Branch != "" {
			at[filepath.Join(rel, "HEAD")] = strings.TrimPrefix(c.Branch, "refs/heads/")
		}
	}
	return at
}

// describeControl says how a control file changed.
func (t *tripwire) describeControl(name, before, after string) string {
	was, is := t.branchWas[name], t.branchIs[name]
	if filepath.Base(name) == "HEAD" && before != "" && after != "" && (was != "" || is != "") {
		return cmp.Or(was, "no branch") + " → " + cmp.Or(is, "no branch")
	}
	if was, is := t.settingsWere[name], t.settingsAre[name]; was != nil && is != nil {
		if changes := describeSettings(was, is); changes != "" {
			return changes
		}
	}
	return describeFile(before, after)
}

const (
	maxSettings = 5   // that one change names
	maxSetting  = 100 // characters of a key: a worker may have chosen it
)

// describeSettings names the keys of a configuration that changed; "" if none did.
func describeSettings(before, after map[string]string) string {
	var list []string
	for _, key := range keys(before, after) {
		b, a := before[key], after[key]
		how := " changed"
		switch {
		case b == a:
			continue
		case b == "":
			how = " appeared"
		case a == "":
			how = " vanished"
		}
		if r := []rune(key); len(r) > maxSetting {
			key = string(r[:maxSetting]) + "…"
		}
		list = append(list, key+how)
	}
	if n := len(list) - maxSettings; n > 0 {
		list = append(list[:maxSettings], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(list, ", ")
}

// describeFile says how a file changed that is described by its mode or status and its
// content.
func describeFile(before, after string) string {
	kind, content, _ := strings.Cut(before, " ")
	now, is, _ := strings.Cut(after, " ")
	switch {
	case before == "":
		return "appeared"
	case after == "":
		return "vanished"
	case content == is:
		return kind + " → " + now
	}
	return "changed"
}

// own fixes what belongs to adopted worktrees at what it was before the run: a
// worker can put itself on main afterwards.
func (t *tripwire) own(before *HostState) {
	t.tops, t.refsOf, t.heads = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, top := range t.x.Adopted {
		t.tops[encodable(top)] = true
	}
	for _, c := range before.Checkouts {
		rel, err := filepath.Rel(encodable(t.host.Dir), c.GitDir)
		if !t.adopted(c.Top) || !c.Linked || err != nil {
			continue
		}
		t.heads[filepath.Join(rel, "HEAD")] = true
		if c.Branch != "" {
			t.refsOf[c.Branch] = true
		}
	}
}

// adopted reports whether a checkout, by whatever way it is called, is one that
// cordon has adopted.
func (t *tripwire) adopted(top string) bool {
	real, err := filepath.EvalSymlinks(top)
	return t.tops[top] || err == nil && t.tops[encodable(real)]
}

// control files decide what the operator's git runs, so a change of one counts
// whoever made it. HEAD is a ref and compared with them; of an adopted
// worktree it is the worker's to move, and nothing else is.
func (t *tripwire) control(before, after map[string]string) {
	for _, name := range keys(before, after) {
		b, a := before[name], after[name]
		if b == a || t.heads[name] {
			continue
		}
		if strings.HasPrefix(name, "worktrees/") && b == "" && !strings.HasSuffix(name, "config.worktree") {
			t.report(located(name), "appeared", byUnknown, daily)
			continue
		}
		is := obeyed
		if passing(name) {
			is = daily
		}
		t.report(located(name), t.describeControl(name, b, a), byUnknown, is)
	}
}

// located is where a control file is, for a person.
func located(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return ".git/" + name
}

// passing names what an operator's ordinary work in a repository changes.
func passing(name string) bool {
	for _, part := range strings.Split(name, "/") {
		switch part {
		case "HEAD", "gitdir", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG",
			"rebase-merge", "rebase-apply", "sequencer", "logs":
			return true
		}
	}
	return false
}

func describe(before, after string) string {
	switch {
	case before == "":
		return "appeared: " + after
	case after == "":
		return "vanished: was " + before
	}
	return before + " → " + after
}

func (t *tripwire) refs(before, after []git.Ref) {
	b, a := refMap(before), refMap(after)
	for _, name := range keys(b, a) {
		if b[name] == a[name] || t.refsOf[name] || t.ours(name, a[name]) {
			continue
		}
		who, is := byUnknown, daily
		if !t.x.Confined {
			who, is = t.author(b[name], a[name])
		}
		if strings.HasPrefix(name, cordonsRefs) {
			is = grave
		}
		t.report(name, describe(short(b[name]), short(a[name])), who, is)
	}
}

// ours reports whether cordon gave a ref this value. A branch must not be behind another commit
// that cordon landed on it: somebody took that back.
func (t *tripwire) ours(name, value string) bool {
	given := t.x.Given[name]
	if !slices.Contains(given, git.OID(value)) {
		return false
	}
	if strings.HasPrefix(name, cordonsRefs) {
		return true
	}
	for _, oid := range given {
		if string(oid) == value {
			continue
		}
		if older, err := t.host.IsAncestor(t.ctx, git.OID(value), oid); err != nil || older {
			return false
		}
	}
	return true
}

// author looks for the worker's address among the commits that a ref gained.
func (t *tripwire) author(before, after string) (string, weight) {
	if after == "" {
		return byUnknown, daily
	}
	emails, err := t.host.Committers(t.ctx, git.OID(before), git.OID(after))
	if err != nil {
		return byUnknown + fmt.Sprintf(" (%v)", err), daily
	}
	for _, e := range emails {
		if e == t.x.Committer {
			return byWorker, grave
		}
	}
	return byUnknown, daily
}

func refMap(refs []git.Ref) map[string]string {
	m := map[string]string{}
	for _, r := range refs {
		m[r.Name] = string(r.OID)
		if r.Symref != "" {
			m[r.Name] = r.Symref
		}
	}
	return m
}

func short(value string) string {
	if oid, err := git.ParseOID(value); err == nil {
		return oid.Short()
	}
	return value
}

func (t *tripwire) checkouts(before, after []CheckoutState) {
	was := map[string]CheckoutState{}
	for _, c := range before {
		was[c.Top] = c
	}
	for _, c := range after {
		b, ok := was[c.Top]
		delete(was, c.Top)
		if ok && !t.adopted(c.Top) {
			t.status(b, c)
		}
		if b.Partial || c.Partial {
			t.report(c.Top, fmt.Sprintf("more than %d uncommitted changes, too many to compare", maxHashed), byUnknown, daily)
		}
	}
	for _, top := range keys(was, nil) {
		t.report("worktree "+top, "vanished", byUnknown, daily)
	}
}

func (t *tripwire) status(before, after CheckoutState) {
	if before.Present != after.Present {
		t.report("worktree "+after.Top, "appeared or vanished", byUnknown, daily)
		return
	}
	if before.Dot != after.Dot {
		t.report(filepath.Join(after.Top, ".git"), describeFile(before.Dot, after.Dot), byUnknown, obeyed)
	}
	t.rewritten(before, after)
	b, a := statusMap(before), statusMap(after)
	for _, p := range keys(b, a) {
		if b[p] != a[p] {
			t.report(filepath.Join(after.Top, p), describeStatus(b[p], a[p]), byUnknown, daily)
		}
	}
	if strings.Join(before.Hidden, "\x00") != strings.Join(after.Hidden, "\x00") {
		t.report(after.Top+" (index)", "entries are hidden from git status: "+Path(strings.Join(after.Hidden, ", ")).String(), byUnknown, obeyed)
	}
}

// describeStatus says how a path of a checkout changed, as git status shows it.
func describeStatus(before, after string) string {
	switch {
	case after == "":
		return "an uncommitted change is gone"
	case before == "" && strings.HasPrefix(after, "??"):
		return "appeared, untracked"
	case before == "":
		return "has an uncommitted change"
	}
	return "its uncommitted content changed"
}

// rewritten looks at the tracked files whose numbers changed and that git takes
// for unchanged: an index can be made to say so of any content.
func (t *tripwire) rewritten(before, after CheckoutState) {
	if before.Stats == nil {
		return
	}
	shown := statusMap(after)
	var moved []string
	for p, now := range after.Stats {
		if _, listed := shown[p]; !listed && before.Stats[p] != now {
			moved = append(moved, p)
		}
	}
	if len(moved) == 0 {
		return
	}
	sort.Strings(moved)
	index, err := t.host.Index(t.ctx, after.Checkout)
	if err != nil {
		t.report(after.Top+" (index)", err.Error(), byUnknown, obeyed)
		return
	}
	for _, p := range moved {
		if e := index[p]; !holds(after.Top, p, e, t.host.Format) {
			t.report(filepath.Join(after.Top, p), "differs from the index although git status does not show it", byUnknown, obeyed)
		}
	}
}

// holds reports whether a tracked file is what the index says. A file that was
// converted on checkout is not, and neither is one that cannot be read.
func holds(top, p string, e git.Entry, format git.Format) bool {
	if e.Mode == git.Symlink {
		to, err := os.Readlink(filepath.Join(top, p))
		return err == nil && format.Blob([]byte(to)) == e.OID
	}
	oid, err := hashFile(top, p, format)
	return err == nil && oid == e.OID
}

func statusMap(c CheckoutState) map[string]string {
	m := map[string]string{}
	for _, e := range c.Entries {
		m[string(e.Path)] = strings.TrimSpace(e.Code + " " + e.Content)
	}
	return m
}

// keys are the names of two maps, sorted.
func keys[V any](a, b map[string]V) []string {
	var list []string
	for k := range a {
		list = append(list, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			list = append(list, k)
		}
	}
	sort.Strings(list)
	return list
}
