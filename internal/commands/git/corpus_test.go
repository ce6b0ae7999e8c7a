package git

// gitEscapes leave the tree, or change what others have.
const gitEscapes = `
git -C /w/repo status
git -C .. status
git -C ../../ log
git -C /w -C repo status
git -C . -C ../.. status
git -C link-out status
git -C link-out/.. status
git -C data log
git -C ~/x status
git -C ANY commit -m x
git -c user.name=x -C /w/repo commit -am x
git -P -C ../.. log
git --no-pager -C ../s2 diff
git --git-dir=/w/repo/.git log
git --git-dir /w/repo/.git/worktrees/s2 status
git --git-dir=../../.git --work-tree=. reset --hard
git --work-tree=/w/other checkout -f
git --work-tree ../s2 clean -fd
git --exec-path=/w/other/bin status
GIT_DIR=/w/other/.git git log
GIT_WORK_TREE=/w/repo git checkout -- .
GIT_INDEX_FILE=/w/repo/.git/index git add .
GIT_OBJECT_DIRECTORY=/w/repo/.git/objects git hash-object -w x
GIT_COMMON_DIR=/w/other/.git git status
GIT_ALTERNATE_OBJECT_DIRECTORIES=/w/other/.git/objects git show abc
GIT_TRACE=/w/repo/trace git status
GIT_TRACE2_EVENT=/home/agent/t git status
GIT_SSH_COMMAND="sh -c 'touch /w/repo/x'" git fetch
GIT_SSH=/w/repo/evil git fetch
GIT_EXTERNAL_DIFF="cp x /w/repo/" git diff
GIT_PAGER="tee /w/repo/log" git log
PAGER="sh -c 'touch /w/repo/x'" git -p log
GIT_EDITOR="cp /w/other/x" git commit
GIT_SEQUENCE_EDITOR="sh -c 'rm -rf /w/other'" git rebase -i HEAD~2
GIT_ASKPASS=../../evil.sh git fetch
GIT_EXEC_PATH=/w/other git log
GIT_CONFIG_GLOBAL=/w/other/config git log
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/w/repo/hooks git commit -m x
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0="!touch /w/repo/x" git x
GIT_CONFIG_PARAMETERS="'core.worktree=/w/repo'" git status
HOME=/w/other git commit -m x
GIT_TEMPLATE_DIR=/w/other/t git init x
git -c alias.x="!cd /w/repo && git commit -am y" x
git -c alias.x="!git -C ../.. status" x
git -c alias.x="-C /w/repo status" x
git -c alias.st="status /w/repo" st
git -c alias.a="b" -c alias.b="!cat /w/repo/.env" a
git -c core.hooksPath=../../hooks commit -m x
git -c core.fsmonitor=/w/repo/fs status
git -c core.sshCommand="ssh -F /w/repo/c" fetch
git -c core.pager="tee ../../log" log
git -c core.editor="rm /w/other/x" commit
git -c core.worktree=../s2 checkout -f
git -c credential.helper="!cat /home/agent/.ssh/id_rsa" fetch
git -c diff.external=/w/repo/d diff
git -c diff.x.textconv="cat /w/other/o.txt" log -p
git -c filter.x.smudge="cat /w/other/o.txt" checkout -- .
git -c gpg.program=/w/repo/g commit -S -m x
git -c include.path=/w/other/c log
git -c url./w/other.insteadOf=https://h/ fetch https://h/
git -c remote.x.url=/w/other fetch x
git -c pager.log="sh -c 'touch /w/repo/x'" log
git -c sequence.editor="cp /w/other/x" rebase -i main
git --config-env=core.sshCommand=UNKNOWN fetch
git log -1 --output=/w/other/l
git diff --output=../../d
git show --output /w/repo/x HEAD
git diff --no-index /w/repo/.env /dev/null
git diff /w/repo/.env /dev/null
git diff -O/w/repo/order
git format-patch -1 -o /w/repo
git format-patch -1 --output-directory=..
git format-patch -o../../p main
git archive -o /w/repo/x.tar HEAD
git archive HEAD --output=../../x.tar
git archive --remote=/w/other HEAD
git archive --add-file=/home/agent/.ssh/id_rsa HEAD
git bundle create /w/other/b HEAD
git bundle unbundle /w/other/b
git init ../newrepo
git init /w/new
git init --separate-git-dir=/w/repo/g x
git init --template=/w/other/t x
git clone /w/other x
git clone ../.. x
git clone file:///w/other x
git clone https://h/x ../x
git clone https://h/x /w/x
git clone --reference /w/other https://h/x x
git clone git@localhost:/w/other x
git clone "ext::sh -c cat% /w/other/o.txt" x
git clone -c core.hooksPath=/w/other/h https://h/x x
git clone --upload-pack "touch /w/repo/x" https://h/x x
git fetch /w/other main
git fetch ../../ main
git fetch data
git fetch . s1:main
git fetch origin +main:main
git fetch --upload-pack="sh -c 'touch /w/repo/x'" origin
git pull /w/other main
git push /w/other HEAD:x
git push ../.. s1
git push link-out s1
git push . s1:main
git push . HEAD:refs/heads/main
git push /w/repo/.worktrees/s1 HEAD:main
git push origin HEAD:main
git push origin s1:refs/heads/main
git push origin +HEAD:main
git push --mirror origin
git push --receive-pack="touch /w/repo/x" origin s1
git push ANY s1
git remote add host /w/other
git remote add host ../..
git remote set-url origin /w/other
git remote remove origin
git ls-remote /w/other
git submodule add /w/other lib
git submodule update --init
git submodule foreach "cat /w/repo/.env"
git update-ref refs/heads/main HEAD
git update-ref -d refs/heads/s2
git update-ref --stdin << update refs/heads/main abc
git update-ref --stdin
git branch -f main HEAD
git branch -D s2
git branch -M main
git branch -m s2 s3
git branch --force main s1
git tag -f v1
git tag -d v1
git symbolic-ref HEAD refs/heads/main
git symbolic-ref refs/heads/x refs/heads/main
git checkout main
git checkout -B main
git checkout -f s2
git switch main
git switch -C main s1
git rebase main s2
git worktree add ../s3
git worktree add /tmp/wt
git worktree move ../s2 ../s4
git worktree remove --force ../s2
git worktree remove s2
git worktree prune
git worktree repair ../s2
git stash
git stash pop
git stash drop stash@{1}
git config user.name bot
git config core.hooksPath /tmp/h
git config --global user.name bot
git config --system a.b c
git config -f ../../.git/config core.bare true
git config --file=/home/agent/.gitconfig a.b c
git config -f /w/other/.git/config --list
git config set --global a.b c
git config --unset user.name
git config -e
git gc --prune=now
git prune
git repack -ad
git reflog expire --expire=now --all
git pack-refs --all
git maintenance start
git filter-branch --tree-filter "rm x" -- --all
git filter-repo --path src
git replace a b
git notes add -m x
git apply --unsafe-paths --directory=/w/repo p.patch
git apply --directory=../.. p.patch
git apply /w/other/p.patch
git apply --unsafe-paths << +++ b/../../../x
git am /w/other/0001.patch
git checkout-index -a --prefix=/w/repo/
git checkout-index -a --prefix=../s2/
git commit -F /w/repo/msg
git commit -t ../../tmpl
git tag -a v2 -F /home/agent/.ssh/id_rsa
git hash-object -w /w/repo/.env
git hash-object --stdin-paths << /w/repo/.env
git grep --no-index x /w/repo
git grep -f /w/repo/pats x
git grep -O"cp -t /w/repo" x
git blame --contents /w/other/o.txt x
git ls-files --others /w/repo
git ls-files -X /w/repo/x -o
git add ../s2/x
git rm /w/repo/README.md
git mv x ../../y
git restore --source=HEAD /w/repo/x
git checkout -- ../../README.md
git checkout HEAD ../../README.md
git clean -fdx ../..
git merge-file /w/repo/a b c
git interpret-trailers --in-place ../../m
git mailsplit -o/w/repo mbox
git read-tree --index-output=/w/repo/i HEAD
git fast-export --export-marks=/w/repo/m HEAD
git fast-import << commit refs/heads/main
git bisect run sh -c "touch /w/repo/x"
git bisect run git -C /w/repo status
git rebase -x "git -C /w/repo commit -am x" main
git rebase --exec="touch ../../x" main
git difftool -y -x "cp /w/other/o.txt"
git for-each-repo --config=maintenance.repo gc
git daemon --base-path=/w
git upload-pack /w/other
git receive-pack /w/repo
git credential fill
git credential-store --file=/home/agent/.git-credentials get
git lfs install
git svn clone file:///w/other
git shell -c "git-receive-pack /w/repo"
git subtree add --prefix=lib /w/other main
git subtree push --prefix=lib ../.. main
git send-email --smtp-server=/w/repo/x 0001.patch
git instaweb --httpd=/w/repo/x
git unknown-thing /w/repo
git unknown-thing --out=../../x
git ANY
git -c ANY status
git status /w/repo
git log -- ../../README.md
`
