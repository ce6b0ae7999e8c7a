package files

import (
	"os"
	"path/filepath"

	"cordon/internal/escape/arena"
)

// launches are traps that lie in the tree before cordon is started in it: a
// worker left them there, and what it wants is that cordon itself, on the host,
// runs them. They are sprung in the control by an ordinary git status.
func launches() []arena.Attempt {
	const payload = `printf '#!/bin/sh\n: >"%s/owned"\nexit 0\n' "$PWD" >payload; chmod +x payload; P=$PWD/payload; cd work; `
	const repo = payload + `git init -q .; git add own; git commit -qm x; `
	var list []arena.Attempt
	for _, l := range []struct{ name, what, trap, attack string }{
		{"fsmonitor", "core.fsmonitor of the tree's repository", repo + `git config core.fsmonitor "$P"`, "git status"},
		{"hook", "a hook of the tree's repository", repo + `cp "$P" .git/hooks/post-index-change; touch own`, "git status"},
		{"include", "configuration that the repository includes", repo + `git config --file dir/inc core.fsmonitor "$P"; git config include.path ../dir/inc`, "git status"},
		{"filter", "a filter of the tree's repository", repo + `echo '* filter=x' >.gitattributes; git config filter.x.clean "$P"; echo x >own`, "git status; git diff"},
		{"git-file", "a .git file that names a repository in the tree", repo + `git config core.fsmonitor "$P"; mv .git dir/repo; echo "gitdir: dir/repo" >.git`, "git status"},
		{"git-link", "a .git that is a link", repo + `git config core.fsmonitor "$P"; mv .git dir/repo; ln -s dir/repo .git`, "git status"},
		{"path", "a program called git in a directory that PATH names relatively", payload + `cp "$P" git`, "git status"},
	} {
		list = append(list, arena.Attempt{Name: "launch-" + l.name, What: "have cordon run a trap: " + l.what, Safe: true, Act: arena.Act{
			Launch: true, Attack: arena.Shell(l.attack),
			Prepare: func(f *arena.Fixture) error {
				if l.name == "path" {
					f.Env = append(f.Env, "PATH=.:"+os.Getenv("PATH"))
				}
				if err := os.MkdirAll(filepath.Join(f.Base, "work/dir"), 0o755); err != nil {
					return err
				}
				return asOperator(f, l.trap)
			},
			Judge: trapSprung,
		}})
	}
	for _, t := range []struct {
		name string
		tree arena.Tree
	}{{"relaunch-linked", arena.TreeLinked}, {"relaunch-checkout", arena.TreeMain}} {
		list = append(list, arena.Attempt{Name: t.name, What: "have cordon run, at the next start, what was put into the private repository", Safe: true, Act: arena.Act{
			Tree: t.tree, Twice: true, Attack: arena.Shell(plant + mine), Judge: trapSprung,
		}})
	}
	return list
}

// mine puts a program wherever git would run one, in the repository that git names.
const mine = `C=$(git rev-parse --path-format=absolute --git-common-dir)
mkdir -p "$C/hooks" "$C/info"
for h in post-checkout post-commit post-index-change pre-commit post-merge reference-transaction post-rewrite pre-auto-gc; do cp "$P" "$C/hooks/$h"; done
echo '* filter=x diff=x merge=x' >"$C/info/attributes"; cp "$C/info/attributes" .gitattributes
for k in core.fsmonitor core.sshCommand core.pager core.editor diff.external gpg.program filter.x.clean filter.x.smudge filter.x.process diff.x.textconv merge.x.driver core.alternateRefsCommand; do conf "$k" "$P"; done
conf commit.gpgsign true
git status; git commit --allow-empty -m x`

func trapSprung(f *arena.Fixture) (string, error) {
	if _, err := os.Stat(filepath.Join(f.Base, "owned")); err == nil {
		return "the trap was run on the host", nil
	}
	return "", nil
}
