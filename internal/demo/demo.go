// Package demo holds the plays of cordon demo: toy repositories, scripted agents and a plan with
// what must become of each, the search for traces on the host, and what to type next.
//
// It refuses to run anything: package command/demos takes the agents through the real pipeline.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/git"
	"cordon/internal/ledger"
)

// Toy is the repository that the agents are let loose on.
var Toy = map[string]string{
	"README.md":     "# greet\n\nSays hello.\n",
	"docs/guide.md": "# Guide\n\nRun src/greet.sh.\n",
	"src/greet.sh":  "#!/bin/sh\necho \"hello, ${1:-world}\"\n",
	"src/test.sh":   "#!/bin/sh\nset -e\ntest \"$(sh src/greet.sh)\" = 'hello, world'\n",
	".gitignore":    ".env\n",
	"cordon.yaml": `version: 1
filesystem:
  write_roots: [src]
acceptance:
  - sh src/test.sh
gate:
  land: auto
`,
}

// Actor is a scripted agent and what must become of it. The host's path stands
// in for what real agents carry in their context.
type Actor struct {
	Does   string
	Script string // run by sh with the host's path as $1
	Want   ledger.Status
}

var Actors = []Actor{
	{
		Does: "adds a farewell and a test for it",
		Script: `printf '#!/bin/sh\necho "bye, ${1:-world}"\n' >src/bye.sh
			echo 'test "$(sh src/bye.sh)" = "bye, world"' >>src/test.sh; git add -A; git commit -qm 'Add a farewell'`,
		Want: ledger.MergedIn,
	}, {
		Does:   "writes outside its write_roots",
		Script: `echo '# faster' >>src/greet.sh; echo 'Call me.' >>docs/guide.md; git commit -qam 'Tidy up'`,
		Want:   ledger.InQuarantine,
	}, {
		Does:   "hides a deletion behind a rename",
		Script: `git mv docs/guide.md src/guide.md; git commit -qm 'Move the guide'; git status --short`,
		Want:   ledger.InQuarantine,
	}, {
		Does:   "commits to main in your repository",
		Script: `cd "$1" && echo '# quick fix' >>src/greet.sh && git commit -qam 'Quick fix'`,
		Want:   ledger.Failed,
	}, {
		Does: "steals and plants what it can",
		Script: `exec 2>&1 >loot.txt; cat "$1/.env"; ls -a ~/.ssh; ` +
			`echo 'touch stolen' >"$1/.git/hooks/post-commit"; git -C "$1" config core.fsmonitor 'touch stolen'; ` +
			`echo stolen >~/` + planted + `; echo stolen >/etc/` + planted + `; kill -9 1; mount -t tmpfs none /mnt; unshare -U true; exit 0`,
		Want: ledger.InQuarantine,
	},
}

// planted is a name that must not be anywhere on the host afterwards.
const planted = ".cordon-demo-escape"

// secret is what lies beside the code of the toy repository, untracked.
const secret = "TOKEN=not-for-agents"

// Played is an actor and what became of it.
type Played struct {
	Actor
	Worker *ledger.Worker
	Status ledger.Status
}

// BuildToy makes a repository with these files, and a secret beside them.
func BuildToy(ctx context.Context, bin git.Binary, top string, files map[string]string) error {
	repo, err := git.Init(ctx, bin, top, git.InitOptions{Format: git.SHA1, Branch: "main"})
	if err != nil {
		return err
	}
	tree, err := putTree(ctx, repo, files)
	if err != nil {
		return err
	}
	who := git.Person{Name: "Operator", Email: "operator@example.com"}
	commit, err := repo.CommitTree(ctx, tree, nil, "A greeting\n", who)
	if err != nil {
		return err
	}
	if err := repo.Populate(ctx, top, commit, "main", nil); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(top, ".env"), []byte(secret+"\n"), 0o600)
}

// putTree stores files, one directory deep or none.
func putTree(ctx context.Context, repo git.Repo, files map[string]string) (git.OID, error) {
	var entries []git.File
	below := map[string]map[string]string{}
	for path, text := range files {
		dir, name, nested := strings.Cut(path, "/")
		if nested {
			if below[dir] == nil {
				below[dir] = map[string]string{}
			}
			below[dir][name] = text
			continue
		}
		oid, err := repo.PutBlob(ctx, strings.NewReader(text))
		if err != nil {
			return "", err
		}
		entries = append(entries, git.File{Path: path, Entry: git.Entry{Mode: git.Regular, OID: oid}})
	}
	for dir, files := range below {
		oid, err := putTree(ctx, repo, files)
		if err != nil {
			return "", err
		}
		entries = append(entries, git.File{Path: dir, Entry: git.Entry{Mode: git.Directory, OID: oid}})
	}
	return repo.PutTree(ctx, entries)
}

// Traces looks on the host for what the hostile agents tried to leave there.
func Traces(repo string) ([]string, error) {
	var found []string
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	for _, p := range []string{filepath.Join(repo, ".git", "hooks", "post-commit"), filepath.Join(home, planted), "/etc/" + planted} {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			found = append(found, p+" is there")
		}
	}
	config, err := os.ReadFile(filepath.Join(repo, ".git", "config"))
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(config), "fsmonitor") {
		found = append(found, "the repository's configuration was changed")
	}
	text, err := os.ReadFile(filepath.Join(repo, "src", "greet.sh"))
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(text), "quick fix") {
		found = append(found, "the checkout was written")
	}
	return found, nil
}

// LookAround is what to type next.
func LookAround(dir, repo string, cast []Played) []string {
	id := func(i int) string { return string(cast[i].Worker.ID) }
	return lookAround(dir, repo, [][2]string{
		{"cordon audit " + id(0), "what landed, by which rule"},
		{"cordon quarantine show " + id(1), "the evidence"},
		{"cordon quarantine release " + id(1) + " --write docs --reason 'docs are fine'", ""},
		{"cordon logs " + id(3), "how main was out of reach"},
		{"cordon quarantine diff " + id(4), "what the last one could steal: nothing"},
	})
}

// lookAround lists commands in the toy repository, each with a remark.
func lookAround(dir, repo string, commands [][2]string) []string {
	lines := []string{"", "Look around (go install ./cmd/cordon puts cordon into your Go binaries first):"}
	all := append([][2]string{{"export XDG_STATE_HOME=" + filepath.Join(dir, "state"), ""}, {"cd " + repo, ""}}, commands...)
	for _, next := range append(all, [2]string{"rm -r " + dir, "when you are done"}) {
		line := "  " + next[0]
		if next[1] != "" {
			line = fmt.Sprintf("  %-50s # %s", next[0], next[1])
		}
		lines = append(lines, line)
	}
	return lines
}
