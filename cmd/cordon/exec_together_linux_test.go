package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two commands run at once. The first leaves something that cordon moves aside when it
// ends. The second, which began meanwhile, puts its own in that place: it was not there
// before for the second one either.
func TestExecTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prepare, first, second, use, said string }{
		"a repository": {
			prepare: "mkdir sub", first: "plant sub",
			second: "until mkdir sub/.git; do sleep 0.01; done; plant sub", use: "git -C sub status", said: "/sub/.git aside to ",
		},
		"a program": {
			prepare: "git config core.fsmonitor tools/later", first: "program tools/later",
			second: "while [ -e tools/later ]; do sleep 0.01; done; program tools/later", use: "use .", said: "/tools/later aside to ",
		},
		"a link on the way to hooks": {
			prepare: "mkdir t; touch t/x; git config core.hooksPath t/hooks", first: "rm -r t; mkdir -p u/hooks; ln -s u t",
			second: "rm -rf t || true; until mkdir t; do sleep 0.01; done; hook t/hooks", use: "use .",
			said: "", // the link is held, and when it is moved aside, the command is ended, maybe before it has made anything
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, sh := togetherSite(t, c.prepare)
			sh(c.second)
			sh(c.use)
			if _, err := os.Lstat(filepath.Join(s.home, "PWN")); err != nil {
				t.Fatalf("git runs nothing without cordon: this shows nothing (%v)", err)
			}

			s, sh = togetherSite(t, c.prepare)
			first := s.start(nil, "exec", "--", "sh", "-c", obeyedPrelude+c.first+"; echo 1 >first; until [ -e second ]; do sleep 0.01; done")
			first.until(filepath.Join(s.repo, "first"))
			o := s.try(s.command("exec", "--", "sh", "-c", obeyedPrelude+"touch second; "+c.second))
			<-first.done
			sh(c.use)
			if _, err := os.Lstat(filepath.Join(s.home, "PWN")); err == nil {
				t.Errorf("git ran what the second command wrote:\n%s\n%+v", first.errs.String(), o)
			}
			if !strings.Contains(first.errs.String(), "aside to ") || !strings.Contains(o.err, c.said) {
				t.Errorf("nothing was moved aside:\n%s\n%+v", first.errs.String(), o)
			}
		})
	}
}

// A repository that came to be while a command could write there is not entered.
func TestExecInRepositoryOfAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	first := s.start(nil, "-C", dir, "exec", "--", "sh", "-c", "git init -q n; echo 1 >first; until [ -e second ]; do sleep 0.01; done")
	first.until(filepath.Join(dir, "first"))
	inside := func() outcome { return s.try(s.command("-C", filepath.Join(dir, "n"), "exec", "--", "true")) }
	if o := inside(); o.code != 3 || !strings.Contains(o.err, "/n/.git appeared while") {
		t.Errorf("%+v", o)
	}
	s.write("plain/second", "")
	<-first.done
	if o := inside(); o.code != 0 { // it runs nothing and stays
		t.Errorf("%+v", o)
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
