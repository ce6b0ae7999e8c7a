package guard

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
	"cordon/internal/shell"
)

// git judges what a git command does to a repository, beyond the paths it
// touches. A repository in a directory for temporary files is nobody's.
func (j *judge) git(m *shell.Machine, g commands.GitAct, args []string) {
	dir := m.Dir()
	if g.Dir != "" {
		dir = j.directory(dir, g.Dir)
	}
	w := j.resolve("/", dir)
	if w.unknown || w.outside || j.placeOf(w) != Own {
		return // judged as a path
	}
	f := j.gitAct(g)
	if f.verdict == Allow {
		return
	}
	f.tried = "run " + shown(strings.Join(args, " "))
	j.step(Step{Line: m.Line(), Dir: shown(m.Dir()), Does: f.tried, Verdict: f.verdict, Why: f.reason})
	j.find(f)
}

func (j *judge) gitAct(g commands.GitAct) finding {
	switch g.Kind {
	case commands.GitSwitches:
		if !g.Maybe || g.Name == j.landing() {
			j.head = g.Name
		}
	case commands.GitMovesRef:
		return j.movesRef(g)
	case commands.GitGrows:
		return j.grows(g)
	case commands.GitPushes:
		return j.pushes(g)
	case commands.GitConfigures:
		return j.configures(g)
	case commands.GitShares:
		if !j.scope.Private {
			return finding{verdict: Ask, reason: "it changes " + g.Name + ", which every worktree of the repository shares",
				instead: "leave it alone, and commit to your own branch"}
		}
	}
	return finding{verdict: Allow}
}

// landing is the branch that the work is to land on, short.
func (j *judge) landing() string { return strings.TrimPrefix(j.scope.Target, "refs/heads/") }

const gateMerges = "commit to your own branch; cordon merges it when it passes the gate"

func (j *judge) movesRef(g commands.GitAct) finding {
	s := j.scope
	name := g.Name
	if g.New {
		j.refs[name] = true
	}
	switch {
	case name == "HEAD", s.Branch != "" && name == "refs/heads/"+s.Branch:
		return finding{verdict: Allow}
	case s.Target != "" && name == s.Target:
		return finding{verdict: Deny, reason: "that moves the branch that your work will land on", instead: gateMerges}
	case mark.Has(name, mark.Any):
		return finding{verdict: Ask, reason: "cordon cannot tell which ref this moves before it runs", instead: "name the ref literally"}
	case j.refs[name], s.Private, strings.HasPrefix(name, "refs/remotes/"):
		return finding{verdict: Allow}
	case strings.HasPrefix(name, "refs/heads/"):
		return finding{verdict: Deny, reason: "that is not your branch: " + shown(strings.TrimPrefix(name, "refs/heads/")),
			instead: "leave other branches alone; " + gateMerges}
	}
	return finding{verdict: Ask, reason: "it changes " + shown(name) + ", which every worktree of the repository shares",
		instead: "leave refs that are not your branch alone"}
}

// grows is a commit on the branch HEAD is on. On the target branch only what came
// from a remote is not the worker's own.
func (j *judge) grows(g commands.GitAct) finding {
	if j.head == "" || j.head != j.landing() || j.head == j.scope.Branch {
		return finding{verdict: Allow}
	}
	if strings.Contains(g.Value, "/") && g.Value != j.scope.Branch && !strings.HasPrefix(g.Value, "refs/heads/") {
		return finding{verdict: Allow}
	}
	return finding{verdict: Deny, reason: "that puts work on the target branch and bypasses the gate", instead: gateMerges}
}

func (j *judge) pushes(g commands.GitAct) finding {
	target := j.landing()
	if target == "" || target == j.scope.Branch {
		return finding{verdict: Allow}
	}
	force := strings.HasPrefix(g.Value, "+")
	from, to, pair := strings.Cut(strings.TrimPrefix(g.Value, "+"), ":")
	if !pair {
		to = from
	}
	matching := pair && from == "" && to == "" // every branch that both sides have
	if force && (matching || coversBranch(to, target)) {
		return finding{verdict: Deny, reason: "that overwrites or deletes the target branch on the remote", instead: gateMerges}
	}
	to, from = strings.TrimPrefix(to, "refs/heads/"), strings.TrimPrefix(from, "refs/heads/")
	if strings.TrimPrefix(g.Value, "+") == "" {
		to, from = j.head, j.head
	}
	own := from == j.scope.Branch || from == "HEAD" || from == "@" || j.head == target && from == target
	switch {
	case to != target:
		return finding{verdict: Allow}
	case own, pair && from != target, force:
		return finding{verdict: Deny, reason: "that pushes to the target branch and bypasses the gate", instead: gateMerges}
	}
	return finding{verdict: Allow}
}

// coversBranch reports whether the right side of a refspec has a wildcard that a branch matches.
func coversBranch(to, branch string) bool {
	before, after, wildcard := strings.Cut(to, "*")
	ref := "refs/heads/" + branch
	return wildcard && len(ref) >= len(before)+len(after) && strings.HasPrefix(ref, before) && strings.HasSuffix(ref, after)
}

func (j *judge) configures(g commands.GitAct) finding {
	if !j.scope.Private {
		return finding{verdict: Ask, reason: "it changes the configuration, which every worktree of the repository shares",
			instead: "set it for one command only: git -c " + shown(g.Name) + "=" + shown(g.Value) + " …"}
	}
	return finding{verdict: Allow}
}
