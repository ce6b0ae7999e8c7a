package guard

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
	"cordon/internal/policy"
	"cordon/internal/shell"
)

// access judges one path of a command. does is the command's name, for a person.
func (j *judge) access(m *shell.Machine, a commands.Access, does string) {
	if a.Path == "-" && a.Role != commands.Enter || isDescriptor(a.Path) {
		return
	}
	dir := m.Dir()
	if a.Dir != "" {
		dir = j.directory(dir, a.Dir)
	}
	j.accessAt(m, a, j.lands(dir, a), does)
}

// lands is where an access leads. A command that acts on a link itself does not
// follow it.
func (j *judge) lands(dir string, a commands.Access) where {
	p := home(a.Path, j.scope.Home)
	if a.Link && !strings.HasSuffix(p, "/") {
		if at, ok := j.unfollowed(dir, p); ok {
			return where{path: at}
		}
	}
	return j.resolve(dir, p)
}

// accessAt judges an access that leads to a place.
func (j *judge) accessAt(m *shell.Machine, a commands.Access, w where, does string) {
	dir := m.Dir()
	if a.Role == commands.Target {
		j.target(m, a, w, does)
		return
	}
	f := j.verdict(a.Role, w, a.Path)
	if f.verdict == Allow && a.Deep {
		f = j.deep(w)
	}
	if f.verdict == Allow && w.path == "/" && !a.Shallow && wanders(does) {
		f = finding{verdict: Deny, reason: "that walks the whole machine, other trees and homes included",
			instead: "start in your worktree, or in the directory you mean, such as /usr or /etc"}
	}
	f.tried = tried(a.Role, does, a.Path)
	j.step(Step{
		Line: m.Line(), Dir: shown(dir), Does: strings.TrimSpace(does + " " + verb(a.Role)), Path: shown(a.Path), Leads: shown(w.path),
		Place: j.placeOf(w), Verdict: f.verdict, Why: f.reason,
	})
	if f.verdict != Allow {
		j.find(f)
	}
}

// wanders reports whether a command goes through everything below a directory.
func wanders(command string) bool {
	return slices.Contains([]string{"find", "fd", "fdfind", "grep", "egrep", "fgrep", "rg", "ag", "ack", "tree", "du",
		"tar", "zip", "cp", "rsync", "chmod", "chown"}, command)
}

// directory is where a command's paths are relative to.
func (j *judge) directory(dir, moved string) string {
	moved = home(moved, j.scope.Home)
	if strings.HasPrefix(moved, "/") || mark.First(moved) == 0 {
		return moved
	}
	return dir + "/" + moved
}

// home expands a tilde that a program, not the shell, is given.
func home(p, home string) string {
	if !strings.HasPrefix(p, "~") {
		return p
	}
	user, rest, _ := strings.Cut(p[1:], "/")
	switch {
	case user == "":
		return home + "/" + rest
	case strings.Trim(user, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" && len(p) > 1+len(user):
		return "/home/" + user + "/" + rest
	}
	return p
}

func verb(r commands.Role) string {
	switch r {
	case commands.Write:
		return "writes"
	case commands.Enter:
		return "goes to"
	case commands.Execute:
		return "runs"
	case commands.Target:
		return "links to"
	}
	return "reads"
}

func tried(r commands.Role, does, p string) string {
	act := map[commands.Role]string{
		commands.Read: "read", commands.Write: "write", commands.Enter: "work in", commands.Execute: "run", commands.Target: "link to",
	}[r]
	s := act + " " + shown(p)
	if does != "" && does != p {
		s += " (" + shown(does) + ")"
	}
	return s
}

func (j *judge) placeOf(w where) Place {
	switch {
	case w.outside:
		return Elsewhere
	case w.place != "":
		return w.place
	case w.unknown && (w.path == "" || w.path == "/"):
		return Unknown
	}
	return j.scope.place(w.path)
}

// verdict judges a resolved path by its role.
func (j *judge) verdict(r commands.Role, w where, typed string) finding {
	if w.outside {
		return finding{verdict: Deny, reason: "that leads to a tree other than your own worktree", instead: stay}
	}
	place := j.placeOf(w)
	if w.unknown && (place == Own || place == Scratch || place == Unknown || place == System && r != commands.Write) {
		return j.unknown(r, typed)
	}
	switch r {
	case commands.Write:
		return j.writing(place, w.path)
	case commands.Enter:
		return j.entering(place, w.path, typed)
	}
	return j.reading(place, w.path, r)
}

const stay = "work on the files in your own worktree, with paths relative to it"

// unknown answers for a path that only running the command would tell.
func (j *judge) unknown(r commands.Role, typed string) finding {
	if r == commands.Read {
		return answer(j.scope.Guard.Reading(), "cordon cannot tell which path it reads before it runs", "give the path literally, relative to your worktree")
	}
	return finding{verdict: Ask, reason: "cordon cannot tell where this leads before it runs",
		instead: "give the path literally, relative to your worktree, instead of " + shown(typed)}
}

// answer is a finding by the policy's word.
func answer(a policy.Answer, reason, instead string) finding {
	f := finding{verdict: Deny, reason: reason, instead: instead}
	switch a {
	case policy.AnswerAllow, "":
		f.verdict = Allow
	case policy.AnswerAsk:
		f.verdict = Ask
	}
	return f
}

func (j *judge) writing(place Place, p string) finding {
	switch place {
	case Own:
		return j.ownWrite(p)
	case Scratch:
		return finding{verdict: Allow}
	case Device:
		return finding{verdict: Allow}
	}
	return j.refused(place, p, "is written")
}

// ownWrite is a write inside the worktree, which the lease may not cover.
func (j *judge) ownWrite(p string) finding {
	rel := j.scope.relative(p)
	if rel == "" {
		return finding{verdict: Allow}
	}
	v := j.scope.Rules.Judge(rel)
	if !v.Class.IsViolation() {
		return finding{verdict: Allow}
	}
	return finding{verdict: Deny, reason: shown(rel) + " is not yours to write (" + v.Rule + ")", instead: j.leased()}
}

// leased says where writing is right.
func (j *judge) leased() string {
	roots := j.scope.Rules.Roots()
	if len(roots) == 0 {
		return "write nothing: this lease is read-only"
	}
	if len(roots) == 1 && roots[0] == "." {
		return "leave that file alone; if the task needs it, stop and say so"
	}
	return "write below " + strings.Join(roots, ", ") + "; if the task needs more, stop and say so"
}

func (j *judge) entering(place Place, p, typed string) finding {
	strict := j.scope.Guard.Mode.IsStrict() && strings.HasPrefix(typed, "/") && place != Own
	if place.readable() && !strict {
		return finding{verdict: Allow}
	}
	return j.liftable(j.refused(place, p, "is entered"), place, p)
}

func (j *judge) reading(place Place, p string, r commands.Role) finding {
	if !place.readable() {
		return j.liftable(j.refused(place, p, "is read"), place, p)
	}
	if j.secret(p) {
		return finding{verdict: Deny, reason: shown(base(p)) + " may not be read (deny_read)", instead: "continue without it; if the task needs it, stop and say so"}
	}
	return finding{verdict: Allow}
}

func (j *judge) secret(p string) bool { return j.scope.Rules.Hides(p) || private(p) }

// private are files of other processes that hold their secrets.
func private(p string) bool {
	rest, ok := strings.CutPrefix(p, "/proc/")
	if !ok {
		return false
	}
	who, what, _ := strings.Cut(rest, "/")
	return who != "self" && who != "thread-self" && (what == "environ" || what == "mem") && strings.Trim(who, "0123456789") == ""
}

// refused is a path outside of everything that is the worker's.
func (j *judge) refused(place Place, p, done string) finding {
	f := finding{verdict: Deny, instead: stay}
	switch place {
	case Host, Sibling:
		f.reason = "that is " + string(place) + ", not your worktree"
		if rel, ok := j.counterpart(p); ok {
			f.instead = "use " + rel + ", which is the same in your worktree"
		}
	case Home:
		f.reason = "that is in the home directory, which is not yours"
	case Packages:
		f.reason = "that belongs to a package manager and is not yours to change"
	case State:
		f.reason = "that is cordon's own state"
	case System:
		f.reason = "that belongs to the system and is not yours to change"
		f.instead = "install or write below your worktree or in /tmp"
	default:
		f.reason = "that is outside your worktree"
	}
	if done == "is entered" {
		f.instead = "stay in your worktree: run the command from where you are, with relative paths"
	}
	return f
}

// counterpart is the same file in the worktree.
func (j *judge) counterpart(p string) (string, bool) {
	roots := j.scope.Hosts
	if parent := path.Dir(j.scope.Worktree); strings.HasPrefix(p, parent+"/") {
		_, rest, ok := strings.Cut(strings.TrimPrefix(p, parent+"/"), "/")
		return shown(rest), ok && rest != "" && !strings.HasPrefix(rest, ".git")
	}
	for _, h := range roots {
		if rest, ok := strings.CutPrefix(p, h+"/"); ok && !strings.HasPrefix(rest, ".git") && base(h) != ".git" {
			return shown(rest), true
		}
	}
	return "", false
}

// target judges where a new link leads. It touches nothing yet.
func (j *judge) target(m *shell.Machine, a commands.Access, w where, does string) {
	place := j.placeOf(w)
	ok := !w.outside && !w.unknown && place.readable()
	v := Allow
	if !ok {
		v = Ask
		j.find(finding{verdict: Ask, reason: "the link would lead out of your worktree", tried: tried(commands.Target, does, a.Path),
			instead: "copy what you need into your worktree, or link to a path inside it"})
	}
	j.step(Step{Line: m.Line(), Dir: shown(m.Dir()), Does: does + " links to", Path: shown(a.Path), Leads: shown(w.path), Place: place, Verdict: v})
}
