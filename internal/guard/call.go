package guard

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
	"cordon/internal/shell"
)

// Call is one tool call of a client, in our terms.
type Call struct {
	Tool     string             // the client's name for it
	Cwd      string             // where relative paths begin; "" is the worktree
	Shell    []string           // commands for a shell
	Paths    []commands.Access  // paths of file tools
	Findings []commands.Finding // what the tool itself is
	Remote   bool               // the servers of the client's maker carry it out
}

// Decide judges a call. It never fails: what goes wrong is a denial.
func Decide(s *Scope, c Call) (d Decision) {
	defer func() {
		if r := recover(); r != nil {
			d = Decision{Verdict: Deny, Reason: fmt.Sprintf("the guard failed (%v), and it refuses calls that it cannot judge", r), Holds: s.holds()}
		}
	}()
	shared := newSeen()
	if f, ok := s.check(c); !ok {
		shared.found = append(shared.found, f)
		return s.decision(c, shared)
	}
	cwd := c.Cwd
	cwd = cmp.Or(cwd, s.Worktree)
	if !strings.HasPrefix(cwd, "/") {
		cwd = s.Worktree + "/" + cwd
	}
	s.start(cwd, shared)
	if c.Remote && !s.Web {
		c.Findings = append(slices.Clone(c.Findings), makersWeb)
	}
	for _, f := range c.Findings {
		v := Ask
		if f.Weight == commands.Deny {
			v = Deny
		}
		shared.found = append(shared.found, finding{verdict: v, reason: f.Reason, tried: "use " + c.Tool, instead: f.Instead})
	}
	s.paths(c, cwd, shared)
	for _, command := range c.Shell {
		s.script(command, cwd, shared)
	}
	return s.decision(c, shared)
}

// makersWeb is said to tools that look at the web from elsewhere: whatever they are asked leaves the cell.
var makersWeb = commands.Finding{Weight: commands.Deny,
	Reason:  "that tool looks at the web from its maker's servers, past the network of your lease, and the policy does not say agent.web: true",
	Instead: "work with what is here; if you need it, ask the operator"}

// maxCall bounds one text of a call.
const maxCall = 256 << 10

// check refuses what is no call, and a scope that is none.
func (s *Scope) check(c Call) (finding, bool) {
	f := finding{verdict: Deny, tried: "use " + shown(c.Tool), instead: "repeat the call with plain text"}
	if !path.IsAbs(s.Worktree) || path.Clean(s.Worktree) != s.Worktree || s.Worktree == "/" {
		f.reason, f.instead = "no lease says where you may work", ""
		return f, false
	}
	texts := append([]string{c.Cwd}, c.Shell...)
	for _, a := range c.Paths {
		texts = append(texts, a.Path)
	}
	for _, t := range texts {
		if len(t) > maxCall {
			f.reason, f.instead = "the call is too long to judge", "split it into shorter ones"
			return f, false
		}
		if strings.ContainsRune(t, 0) || !mark.Clean(t) {
			f.reason = "the call contains characters that nobody types"
			return f, false
		}
	}
	return f, true
}

// start judges where the call begins.
func (s *Scope) start(cwd string, shared *seen) {
	j := s.judge(shared)
	w := j.resolve("/", cwd)
	if f := j.verdict(commands.Enter, w, cwd); f.verdict != Allow {
		f.tried = "work in " + shown(cwd)
		f.instead = "run it in your worktree: give that as the directory of the call"
		j.find(f)
		j.step(Step{Dir: shown(cwd), Does: "begins in", Path: shown(cwd), Leads: shown(w.path), Place: j.placeOf(w), Verdict: f.verdict, Why: f.reason})
	}
}

// script judges a shell command.
func (s *Scope) script(command, cwd string, shared *seen) {
	fresh := func() shell.World { return s.judge(shared) }
	err := shell.Explore(command, fresh, shell.Start{Dir: path.Clean(cwd), Home: s.Home}, shell.DefaultBudget)
	if err == nil {
		return
	}
	f := finding{verdict: Deny, reason: err.Error(), tried: "run " + shown(command), instead: "split it into simpler commands"}
	if errors.Is(err, shell.ErrSyntax) {
		f.verdict, f.instead = Ask, "write it so that bash can parse it"
	}
	shared.found = append(shared.found, f)
	shared.steps = append(shared.steps, Step{Dir: shown(cwd), Does: shown(command), Verdict: f.verdict, Why: f.reason})
}

// paths judges the paths of a file tool. They are not shell words: only a tilde
// is expanded, as clients do.
func (s *Scope) paths(c Call, cwd string, shared *seen) {
	for _, a := range c.Paths {
		j := s.judge(shared)
		j.at = cwd
		dir := cwd
		if a.Dir != "" {
			dir = j.directory(cwd, a.Dir)
		}
		w := j.resolve(dir, home(plainPath(a.Path), s.Home))
		f := j.verdict(a.Role, w, a.Path)
		f.tried = tried(a.Role, c.Tool, a.Path)
		j.step(Step{Dir: shown(dir), Does: c.Tool + " " + verb(a.Role), Path: shown(a.Path), Leads: shown(w.path), Place: j.placeOf(w),
			Verdict: f.verdict, Why: f.reason})
		if f.verdict != Allow {
			j.find(f)
		}
	}
}

// plainPath is a path without what some clients write before it.
func plainPath(p string) string {
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		return strings.TrimPrefix(rest, "localhost")
	}
	for _, name := range []string{"$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(p, name); ok {
			return "~/" + rest
		}
	}
	return p
}

// decision is the worst that was found, in the mode of the policy.
func (s *Scope) decision(c Call, shared *seen) Decision {
	d := Decision{Verdict: Allow, Holds: s.holds(), Steps: shared.steps}
	for _, f := range shared.found {
		if d.Verdict == Allow || d.Verdict == Ask && f.verdict == Deny {
			d.Verdict, d.Reason, d.Tried, d.Instead = f.verdict, f.reason, f.tried, f.instead
		}
	}
	d.Lift = liftOf(shared.found)
	mode := s.Guard.Mode
	switch {
	case d.Verdict == Allow:
	case mode.Warns():
		d.Verdict, d.Warned = Allow, true
	case mode.IsStrict():
		d.Verdict = Deny
	}
	return d
}
