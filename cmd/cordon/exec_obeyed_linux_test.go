package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// obeyedPrelude are what the scripts below are written with. Every program that git must
// not run makes ~/PWN.
const obeyedPrelude = `set -e
program() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\ntouch ~/PWN\nexit 1\n' >"$1"; chmod +x "$1"; }
hook() { program "$1/post-index-change"; }
config() { printf '[core]\n\tfsmonitor = "touch ~/PWN; false"\n' >"$1"; }
plant() { mkdir -p $1/.git/objects $1/.git/refs; echo "ref: refs/heads/main" >$1/.git/HEAD; config $1/.git/config; }
repo() { git init -q $1; echo a >$1/a; git -C $1 add a; git -C $1 commit -q -m a; }
use() { echo b >>$1/a; git -C $1 add a || true; git -C $1 status || true; }
`

// obeyedCase is an attack by what the operator's git runs or obeys. The operator prepares
// it and uses git afterwards; in between the command runs. All is done in the directory
// plain, or where another directory is opened, in a repository. An @ stands for the
// directory above that.
type obeyedCase struct {
	prepare, attack, use string
	flags                []string
	env                  []string // of the operator
	said                 string   // on stderr of cordon
}

var obeyedCases = map[string]obeyedCase{
	"hooks of a nested repository": {
		prepare: `repo A; mkdir A/.husky; touch A/.husky/x; git -C A config core.hooksPath .husky`,
		attack:  `hook A/.husky`, use: `use A`, said: "/A/.husky aside as ",
	},
	"a hook of a nested repository that is a link": {
		prepare: `repo A; program A/tools/h; echo : >A/tools/h; ln -s ../../tools/h A/.git/hooks/post-index-change`,
		attack:  `program A/tools/h`, use: `use A`, said: "/A/tools/h aside as ",
	},
	"a program of a nested repository": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; git -C A config core.fsmonitor tools/x`,
		attack:  `program A/tools/x`, use: `use A`, said: "/A/tools/x aside as ",
	},
	"a second name of a program": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; mkdir A/lib; ln A/tools/x A/lib/x; git -C A config core.fsmonitor tools/x`,
		attack:  `program A/lib/x`, use: `use A`, said: "",
	},
	"hooks of a submodule": {
		prepare: `repo S; repo A; git -C A -c protocol.file.allow=always submodule --quiet add ../S sub; git -C A/sub config core.hooksPath hooks`,
		attack:  `hook A/sub/hooks`, use: `use A/sub`, said: "/A/sub/hooks aside as ",
	},
	"a repository around what is opened": {
		prepare: `repo @/R; mkdir @/R/sub; git -C @/R config core.hooksPath sub/hooks`, flags: []string{"--write", "@/R/sub"},
		attack: `hook @/R/sub/hooks`, use: `use @/R`, said: "/R/sub/hooks aside as ",
	},
	"a file that the operator includes": {
		prepare: `repo @/R; touch inc; git config --global include.path @/plain/inc`,
		attack:  `config inc`, use: `use @/R`, said: "/inc aside as ",
	},
	"a link on the way to what git runs": {
		prepare: `repo A; mkdir -p A/tools/hooks; ln -s tools A/t; git -C A config core.hooksPath t/hooks`,
		attack:  `rm A/t; hook A/t/hooks`, use: `use A`, said: "/A/t aside as ",
	},
	"a link in the place of the directory above": {
		prepare: `repo A; mkdir A/t; touch A/t/x; git -C A config core.hooksPath t/hooks`,
		attack:  `rm -r A/t; hook A/u/hooks; ln -s u A/t`, use: `use A`, said: "/A/t aside as ",
	},
	"a .git file that leads nowhere": {
		prepare: `git config --global core.hooksPath .githooks; mkdir sub; echo 'gitdir: ../store/gd' >sub/.git`,
		attack:  harmlessStore, use: `use sub`, said: "/sub/.githooks aside as ",
	},
	"a .git at the top that leads nowhere": {
		prepare: `echo 'gitdir: gone' >.git`,
		attack:  `rm -f .git; plant .; echo a >a`, use: `use .`, said: "/plain/.git aside as ",
	},
	"a new repository and the operator's relative hooks": {
		prepare: `git config --global core.hooksPath .githooks`,
		attack:  `git init -q n; echo a >n/a; hook n/.githooks`, use: `use n`, said: "/n/.git aside as ",
	},
	"a new repository and the operator's program beside it": {
		prepare: `git config --global core.fsmonitor ../tools/x`,
		attack:  `git init -q d/n; echo a >d/n/a; program d/tools/x`, use: `use d/n`, said: "/d/n/.git aside as ",
	},
}

// harmlessStore makes a repository in store/gd that runs nothing itself, and hooks in sub.
const harmlessStore = `git init -q --bare store/gd; rm -f store/gd/hooks/*; git --git-dir=store/gd config core.bare false; hook sub/.githooks; echo a >sub/a`

// obeyedRarer are more of the same.
var obeyedRarer = map[string]obeyedCase{
	"a second name of a hook": {
		prepare: `repo A; hook A/.husky; echo : >A/.husky/post-index-change; mkdir A/lib; ln A/.husky/* A/lib/h; git -C A config core.hooksPath .husky`,
		attack:  `program A/lib/h`, use: `use A`, said: "",
	},
	"a second name of a program in a directory that is renamed": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; mkdir A/lib; ln A/tools/x A/lib/x; git -C A config core.fsmonitor tools/x`,
		attack:  `mv A/lib A/lib2; program A/lib2/x`, use: `use A`, said: "",
	},
	"a new name of a program": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; git -C A config core.fsmonitor tools/x`,
		attack:  `ln A/tools/x A/y; program A/y`, use: `use A`, said: "",
	},
	"a new name of a hook": {
		prepare: `repo A; hook A/.husky; echo : >A/.husky/post-index-change; git -C A config core.hooksPath .husky`,
		attack:  `ln A/.husky/post-index-change A/y; program A/y`, use: `use A`, said: "",
	},
	"a second name elsewhere of a file that is opened twice": {
		prepare: `repo @/R; mkdir @/R/lib; program @/x; echo : >@/x; ln @/x @/R/lib/x; git config --global core.fsmonitor @/x`,
		flags:   []string{"--write", "@/R", "--write", "@/R/lib"},
		attack:  `program @/R/lib/x`, use: `use @/R`, said: "",
	},
	"a second name of a file that deny_write names": {
		prepare: `program tools/x; echo : >tools/x; mkdir lib; ln tools/x lib/x
			printf 'version: 1\nfilesystem:\n  write_roots: ["."]\n  deny_write: [tools/x]\n' >@/policy.yaml`,
		flags:  []string{"--policy", "@/policy.yaml"},
		attack: `program lib/x`, use: `tools/x`, said: "",
	},
	"a .git link that leads nowhere": {
		prepare: `git config --global core.hooksPath .githooks; mkdir sub; ln -s ../store/gd sub/.git`,
		attack:  harmlessStore, use: `use sub`, said: "/store/gd aside as ",
	},
	"a .git link to a file": {
		prepare: `repo A; mv A/.git gd; echo 'gitdir: ../gd' >gf; ln -s ../gf A/.git; git -C A status`,
		attack:  `git init -q --bare n; config n/config; echo 'gitdir: ../n' >gf`, use: `use A`, said: "/gf aside as ",
	},
	"an empty .git at the top": {
		prepare: `mkdir .git`,
		attack:  `plant .; echo a >a`, use: `use .`, said: "/plain/.git aside as ",
	},
	"hooks of a nested repository that are not there": {
		prepare: `repo A; git -C A config core.hooksPath .husky/_`,
		attack:  `hook A/.husky/_`, use: `use A`, said: "/A/.husky aside as ",
	},
	"a file that a nested repository includes": {
		prepare: `repo A; touch inc; git -C A config include.path ../../inc`,
		attack:  `config inc`, use: `use A`, said: "/inc aside as ",
	},
	"a file that a file includes that a nested repository includes": {
		prepare: `repo A; git -C A config include.path @/outer; printf '[include]\n\tpath = @/plain/inc\n' >@/outer`,
		attack:  `config inc`, use: `use A`, said: "/inc aside as ",
	},
	"a file that is included under a condition": {
		prepare: `repo A; touch inc; git -C A config includeIf.onbranch:other.path @/plain/inc`,
		attack:  `config inc`, use: `git -C A checkout -q -b other; use A`, said: "/inc aside as ",
	},
	"attributes of a nested repository that are a link": {
		prepare: `repo A; mkdir -p A/.git/info; touch attr; ln -s ../../../attr A/.git/info/attributes; git -C A config filter.x.clean 'touch ~/PWN; cat'`,
		attack:  `echo 'a filter=x' >attr`, use: `use A`, said: "/attr aside as ",
	},
	"hooks of a linked worktree of a nested repository": {
		prepare: `repo A; git -C A worktree add -q ../W; git -C A config extensions.worktreeConfig true; git -C W config --worktree core.hooksPath hooks`,
		attack:  `hook W/hooks`, use: `use W`, said: "/W/hooks aside as ",
	},
	"hooks of a bare repository by a setting": {
		prepare: `repo A; git init -q --bare B.git; git -C B.git config core.hooksPath ../shared`,
		attack:  `program shared/update`, use: `git -C A push -q ../B.git HEAD:main || true`, said: "/shared aside as ",
	},
	"a repository whose files lie elsewhere": {
		prepare: `repo A; mv A/.git store; git --git-dir=store config core.worktree @/plain/A; git --git-dir=store config core.hooksPath hooks`,
		attack:  `hook A/hooks`, use: `echo b >A/a; git --git-dir=store add a`, said: "/A/hooks aside as ",
	},
	"a file that the operator includes and that is not there": {
		prepare: `repo @/R; git config --global include.path @/plain/conf/inc`,
		attack:  `mkdir conf; config conf/inc`, use: `use @/R`, said: "/conf/inc aside as ",
	},
	"a file that the operator includes, opened": {
		prepare: `repo @/R; mkdir @/conf; touch @/conf/inc; git config --global include.path @/conf/inc`, flags: []string{"--write", "@/conf"},
		attack: `config @/conf/inc`, use: `use @/R`, said: "/conf/inc aside as ",
	},
	"a program that the operator names": {
		prepare: `repo @/R; program x; echo : >x; git config --global core.fsmonitor @/plain/x`,
		attack:  `program x`, use: `use @/R`, said: "/plain/x aside as ",
	},
	"the operator's file that is a link": {
		prepare: `repo @/R; mv ~/.gitconfig dotfile; ln -s @/plain/dotfile ~/.gitconfig`,
		attack:  `config dotfile`, use: `use @/R`, said: "/dotfile aside as ",
	},
	"a new repository and the operator's relative program": {
		prepare: `git config --global core.fsmonitor tools/x`,
		attack:  `git init -q n; echo a >n/a; program n/tools/x`, use: `use n`, said: "/n/.git aside as ",
	},
	"a new repository and a script that the operator names": {
		prepare: `git config --global core.fsmonitor 'sh mon.sh'`,
		attack:  `git init -q n; echo a >n/a; program n/mon.sh`, use: `use n`, said: "/n/.git aside as ",
	},
	"a script of a nested repository that is not there": {
		prepare: `repo A; git -C A config core.fsmonitor 'sh mon'; repo B; git -C B config core.fsmonitor 'sh mon'`,
		attack:  `program B/mon`, use: `use B`, said: "/B/mon aside as ",
	},
	"a new repository with a link to hooks that come later": {
		prepare: `git config --global core.hooksPath .githooks`,
		attack:  `git init -q n; echo a >n/a; ln -s ../later n/.githooks`, use: `hook later; use n`, said: "/n/.git aside as ",
	},
	"hooks in a plain directory that becomes a repository": {
		prepare: `git config --global core.hooksPath .githooks`,
		attack:  `hook .githooks`, use: `git init -q .; use .`, said: "/.githooks aside as ",
	},
}

// The operator's git runs nothing that a command under exec wrote, whichever repository
// names it. Without cordon it does.
func TestExecObeyed(t *testing.T) { playObeyed(t, obeyedCases) }

func TestExecObeyedAll(t *testing.T) {
	playObeyed(t, obeyedRarer)
}

func playObeyed(t *testing.T, cases map[string]obeyedCase) {
	t.Parallel()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, ran := c.play(t, false); !ran {
				t.Fatal("git runs nothing without cordon: this shows nothing")
			}
			if o, ran := c.play(t, true); ran || !strings.Contains(o.err, c.said) {
				t.Errorf("git ran what the command wrote (%v), or %q was not said:\n%s", ran, c.said, o.err)
			}
		})
	}
}

// play goes through a case and reports whether git ran the program.
func (c obeyedCase) play(t *testing.T, confined bool) (outcome, bool) {
	t.Helper()
	s := newSite(t)
	dir := plainDirectory(s)
	base := filepath.Dir(s.repo)
	if c.flags != nil {
		dir = s.repo
	}
	script := func(text string) []string {
		return []string{"sh", "-c", obeyedPrelude + strings.ReplaceAll(text, "@", base)}
	}
	run := func(argv []string) outcome {
		cmd := s.process(argv[0], argv[1:]...)
		cmd.Dir = dir
		for _, v := range c.env {
			cmd.Env = append(slices.Clone(cmd.Env), strings.ReplaceAll(v, "@", base))
		}
		return s.try(cmd)
	}
	if o := run(script(c.prepare)); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	if _, err := os.Lstat(filepath.Join(s.home, "PWN")); err == nil {
		t.Fatal("the program ran before it was there")
	}
	attack := script(c.attack)
	if confined {
		flags := []string{"cordon", "exec"}
		for _, f := range c.flags {
			flags = append(flags, strings.ReplaceAll(f, "@", base))
		}
		attack = append(append(flags, "--"), attack...)
	}
	o := run(attack)
	run(script(c.use))
	_, err := os.Lstat(filepath.Join(s.home, "PWN"))
	return o, err == nil
}

// What is taken away is never something of the operator's that a link leads to.
func TestExecTakesNothingBehindLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("repo/t/s/x", "x\n")
	s.git("config", "core.hooksPath", "t/s/hooks")
	kept := s.write("theirs/s/hooks/kept", "x\n")
	o := s.try(s.command("exec", "--", "sh", "-c", "rm -r t; ln -s "+s.place("theirs")+" t"))
	if _, err := os.Lstat(kept); err != nil || !strings.Contains(o.err, "/repo/t aside as ") {
		t.Errorf("%v %+v", err, o)
	}
}

// What people have in their configuration keeps no command from its work.
func TestExecOrdinaryConfiguration(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	for key, value := range map[string]string{
		"core.hooksPath": "~/.hooks", "core.pager": "delta", "interactive.diffFilter": "delta --color-only", "core.excludesFile": "~/.gitignore",
		"filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.smudge": "git-lfs smudge -- %f", "filter.lfs.process": "git-lfs filter-process",
		"credential.helper": "cache --timeout=3600", "alias.lg": "log --graph", "core.editor": "code --wait", "init.templateDir": "~/.git-template",
		"url.git@example.com:.insteadOf": "https://example.com/", "gpg.program": "gpg", "includeIf.gitdir:~/work/.path": "~/work.inc",
		"alias.f": "!f() { vim src/$1; git log -- src/*; }; f", "gpg.ssh.program": "/opt/1Password/op-ssh-sign", "sequence.editor": "$EDITOR",
		"credential.https://example.com.helper": "!/usr/bin/gh auth git-credential", "diff.tool": "vimdiff", "pager.log": "${PAGER:-less} -R",
		"difftool.code.cmd": `code --wait --diff "$LOCAL" "$REMOTE"`, "branch.main.remote": "origin", "branch.main.pushRemote": "src",
	} {
		s.git("config", "--global", key, value)
	}
	work := `set -e; for i in 1 2 3; do git init -q n$i; mkdir -p n$i/src n$i/hooks; echo a >n$i/src/a; git -C n$i add .
		git -C n$i -c user.name=x -c user.email=x@x commit -q -m a; done; mkdir -p hooks src origin; touch hooks/pre-commit src/a clean.txt origin/a`
	for range 2 { // the second time, the repositories are there
		if o := s.try(s.command("-C", dir, "exec", "--", "sh", "-c", work)); strings.Contains(o.err, "aside") || strings.Contains(o.err, "CAREFUL") {
			t.Errorf("%+v", o)
		}
		work = `echo b >n1/src/a; touch n2/new n3/x src/b origin/b; mkdir -p n1/tools`
	}
}

// The directory that the operator's git takes its hooks from is opened only by its name.
func TestExecInDirectoryOfHooks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	s.git("config", "--global", "core.hooksPath", dir)
	for flag, code := range map[string]int{"-v": 0, "--live": 3} {
		if o := s.try(s.command("-C", dir, "exec", flag, "--", "touch", "new")); o.code != code || !strings.Contains(o.err, "core.hookspath in "+s.home+"/.gitconfig") {
			t.Errorf("%s: %+v", flag, o)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("a hook of the command's is in the directory")
	}
	cmd := s.command("exec", "--write", ".", "--", "touch", "new")
	cmd.Dir = dir
	if o := s.try(cmd); o.code != 0 {
		t.Errorf("%+v", o)
	}
}
