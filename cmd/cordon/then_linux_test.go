package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// requestScript is the script in docs/config.md that opens a pull request.
func requestScript(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```sh\n(#!/bin/sh\n# ~/bin/open-request.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("docs/config.md has no such script")
	}
	return string(m[1])
}

// forGitLab is the script with the line for GitLab instead of the two for GitHub.
func forGitLab(t *testing.T, script string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(script) {
		switch {
		case strings.HasPrefix(line, "git push "), strings.HasPrefix(line, "gh "):
		case strings.HasPrefix(line, "# git push "):
			lines = append(lines, strings.TrimPrefix(line, "# "))
		default:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// The scripts of docs/config.md push the landed branch, and ask GitHub or GitLab for a
// request with the subject of the commit. gh and the server's hook are stand-ins.
func TestRequestsOfTheDocs(t *testing.T) {
	github := requestScript(t)
	for name, c := range map[string]struct{ script, want string }{
		"GitHub": {github, "pr create --head fix-parser --title parser: accept tabs --body Made by ID.\n"},
		"GitLab": {forGitLab(t, github), "merge_request.create\nmerge_request.title=parser: accept tabs\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.program("open-request", c.script)
			s.program("gh", "#!/bin/sh\necho \"$*\" >>\"$HOME/asked\"\n")
			remote := s.place("remote.git")
			s.git("init", "-q", "--bare", remote)
			s.git("-C", remote, "config", "receive.advertisePushOptions", "true")
			hook := s.write("remote.git/hooks/pre-receive", `#!/bin/sh
test "$GIT_PUSH_OPTION_COUNT" = 0 || printf '%s\n' "$GIT_PUSH_OPTION_0" "$GIT_PUSH_OPTION_1" >>"$HOME/asked"
`)
			if err := os.Chmod(hook, 0o755); err != nil {
				t.Fatal(err)
			}
			s.git("remote", "add", "origin", remote)
			s.write("home/.config/cordon/config.yaml", "version: 1\nland: {then: [open-request]}\n")
			s.cordon([]int{0}, "run", "--merge", "--target", "fix-parser", "--", "sh", "-c", `echo more >>src/a.txt; cordon done "parser: accept tabs"`)
			asked, err := os.ReadFile(s.place("home/asked"))
			if want := strings.ReplaceAll(c.want, "ID", s.only().Worker); err != nil || string(asked) != want {
				t.Errorf("%v: asked %q, want %q", err, asked, want)
			}
			if here, there := s.git("rev-parse", "fix-parser"), s.git("-C", remote, "rev-parse", "fix-parser"); here != there {
				t.Errorf("the remote has %s, want %s", there, here)
			}
			s.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", "echo again >>src/a.txt")
			if again, _ := os.ReadFile(s.place("home/asked")); string(again) != string(asked) {
				t.Errorf("a landing on main asked %q", again)
			}
		})
	}
}
