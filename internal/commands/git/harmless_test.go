package git

// gitHarmless is what agents type all day.
const gitHarmless = `
git status
git status --short
git status -sb
git status --porcelain=v2 --branch
git status -uno src
git diff
git diff --stat
git diff --cached
git diff --staged --name-only
git diff HEAD~4
git diff HEAD~1 HEAD -- src/main.go
git diff main...HEAD
git diff main..HEAD --stat
git diff origin/main -- .
git diff --name-only --diff-filter=ACM
git diff -U0 --word-diff=color
git diff --no-index a b
git diff --no-index /dev/null src/main.go
git diff --no-color --no-ext-diff --unified=3 HEAD
git diff ATOM ATOM
git diff ANY
git diff > /dev/null
git diff -S "../../x" -- src
git diff stash@{0}
git diff HEAD:a.go HEAD:b.go
git diff --check
git diff --output=/tmp/d.patch
git log
git log --oneline -5
git log --oneline --graph --all --decorate -n 20
git log -p --follow -- src/main.go
git log --since="2 weeks ago" --author=me
git log --grep="/w/repo" --grep=../../x
git log -S"/w/repo" --pickaxe-all
git log --format="%h %s" main..HEAD
git log -1 --format=%H
git log -L 10,20:src/main.go
git log origin/main..origin/feature/x
git log --all --source -- "*.go"
git log ANY..HEAD
git show
git show HEAD
git show HEAD~2:src/main.go
git show HEAD:../README.md
git show --stat --format=fuller abc1234
git show origin/main:pkg/a/a.go
git show :/fix
git show abc1234 -- src
git blame -L 1,10 src/main.go
git blame -w -C -C src/main.go
git add .
git add -A
git add -u src
git add -p
git add src/main.go pkg/a/a.go
git add /w/repo/.worktrees/s1/src/main.go
git add link-out readme-link
git add -- ":!vendor" .
git add ":/"
git add -N new.go
git commit -m "fix: block git -C /w/repo and ../../ traversal"
git commit -am "docs: never cd /w/repo"
git commit --amend --no-edit
git commit -m x -m "../../y" --author="A <a@b>"
git commit --allow-empty -m x
git commit -F /tmp/msg
git commit -F - << fix /w/repo
git commit --fixup HEAD~2
git commit -m x -- src/main.go
git commit --no-verify -S -m x
git -c user.name=bot -c user.email=bot@x commit -m x
git -c commit.gpgsign=false commit -m x
git -c core.hooksPath=/dev/null commit -m x
git -c core.editor=true rebase --continue
git -c core.pager=cat log
git -c core.pager= log
git -c color.ui=never diff
git -c core.quotepath=off ls-files
git -c advice.detachedHead=false checkout HEAD~1
git -c sequence.editor=: rebase -i --autosquash main
git -c protocol.version=2 fetch origin
git -c http.extraHeader="X: /w/repo" fetch
git -c diff.noprefix=true diff
git -c alias.st=status st
git -c alias.x="!echo hi" x
GIT_PAGER=cat git log -1
PAGER=cat git show
GIT_PAGER="less -FRX" git log
GIT_EDITOR=true git merge --continue
EDITOR=: git commit --amend
GIT_SEQUENCE_EDITOR="sed -i s/pick/squash/" git rebase -i HEAD~2
GIT_AUTHOR_DATE=2020-01-01 GIT_COMMITTER_DATE=2020-01-01 git commit -m x
GIT_TERMINAL_PROMPT=0 git fetch
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git status
GIT_CONFIG_NOSYSTEM=1 git log
GIT_TRACE=1 git fetch
GIT_SSH_COMMAND="ssh -o StrictHostKeyChecking=no" git fetch origin
GIT_DIR=.git git status
GIT_INDEX_FILE=/tmp/index git add .
GIT_OPTIONAL_LOCKS=0 git status
HOME=/tmp git status
git -C . log -1
git -C src status
git -C src -C .. status
git -C /w/repo/.worktrees/s1 status
git -C /w/repo/.worktrees/s1 add -A
git -C /tmp/clone pull
git --no-pager diff
git --no-optional-locks status
git --work-tree=/w/repo/.worktrees/s1 status
git --literal-pathspecs add x
git -p log
git branch
git branch -a
git branch -vv
git branch --show-current
git branch --list "feature/*"
git branch --contains HEAD
git branch -r --merged main
git branch new-idea
git branch backup HEAD~1
git branch -v --sort=-committerdate
git checkout -b feature/x
git checkout -b feature/x origin/main
git checkout -- src/main.go
git checkout HEAD -- .
git checkout HEAD~1 src/main.go
git checkout origin/main -- src
git checkout src/main.go
git checkout .
git checkout -
git checkout --detach
git checkout --theirs src/main.go
git checkout abc1234
git checkout -p
git switch -c fix
git switch -
git switch --detach HEAD~1
git restore src/main.go
git restore --staged .
git restore --source=HEAD~1 -- src
git reset
git reset HEAD src/main.go
git reset --hard HEAD~1
git reset --soft origin/main
git reset -q -- src
git rm -r --cached build
git rm src/main.go
git mv src/main.go src/app.go
git clean -fd
git clean -ndx
git fetch
git fetch origin
git fetch --all --prune --tags
git fetch origin main
git fetch --depth=1 origin abc1234
git fetch origin pull/12/head
git pull
git pull --rebase
git pull --ff-only origin main
git push
git push -u origin HEAD
git push origin s1
git push origin main
git push --force-with-lease origin s1
git push origin HEAD:refs/heads/s1
git push -o ci.skip
git push --dry-run origin HEAD:main
git merge origin/main
git merge --no-ff -m "x ../../" feature
git merge --abort
git merge-base main HEAD
git merge-base --is-ancestor main HEAD
git merge-tree --write-tree main HEAD
git rebase origin/main
git rebase --onto main HEAD~3
git rebase -i HEAD~3
git rebase --continue
git rebase -x "go test ./..." main
git cherry-pick abc1234
git cherry-pick -x abc1234..def5678
git cherry-pick --continue
git revert --no-edit HEAD
git tag
git tag --list "v*" --sort=-v:refname
git tag v1.2.3
git tag -a v1 -m "see ../../x"
git tag --points-at HEAD
git describe --tags --always --dirty
git rev-parse HEAD
git rev-parse --short HEAD
git rev-parse --show-toplevel
git rev-parse --abbrev-ref HEAD
git rev-parse --git-dir
git rev-parse --verify -q origin/main
git rev-list --count main..HEAD
git rev-list --left-right --count origin/main...HEAD
git ls-files
git ls-files -o --exclude-standard
git ls-files "*.go" src
git ls-tree -r --name-only HEAD
git ls-remote origin
git ls-remote --tags https://github.com/x/y
git cat-file -p HEAD:src/main.go
git cat-file -t abc1234
git show-ref --heads
git for-each-ref --format="%(refname:short)" refs/heads
git symbolic-ref --short HEAD
git name-rev HEAD
git shortlog -sn
git reflog
git reflog -5 --date=iso
git stash list
git stash show -p stash@{0}
git worktree list
git remote
git remote -v
git remote get-url origin
git remote show origin
git config user.name
git config --get remote.origin.url
git config --list --show-origin
git config --global user.email
git config get user.name
git grep -n "TODO"
git grep -l "/w/repo"
git grep -nE "foo|bar" -- "*.go"
git grep -e ../../x HEAD -- src
git grep -n foo main
git apply fix.patch
git apply --check /tmp/fix.patch
git apply -R --index fix.patch
git apply << +++ b/src/x
git am 0001-x.patch
git am --abort
git format-patch -1
git format-patch -1 -o build
git format-patch origin/main --stdout
git format-patch -3 -o /tmp/patches
git archive -o build/x.tar HEAD
git archive --format=tar --prefix=x/ HEAD
git archive HEAD -o /tmp/x.zip
git bundle create /tmp/b.bundle HEAD
git clone https://github.com/x/y
git clone --depth 1 https://github.com/x/y /tmp/y
git clone git@github.com:x/y.git vendor/y
git clone . /tmp/copy
git init
git init /tmp/repo
git init -q -b main build/fixture
git init --bare /tmp/r.git
git bisect start HEAD v1.0
git bisect run go test ./pkg/a
git bisect run ./scripts/run.sh
git bisect reset
git hash-object src/main.go
git hash-object -w --stdin
git write-tree
git update-index --refresh
git update-index --chmod=+x scripts/run.sh
git update-index --assume-unchanged config.yml
git check-ignore -v build/x
git check-attr -a src/main.go
git count-objects -vH
git fsck
git version
git --version
git help log
git help -a
git var GIT_EDITOR
git diff-tree --no-commit-id --name-only -r HEAD
git diff-index --quiet HEAD --
git diff-files --quiet
git range-diff main...HEAD
git cherry -v main
git whatchanged -2
git submodule status
git submodule foreach git status
git lfs ls-files
git lfs track "*.psd"
git notes show
git verify-commit HEAD
git interpret-trailers --trailer "a: ../../b"
git stripspace
git sparse-checkout list
git st
git co -b x
git lg --all
git ci -m "see /w/repo"
git difftool --no-prompt HEAD
git mergetool src/main.go
git rerere
git show-branch
git rev-parse --is-inside-work-tree
git log --format=%B -n 1 ATOM
git push origin --tags
git push origin v1.2.3
git log --oneline @{u}..
git log HEAD^..HEAD
git diff @{upstream}
git diff "HEAD@{1 day ago}"
git rev-parse "HEAD^{tree}"
git ls-files -z -- ":(glob)**/*.go"
git log --no-merges --pretty=format:"%h|%an|%s" --date=short -- src
git update-ref HEAD abc1234
git update-ref refs/heads/s1 abc1234
git symbolic-ref HEAD refs/heads/s1
git branch -m s1-new
git fetch origin +refs/heads/*:refs/remotes/origin/*
git apply --stat --unsafe-paths fix.patch
`
