package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// What somebody else changes while a command runs is theirs: an operator with an editor, or another command whose
// files were placed meanwhile. The command's own is kept aside, and the rest is placed.
func TestExecMeanwhile(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]func(s *site, script string){
		"the operator":    func(s *site, script string) { s.try(s.process("sh", "-c", script)) },
		"another command": func(s *site, script string) { s.cordon([]int{0}, "exec", "--", "sh", "-c", script) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			for _, f := range []string{"saved", "replaced", "removed", "kept", "d/one", "d/two", "away/one"} {
				s.write("repo/"+f, "base\n")
			}
			r := s.start(nil, "exec", "--", "sh", "-c", `trap 'exit 0' TERM
				for f in saved replaced made free d/one; do echo mine >$f; done; rm removed kept d/two; rm -r away; mkdir away; echo mine >away/one
				echo 1 >ready; while :; do sleep 0.01; done`)
			r.until(filepath.Join(s.repo, "ready"))
			others(s, `cd `+s.repo+` && echo theirs >saved && echo theirs >x && mv x replaced && echo theirs >removed && echo theirs >made && echo theirs >away/new && echo theirs >d/two`)
			o := r.signal(syscall.SIGTERM)
			if o.code != 0 {
				t.Errorf("%+v", o)
			}
			for f, want := range map[string]string{
				"saved": "theirs", "replaced": "theirs", "removed": "theirs", "made": "theirs", "away/new": "theirs", "d/two": "theirs",
				"free": "mine", "d/one": "mine", "away/one": "mine", "kept": "",
			} {
				got, _ := os.ReadFile(filepath.Join(s.repo, f))
				if strings.TrimSpace(string(got)) != want {
					t.Errorf("%s holds %q, want %q", f, got, want)
				}
			}
			for _, f := range []string{"saved", "replaced", "made"} {
				line := regexp.MustCompile("kept " + s.repo + "/" + f + " aside as (.*): it was changed while the command ran").FindStringSubmatch(o.err)
				if line == nil {
					t.Errorf("%s was not named:\n%s", f, o.err)
					continue
				}
				if got, err := os.ReadFile(line[1]); err != nil || string(got) != "mine\n" {
					t.Errorf("%s: %q, %v", f, got, err)
				}
			}
			for _, f := range []string{"removed", "away/new", "d/two"} {
				if !strings.Contains(o.err, "did not remove "+s.repo+"/"+f+": it was changed while the command ran") {
					t.Errorf("%s was not named:\n%s", f, o.err)
				}
			}
		})
	}
}

// A program that git runs is replaced by the operator while the command runs, as a checkout or an editor does. The command
// writes it then, and git runs the operator's.
func TestExecReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	const attack = `trap 'program tools/fsm; exit 0' TERM; echo 1 >ready; while :; do sleep 0.01; done`
	for name, replace := range map[string]string{"by git": "git checkout -q v2 -- tools/fsm", "by an editor": "cp -p tools/fsm new; mv new tools/fsm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, confined := range []bool{false, true} {
				s, sh := togetherSite(t, `program tools/fsm; echo 'exit 1' >tools/fsm; git add .; git commit -q -m one; git checkout -q -b v2; echo '# v2' >>tools/fsm
					git commit -q -a -m two; git checkout -q -; git config core.fsmonitor ./tools/fsm`)
				said := "/tools/fsm aside as "
				if confined {
					r := s.start(nil, "exec", "--", "sh", "-c", obeyedPrelude+attack)
					r.until(filepath.Join(s.repo, "ready"))
					sh(replace)
					if o := r.signal(syscall.SIGTERM); o.code != 0 || !strings.Contains(o.err, said) {
						t.Errorf("%+v", o)
					}
				} else {
					sh(replace + "; program tools/fsm")
				}
				sh("git status")
				if _, err := os.Lstat(filepath.Join(s.home, "PWN")); (err == nil) == confined {
					t.Errorf("confined: %v, the command's program ran: %v", confined, err == nil)
				}
			}
		})
	}
}

// The repository that the operator stands in stays where it is when the directory above
// it is opened.
func TestExecOpensAboveItsRepository(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	repo := filepath.Join(plainDirectory(s), "R")
	s.git("init", "-q", repo)
	s.git("-C", repo, "config", "core.fsmonitor", "false") // a command's own repository with this is moved aside
	o := s.try(s.command("-C", repo, "exec", "--write", filepath.Dir(repo), "--", "touch", "../new"))
	_, err := os.Lstat(filepath.Join(repo, ".git", "HEAD"))
	if o.code != 0 || err != nil || strings.Contains(o.err, "aside") {
		t.Errorf("%v %+v", err, o)
	}
}

// togetherSite is a repository with a file a.
func togetherSite(t *testing.T, prepare string) (*site, func(text string) outcome) {
	t.Helper()
	s := newSite(t)
	sh := func(text string) outcome { return s.try(s.process("sh", "-c", obeyedPrelude+"cd "+s.repo+"; "+text)) }
	if o := sh("echo a >a; git add a; git commit -q -m a; " + prepare); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	return s, sh
}
