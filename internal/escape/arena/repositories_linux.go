package arena

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repositories are made once and copied for each run: a copy is much cheaper than
// the git commands.
type Repositories struct{ dir string }

// makeLinked makes a host repository with packs, branches, a tag, a submodule and
// a remote, and two linked worktrees of it: the attack's and a sibling.
const makeLinked = `
git init -q -b main --bare lib.git
git init -q -b main lib && cd lib && echo lib >lib.c && git add . && git commit -qm lib && git push -q ../lib.git HEAD:refs/heads/main && cd .. && rm -rf lib
git init -q -b main host && cd host
mkdir .githooks && printf '#!/bin/sh\n' >.githooks/post-merge && chmod +x .githooks/post-merge
echo one >README && echo .env >.gitignore && git add . && git commit -qm one
git -c protocol.file.allow=always submodule --quiet add "$PWD/../lib.git" lib && git commit -qm lib
git branch old && echo two >>README && git commit -qam two
git branch agent && git branch sibling
git checkout -q -b feature && echo new >feature && git add feature && git commit -qm feature
git checkout -q -b conflict main && sed -i s/one/uno/ README && git commit -qam uno && git checkout -q main
sed -i s/one/eins/ README && git commit -qam eins
git tag v1 && git repack -qad && git pack-refs --all && echo three >>README && git commit -qam three
git clone -q --bare . ../origin.git && git remote add origin "$PWD/../origin.git" && git fetch -q
git config extensions.worktreeConfig true
git worktree add -q ../work agent && git worktree add -q ../sibling sibling
cd ../work && git -c protocol.file.allow=always submodule --quiet update --init && git status >/dev/null
`

// makeMain makes the same as a plain checkout, which is the attack's own tree.
const makeMain = `
git init -q -b main --bare lib.git
git init -q -b main lib && cd lib && echo lib >lib.c && git add . && git commit -qm lib && git push -q ../lib.git HEAD:refs/heads/main && cd .. && rm -rf lib
git init -q -b main work && cd work
mkdir .githooks && printf '#!/bin/sh\n' >.githooks/post-merge && chmod +x .githooks/post-merge
echo one >README && echo .env >.gitignore && git add . && git commit -qm one
git -c protocol.file.allow=always submodule --quiet add "$PWD/../lib.git" lib && git commit -qm lib
git branch old && git branch sibling && git branch agent && echo two >>README && git commit -qam two
git checkout -q -b feature && echo new >feature && git add feature && git commit -qm feature
git checkout -q -b conflict main && sed -i s/one/uno/ README && git commit -qam uno && git checkout -q main
sed -i s/one/eins/ README && git commit -qam eins
git tag v1 && git repack -qad && git pack-refs --all && echo three >>README && git commit -qam three
git clone -q --bare . ../origin.git && git remote add origin "$PWD/../origin.git" && git fetch -q
git config extensions.worktreeConfig true && git status >/dev/null
`

// NewRepositories makes the repositories in a directory.
func NewRepositories(ctx context.Context, dir string) (*Repositories, error) {
	for name, script := range map[string]string{"linked": makeLinked, "main": makeMain} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "/bin/sh", "-ec", script)
		cmd.Dir, cmd.Env = at, OperatorEnv(at)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("make repositories: %w: %s", err, LastLine(out))
		}
	}
	return &Repositories{dir}, nil
}

// OperatorEnv is what the operator's git runs with.
func OperatorEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LANG=C.UTF-8",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsync", "GIT_CONFIG_VALUE_0=none", // the fixtures need not outlive the machine
		"GIT_AUTHOR_NAME=operator", "GIT_AUTHOR_EMAIL=operator@example.invalid",
		"GIT_COMMITTER_NAME=operator", "GIT_COMMITTER_EMAIL=operator@example.invalid",
	}
}

// copyTo copies the repositories of a kind of tree into a fixture. What names
// the place of the original is made to name the copy's.
func (r *Repositories) copyTo(f *Fixture, t Tree) error {
	from := filepath.Join(r.dir, map[Tree]string{TreeLinked: "linked", TreeMain: "main"}[t])
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := f.Base + strings.TrimPrefix(path, from)
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			return os.MkdirAll(to, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, to)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if info.Size() < 4096 && bytes.Contains(data, []byte(from)) {
			data = bytes.ReplaceAll(data, []byte(from), []byte(f.Base))
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(to, info.ModTime(), info.ModTime())
	})
	if err != nil {
		return err
	}
	f.Args["H"], f.Args["C"], f.Args["G"] = f.Work, f.In(".git"), f.In(".git")
	if t == TreeLinked {
		f.Args["H"] = filepath.Join(f.Base, "host")
		f.Args["C"] = filepath.Join(f.Base, "host/.git")
		f.Args["G"] = filepath.Join(f.Base, "host/.git/worktrees/work")
	}
	return nil
}
