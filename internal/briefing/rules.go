package briefing

import (
	"fmt"
	"strings"

	"cordon/internal/agent/facts"
	"cordon/internal/policy"
)

func (t terms) forbidden() []string {
	lines := []string{
		"- Leaving the tree: `..` above your directory, absolute paths into other directories, links that lead out.",
		"- Other worktrees, the operator's repository, and git on any repository but this one.",
		"- `git push`, `git fetch`, `git remote` and every other exchange with a remote.",
		"- Merging your own branch, and moving, making or deleting branches that are not yours. The gate merges.",
		"- Files of cordon's own (`cordon.yaml`, `.cordon`), and everything in `.git`, hooks and configuration included.",
		"- The configuration of agent clients, editors, shells and hook managers, at any depth: " + clientNames() +
			"`.mcp.json`, `.vscode/settings.json`, `.envrc`, `.husky` and their like" + t.lifted() + ".",
	}
	if denied := t.denied(t.rules.DenyWrite()); denied != "" {
		lines = append(lines, "- Writing "+denied+".")
	}
	if hidden := t.denied(t.written()); hidden != "" {
		lines = append(lines, "- Reading "+hidden+", and adding, changing, moving or deleting it, unless a place that you may write names it.")
	}
	lines = append(lines, "- Looking for credentials: keys, tokens, password stores, the environment of other processes.")
	if t.Policy.Filesystem.Outside.Captures() && !t.unconfined() {
		lines = append(lines, "- Writing outside: the write seems to succeed, but it is still a violation.")
	}
	return lines
}

// clientNames are the best known files of the clients that cordon can start.
func clientNames() string {
	var b strings.Builder
	for _, c := range facts.All() {
		b.WriteString("`" + c.Protected[0] + "`, ")
	}
	return b.String()
}

// lifted says that roots which name such a file open it.
func (t terms) lifted() string {
	if roots := t.rules.Roots(); len(roots) == 0 || len(roots) == 1 && roots[0] == "." {
		return ""
	}
	return ", unless a place that you may write names them"
}

// denied shows the entries that are about the tree or the home. Those about the
// rest of the machine are left out: the rest of the machine is forbidden anyway.
func (t terms) denied(denies []policy.Deny) string {
	var shown places
	for _, d := range denies {
		if !d.Outside {
			shown.add(t.relative(d.Pattern))
		}
	}
	shown.unsaid = 0
	return t.places(shown, "")
}

// written are the entries of deny_read without the built-in list, which is said in
// words.
func (t terms) written() []policy.Deny {
	builtIn := map[string]bool{}
	for _, u := range policy.UnreadByDefault() {
		builtIn[u.Entry] = true
	}
	var denies []policy.Deny
	for _, d := range t.rules.OwnDenyRead() {
		if !builtIn[d.Entry] {
			denies = append(denies, d)
		}
	}
	return denies
}

func (t terms) mistakes() []string {
	return []string{
		"- Using an absolute path from your context or from a tool's output: it may belong to another tree. Use the relative one.",
		"- `cd ..` to look around, or `cd` to where you think the repository is. You are in it.",
		"- `git -C DIR`, `--git-dir`, `--work-tree`, `GIT_DIR=…` and `git worktree`: plain `git` in your directory is right.",
		"- Editing or skipping hooks, or changing git's configuration, to get a commit through.",
		"- Installing globally (`npm install -g`, `pip install` into the system, `apt`), and `sudo`. Install into the tree or do without.",
		"- Leaving servers or watchers running: they are ended with you.",
	}
}

func (t terms) refusals() []string {
	if !t.hooked {
		return nil
	}
	if t.Policy.Guard.Mode.Warns() {
		return []string{"Each of your tool calls is judged. An answer with `WARNING:` in it names a rule that the call broke; the call still ran, " +
			"and the audit will find its changes. Undo them, and follow the answer."}
	}
	return []string{"Each of your tool calls is judged before it runs. An answer with `BLOCKED:` in it says why the call did not run, " +
		"and after `Instead, you should:` what to do. Do that. Do not try the same thing in another spelling, with another tool or from a script: " +
		"the rule is the same everywhere, and every attempt is recorded."}
}

func (t terms) limits() []string {
	l := t.Policy.Limits
	lines := []string{fmt.Sprintf("- Time: %s for each run; then you are stopped. The lease ends at %s.", l.Time, t.Expires.UTC().Format("2006-01-02 15:04 MST"))}
	for _, limit := range []struct {
		is   bool
		text string
	}{
		{l.Memory > 0, "- Memory: " + l.Memory.String() + " for everything you run together."},
		{l.Processes > 0, fmt.Sprintf("- Processes: %d at once.", l.Processes)},
		{l.Files > 0, fmt.Sprintf("- Open files: %d for each process.", l.Files)},
		{l.Disk > 0, "- Disk: " + l.Disk.String() + "."},
	} {
		if limit.is {
			lines = append(lines, limit.text)
		}
	}
	return lines
}

func (t terms) fate() []string {
	lines := []string{"When you end, everything that you changed is audited against these rules. One violation quarantines everything, " +
		"including the good part, so undo forbidden changes before you end."}
	who := "The gate merges a clean result into %s"
	if t.Policy.Gate.Land.Review() {
		who = "The operator reviews a clean result and merges it into %s"
	}
	who = fmt.Sprintf(who, t.branch(t.Target, "the operator's branch"))
	if len(t.Policy.Acceptance) == 0 {
		return append(lines, who+". You do not merge.")
	}
	return append(lines, fmt.Sprintf("%s if these commands succeed on the merged tree: %s. Run them before you end. You do not merge.",
		who, t.commands(t.Policy.Acceptance)))
}

func (t terms) need() []string {
	return []string{
		"Stop and ask. Do not work around a rule, and do not guess.",
		"",
		"- `cordon ask \"…\"` puts a question to the operator and prints the answer. Say what you need and why.",
		"- `cordon status` shows these terms, the time that is left, and answers.",
		"- `cordon done \"…\"` says that you have finished, in a sentence. If you could not do it, say so.",
	}
}
