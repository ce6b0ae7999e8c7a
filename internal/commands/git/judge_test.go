package git

import (
	"path"
	"strings"
	"testing"
	"time"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// A judge simple enough to be right: the tree is /w/repo/.worktrees/s1, its
// branch s1, the target main. It is not the guard; it shows that what a Use
// says is enough to tell an escape from ordinary work.
const judgedTree = "/w/repo/.worktrees/s1"

// verdicts, the worse the higher.
const (
	passes = iota
	asks
	blocks
)

func judged(u commands.Use, cwd string) int {
	worst := passes
	for _, a := range u.Access {
		worst = max(worst, judgedAccess(a, cwd))
	}
	for _, r := range u.Runs {
		worst = max(worst, judgedRun(r, cwd))
	}
	for _, a := range u.Git {
		worst = max(worst, judgedAct(a, cwd))
	}
	if len(u.Findings) > 0 {
		worst = max(worst, asks)
	}
	return worst
}

func judgedAccess(a commands.Access, cwd string) int {
	if mark.Has(a.Path+a.Dir, mark.Outside) {
		return blocks
	}
	if mark.Has(a.Path+a.Dir, mark.Any) {
		if a.Role == commands.Read {
			return passes
		}
		return asks
	}
	p := resolved(cwd, a.Dir, a.Path, a.Link)
	switch {
	case within(p, judgedTree), within(p, "/tmp"), within(p, "/var/tmp"), within(p, "/dev"):
		return passes
	case a.Role != commands.Write && (within(p, "/usr") || within(p, "/etc") || within(p, "/bin") || within(p, "/proc")):
		return passes
	}
	return blocks
}

func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// resolved follows the links that the tree of the cases has.
func resolved(cwd, dir, name string, link bool) string {
	p := cwd
	parts := strings.Split(argtext.JoinDir(dir, name), "/")
	if parts[0] == "~" {
		p = "/home/agent"
	} else if parts[0] == "" {
		p = "/"
	}
	for i, part := range parts {
		if part == "~" {
			continue
		}
		p = path.Join(p, part)
		if link && i == len(parts)-1 {
			break
		}
		switch p {
		case judgedTree + "/link-out":
			p = "/w/repo"
		case judgedTree + "/data":
			p = "/w/other"
		}
	}
	return p
}

func judgedRun(r commands.Run, cwd string) int {
	if len(r.Args) > 0 && r.Args[0] == "git" {
		return judged(Use(commands.Call{Args: r.Args}), resolved(cwd, "", pathOrHere(r.Dir), false))
	}
	if mark.Has(r.Code, mark.Any) {
		return asks
	}
	worst := passes
	for _, w := range strings.FieldsFunc(strings.Join(append(r.Args, r.Code), " "), func(c rune) bool { return strings.ContainsRune(" \"';|&<>=", c) }) {
		if argtext.StartsPath(w) {
			worst = max(worst, judgedAccess(commands.Access{Role: commands.Execute, Path: w}, cwd))
		}
	}
	return worst
}

func judgedAct(a commands.GitAct, cwd string) int {
	if !within(resolved(cwd, "", pathOrHere(a.Dir), false), judgedTree) {
		return passes // the path has been judged
	}
	switch a.Kind {
	case commands.GitShares, commands.GitConfigures:
		return asks
	case commands.GitMovesRef:
		if a.New || a.Name == "HEAD" || a.Name == "refs/heads/s1" || strings.HasPrefix(a.Name, "refs/remotes/") {
			return passes
		}
		return blocks
	case commands.GitSwitches:
		if a.Name == "main" || a.Name == "s2" || a.Name == "s10" {
			return blocks
		}
	case commands.GitPushes:
		if _, to, ok := strings.Cut(a.Value, ":"); ok && (strings.TrimPrefix(to, heads) == "main" || to == "refs/*") {
			return blocks
		}
	}
	return passes
}

func TestGitEscapes(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(gitEscapes), "\n") {
		if judged(gitLine(line), judgedTree) == passes {
			t.Errorf("passes: %s\n %s", line, shown(gitLine(line)))
		}
	}
}

func TestGitHarmless(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(gitHarmless), "\n") {
		if judged(gitLine(line), judgedTree) != passes {
			t.Errorf("is stopped: %s\n %s", line, shown(gitLine(line)))
		}
	}
}

// The same words, from a directory that is another tree's.
func TestGitElsewhere(t *testing.T) {
	for _, line := range []string{"git status", "git log", "git commit -m x", "git frob", "git --git-dir=/tmp/x log", "git config a.b", "git rev-parse HEAD"} {
		if judged(gitLine(line), "/w/repo") == passes {
			t.Errorf("passes: %s", line)
		}
		if judged(gitLine(line), judgedTree+"/sub") != passes {
			t.Errorf("is stopped: %s", line)
		}
	}
}

// Whatever the arguments are, they are answered.
func FuzzGit(f *testing.F) {
	for _, line := range strings.Split(gitEscapes+gitHarmless, "\n") {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 1<<12 {
			return
		}
		u := gitLine("git " + line)
		if !u.Known {
			t.Errorf("not known: %q", line)
		}
	})
}

// Long command lines take no long time.
func TestGitLongLines(t *testing.T) {
	for _, words := range []string{"git log -q ", "git push -f x ", "git branch -d x ", "git diff -z --no-index a ", "git -c a.b=c ", "git clone ext::% a%% ", "git add a ", "git checkout ../ "} {
		name, rest, _ := strings.Cut(words, " ")
		start := time.Now()
		gitLine(name + " " + strings.Repeat(rest, (1<<16)/len(rest)))
		gitLine(name + " " + rest + strings.Repeat(strings.TrimSpace(rest), (1<<16)/len(rest)))
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s…: %v", words, took)
		} else {
			t.Logf("%s…: %v", words, took)
		}
	}
}
