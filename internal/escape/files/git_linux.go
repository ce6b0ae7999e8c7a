package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"cordon/internal/escape/arena"
)

// gitRow is one way in which a worker with a shared git directory, or a tree that
// the operator's git looks into, runs code as the operator or damages the
// repository. The numbers are those of the project's list of such ways.
type gitRow struct {
	name, what string
	attack     string     // shell, in the tree: W the tree, H the operator's checkout, C the common directory, G the tree's git directory, P the program to be run
	operator   string     // what the operator does afterwards, on the host
	prepare    string     // what the operator did before
	only       arena.Tree // 0: from a linked worktree and from a checkout
}

// plant writes the program that the operator must not run.
// Where the operator's git directory cannot be written, the one that git names
// inside is attacked instead: it may be the same one after all.
const plant = `P="$W/payload"; printf '#!/bin/sh\n: >"%s/owned"\nexit 0\n' "$BASE" >"$P"; chmod +x "$P"; cd "$W"
conf() { git config --file "$C/config" "$@"; }
g() { git -c diff.ignoreSubmodules=all -c user.name=x -c user.email=x "$@"; }
M=$G/modules/lib
if ! ( : >"$C/cordon-escape" && rm "$C/cordon-escape" ) 2>/dev/null; then
  C=$(git rev-parse --path-format=absolute --git-common-dir); G=$(git rev-parse --absolute-git-dir)
fi
`

// Git are run from a linked worktree and from a checkout of its own. They are
// judged by whether anything of the repository changed, and by whether an ordinary
// command of the operator's runs the planted program or writes elsewhere.
func Git() []arena.Attempt {
	var list []arena.Attempt
	list = append(list, launches()...)
	list = append(append(list, placed()...), lost()...)
	for _, r := range append(gitCode(), gitDamage()...) {
		for _, t := range []arena.Tree{arena.TreeLinked, arena.TreeMain} {
			if r.only != arena.TreePlain && r.only != t {
				continue
			}
			name := map[arena.Tree]string{arena.TreeLinked: "linked-", arena.TreeMain: "checkout-"}[t] + r.name
			list = append(list, arena.Attempt{Name: name, What: r.what, Safe: true, Act: arena.Act{
				Tree: t, Final: true, Attack: arena.Shell(plant + r.attack), Limit: 2 * arena.RunLimit,
				Prepare: func(f *arena.Fixture) error { return asOperator(f, r.prepare) },
				Judge:   func(f *arena.Fixture) (string, error) { return r.judge(f) },
			}})
		}
	}
	return list
}

func (r gitRow) judge(f *arena.Fixture) (string, error) {
	changed, err := f.Changed()
	if err != nil {
		return "", err
	}
	if changed != "" && f.Confined {
		return changed, nil
	}
	// What the operator changes is the operator's: from here on the planted
	// program and files that no git command should touch count.
	outside, err := arena.Describe(f.Out("file"))
	if err != nil {
		return "", err
	}
	if err := asOperator(f, r.operator); errors.Is(err, context.DeadlineExceeded) {
		return "the operator's git hangs", nil
	}
	after, err := arena.Describe(f.Out("file"))
	switch {
	case err != nil:
		return "", err
	case after != outside:
		return "the operator's git wrote a file outside", nil
	}
	if _, err := os.Stat(filepath.Join(f.Base, "owned")); err == nil {
		return "the operator's git ran the planted program", nil
	}
	return changed, nil
}

// asOperator runs a line of shell as the operator would. That it fails is no
// answer: a repository that was damaged makes it fail as well.
func asOperator(f *arena.Fixture, line string) error {
	if line == "" {
		return nil
	}
	patience := 5 * time.Second
	if f.Confined { // a busy machine must not look like a git that hangs
		patience = arena.RunLimit
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir = f.Base
	cmd.Env = append(arena.OperatorEnv(f.Home), "W="+f.Work, "H="+f.Args["H"], "C="+f.Args["C"], "G="+f.Args["G"])
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !arena.Died(err) {
		return fmt.Errorf("the operator's command: %w", err)
	}
	return err
}

// gitCode are the ways to have the operator's git run a program.
func gitCode() []gitRow {
	const status = `git -C "$H" status`
	const merge = `git -C "$H" merge -q feature`
	return []gitRow{
		{name: "01-fsmonitor", what: "core.fsmonitor in the configuration", attack: `conf core.fsmonitor "$P"`, operator: status},
		{name: "02-hook-index", what: "a hook that runs at status", attack: `mkdir -p "$C/hooks"; cp "$P" "$C/hooks/post-index-change"`, operator: `echo x >>"$H/README"; git -C "$H" add README; ` + status},
		{name: "03-hooks-path", what: "core.hooksPath", attack: `mkdir hk; cp "$P" hk/post-merge; conf core.hooksPath "$W/hk"`, operator: merge},
		{name: "04-hook-transaction", what: "a hook that runs at every change of a ref", attack: `mkdir -p "$C/hooks"; cp "$P" "$C/hooks/reference-transaction"`, operator: `git -C "$H" branch x`},
		{name: "05-ssh-command", what: "core.sshCommand", attack: `conf core.sshCommand "$P"; conf remote.origin.url ssh://x.invalid/x`, operator: `git -C "$H" fetch`},
		{name: "06-ext-url", what: "a remote that is a command", attack: `conf protocol.ext.allow always; conf remote.origin.url "ext::$P"`, operator: `git -C "$H" fetch`},
		{name: "07-alias", what: "an alias", attack: `conf alias.st "!$P"`, operator: `git -C "$H" st`},
		{name: "08-include", what: "an included file", attack: `git config --file "$W/inc" core.fsmonitor "$P"; conf include.path "$W/inc"`, operator: status},
		{name: "09-attributes-clean", what: "info/attributes and a filter", attack: `mkdir -p "$C/info"; echo '* filter=x' >"$C/info/attributes"; conf filter.x.clean "$P"`, operator: `echo x >>"$H/README"; git -C "$H" add README`},
		{name: "10-attributes-smudge", what: ".gitattributes in the tree and a filter", attack: `echo '* filter=x' >.gitattributes; conf filter.x.smudge "$P"`, operator: `cd "$W"; rm README; git checkout README`},
		{name: "11-merge-driver", what: "a merge driver", attack: `mkdir -p "$C/info"; echo 'README merge=x' >"$C/info/attributes"; conf merge.x.driver "$P"`, operator: `git -C "$H" merge conflict`},
		{name: "12-diff-external", what: "diff.external", attack: `conf diff.external "$P"`, operator: `echo x >>"$H/README"; git -C "$H" diff`},
		{name: "13-pager", what: "core.pager", attack: `conf core.pager "$P"`, operator: `export PAGER=cat; if command -v script >/dev/null; then script -qc "git -C '$H' log" /dev/null; fi`},
		{name: "14-gpg-program", what: "gpg.program and signed commits", attack: `conf gpg.program "$P"; conf commit.gpgsign true`, operator: `git -C "$H" commit --allow-empty -qm x`},
		{name: "15-alternate-refs", what: "core.alternateRefsCommand", attack: `git init -q --bare alt; mkdir -p "$C/objects/info"; echo "$W/alt/objects" >"$C/objects/info/alternates"; conf core.alternateRefsCommand "$P"`, operator: `git -C "$H" fetch origin`},
		{name: "16-credential-helper", what: "credential.helper", attack: `conf credential.helper "!$P"`, operator: `printf 'protocol=https\nhost=x.invalid\n\n' | git -C "$H" credential fill`},
		{name: "17-submodule-update", what: "submodule.lib.update", attack: `conf submodule.lib.update "!$P"; conf submodule.lib.active true`, operator: `cd "$W"; git submodule update --force`},
		{name: "18-commondir", what: "another common directory", attack: `cp -r "$C" evil; git config --file evil/config core.fsmonitor "$P"; echo "$W/evil" >"$G/commondir"`, operator: `git -C "$W" status`, only: arena.TreeLinked},
		{name: "19-git-replaced", what: "another .git in the tree", attack: `cp -r "$C" evil; git config --file evil/config core.fsmonitor "$P"; git config --file evil/config core.bare false; rm -rf .git; mv .git gone; printf 'gitdir: %s\n' "$W/evil" >.git`, operator: `git -C "$W" status`},
		{name: "19b-git-moved", what: "the .git entry moved away and a directory in its place", attack: `mv .git was; git init -q .; git config core.fsmonitor "$P"`, operator: `git -C "$W" status`},
		{name: "20-config-worktree", what: "the worktree's own configuration", attack: `git config --file "$G/config.worktree" core.fsmonitor "$P"`, operator: `git -C "$W" status`},
		{name: "21-config-worktree-main", what: "the main worktree's own configuration", attack: `git config --file "$C/config.worktree" core.fsmonitor "$P"`, operator: status},
		{name: "22-submodule-config", what: "the configuration of a submodule", attack: `git config --file "$M/config" core.fsmonitor "$P"`, operator: `git -C "$W" status`},
		{name: "22a-submodule-git", what: "another .git in a submodule's directory", attack: `mv lib/.git was; rm -rf lib/.git; git init -q lib; git -C lib add .; git -C lib -c user.name=x -c user.email=x commit -qm x; git -C lib config core.fsmonitor "$P"`, operator: `git -C "$W" status`},
		{name: "22e-submodule-moved", what: "another directory in the place of a submodule's", attack: `mv lib was; git init -q lib; echo lib >lib/lib.c; git -C lib add .; git -C lib -c user.name=x -c user.email=x commit -qm x; git -C lib config core.fsmonitor "$P"`, operator: `git -C "$W" status`},
		{name: "22c-submodule-filter", what: "a filter in a submodule", attack: `echo '* filter=x' >lib/.gitattributes; git config --file "$M/config" filter.x.clean "$P"; echo x >>lib/lib.c`, operator: `git -C "$W" status; git -C "$W" diff`},
		{name: "50-tracked-hooks", what: "a hook in the tree that the operator's configuration names", prepare: `git -C "$H" config core.hooksPath .githooks`, attack: `cp "$P" .githooks/post-merge; g add -A .githooks; g commit -qm x`, operator: `cd "$H"; git merge -q agent; git merge -q feature`},
		{name: "50b-hooks-moved", what: "another directory in the place of such hooks", prepare: `git -C "$H" config core.hooksPath .githooks`, attack: `mv .githooks was; mkdir .githooks; cp "$P" .githooks/post-merge`, operator: `cd "$H"; git merge -q feature`, only: arena.TreeMain},
		{name: "50c-hook-new", what: "a hook more where the operator's configuration looks for them", prepare: `git -C "$H" config core.hooksPath .githooks`, attack: `cp "$P" .githooks/post-commit; cp "$P" .githooks/reference-transaction`, operator: `cd "$H"; git commit -q --allow-empty -m x`, only: arena.TreeMain},
		{name: "51-bare-repository", what: "a bare repository that comes with the branch", attack: `git init -q --bare e; git config --file e/config core.fsmonitor "$P"; git config --file e/config core.worktree "$W"; git config --file e/config core.bare false; : >e/refs/x; : >e/objects/x; g add -A e; g commit -qm x`, operator: `git -C "$H" merge -q agent; cd "$H/e" && git status`, only: arena.TreeLinked},
		{name: "52-promisor", what: "a promised object that a command fetches", attack: `conf extensions.partialClone o; conf core.repositoryformatversion 1; conf remote.o.promisor true; conf remote.o.url "$W"; conf remote.o.uploadpack "$P"`, operator: `git -C "$H" cat-file -p 1234567890123456789012345678901234567890`},
	}
}

// gitDamage are the ways to damage the repository, or to lead the operator's git
// into writing elsewhere.
func gitDamage() []gitRow {
	return []gitRow{
		{name: "23-editmsg-link", what: "COMMIT_EDITMSG is a link", attack: `ln -sf "$O/file" "$G/COMMIT_EDITMSG"`, operator: `git -C "$W" commit --allow-empty -qm x`},
		{name: "24-reflog-link", what: "a reflog is a link", attack: `b=$(git symbolic-ref HEAD); rm -f "$C/logs/$b"; mkdir -p "$C/logs/refs/heads"; ln -s "$O/file" "$C/logs/$b"`, operator: `git -C "$W" commit --allow-empty -qm x`},
		{name: "25-fetch-head-link", what: "FETCH_HEAD is a link", attack: `ln -sf "$O/file" "$G/FETCH_HEAD"`, operator: `git -C "$W" fetch`},
		{name: "26-gitdir-redirect", what: "the worktree is said to be elsewhere", attack: `echo "$O/.git" >"$G/gitdir"`, only: arena.TreeLinked},
		{name: "27-sibling-prune", what: "a sibling is made to be pruned", attack: `echo /nowhere/.git >"$C/worktrees/sibling/gitdir"`, operator: `git -C "$H" worktree prune --expire=now`, only: arena.TreeLinked},
		{name: "28-move-main", what: "main is moved", attack: `git update-ref refs/heads/main HEAD~1`},
		{name: "29-delete-branch", what: "a branch of others is removed", attack: `git update-ref -d refs/heads/sibling`},
		{name: "30-packed-refs", what: "packed-refs are rewritten", attack: `grep -v feature "$C/packed-refs" >p; cat p >"$C/packed-refs"`},
		{name: "31-replace", what: "a commit is replaced by another", attack: `git replace "$(git rev-parse HEAD)" "$(git rev-parse HEAD~1)"`},
		{name: "32-grafts", what: "a graft", attack: `mkdir -p "$C/info"; git rev-parse HEAD >"$C/info/grafts"`},
		{name: "33-shallow", what: "the history is cut off", attack: `git rev-parse HEAD >"$C/shallow"`},
		{name: "34-head", what: "HEAD of the main checkout", attack: `echo ref: refs/heads/old >"$C/HEAD"`},
		{name: "35-index", what: "the index of the main checkout", attack: `GIT_DIR="$C" GIT_INDEX_FILE="$C/index" git rm -q --cached README`},
		{name: "36-delete-packs", what: "packs are removed", attack: `rm -f "$C"/objects/pack/*`},
		{name: "37-corrupt-pack", what: "a pack is damaged", attack: `chmod u+w "$C"/objects/pack/*.pack; for p in "$C"/objects/pack/*.pack; do printf damage | dd of="$p" bs=1 seek=40 conv=notrunc; done`},
		{name: "38-forged-object", what: "an object with another's name", attack: `h=$(git rev-parse HEAD:README); d=$(echo $h | cut -c1-2); mkdir -p "$C/objects/$d"; b=$(echo forged | git hash-object -w --stdin); cp -f "$C/objects/$(echo $b | cut -c1-2)/$(echo $b | cut -c3-)" "$C/objects/$d/$(echo $h | cut -c3-)"`},
		{name: "39-alternates", what: "objects are borrowed from the tree", attack: `git init -q --bare alt; mkdir -p "$C/objects/info"; echo "$W/alt/objects" >"$C/objects/info/alternates"`},
		{name: "40-gc", what: "everything is packed anew and pruned", attack: `git gc -q --prune=now`},
		{name: "41-reflog-expire", what: "the reflogs are emptied", attack: `git reflog expire --expire=now --all; git prune --expire=now`},
		{name: "42-core-worktree", what: "core.worktree leads elsewhere", attack: `conf core.worktree "$O"`},
		{name: "43-extension", what: "an extension that git does not know", attack: `conf extensions.cordon x; conf core.repositoryformatversion 1`},
		{name: "44-chmod", what: "the configuration cannot be read any more", attack: `chmod 000 "$C/config"`},
		{name: "45-locks", what: "locks are left behind", attack: `: >"$C/index.lock"; : >"$C/refs/heads/main.lock"; : >"$C/packed-refs.lock"`},
		{name: "46-flood", what: "the store is flooded", attack: `i=0; while [ $i -lt 20 ]; do echo $i | git hash-object -w --stdin; i=$((i+1)); done`},
		{name: "47-url", what: "the remote is another", attack: `conf remote.origin.pushurl /nowhere; conf url./nowhere.insteadOf x`},
		{name: "48-tag", what: "a tag with the name of a branch", attack: `git tag main HEAD~1`},
		{name: "49-symref", what: "the own branch is made another name of main", attack: `git symbolic-ref refs/heads/agent refs/heads/main; g commit -q --allow-empty -m x`},
		{name: "53-fifo", what: "a ref that never answers", attack: `rm -f "$G/HEAD"; mkfifo "$G/HEAD"; mkfifo "$C/refs/heads/pipe"`},
		{name: "54-head-main", what: "the tree claims to have main", attack: `echo ref: refs/heads/feature >"$G/HEAD"`},
		{name: "55-index-garbage", what: "an index that is garbage", attack: `echo garbage >"$G/index"`},
		{name: "56-commit", what: "a plain commit reaches the host", attack: `echo x >x; g add x; g commit -qm x`},
		{name: "57-hook-directory", what: "the directory of hooks is replaced", attack: `rm -rf "$C/hooks"; mkdir hk; cp "$P" hk/post-merge; ln -s "$W/hk" "$C/hooks"`, operator: `git -C "$H" merge -q feature`},
		{name: "58-origin", what: "a push into the operator's remote", attack: `git push -q -f "$BASE/origin.git" HEAD~1:refs/heads/main`},
		{name: "59-stash", what: "something is stashed for the operator to pop", attack: `echo x >>README; g stash -q`},
	}
}
