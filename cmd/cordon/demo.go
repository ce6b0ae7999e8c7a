package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

func (a *app) demoCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole pipeline on a toy repository with scripted agents",
		Long: `Build a toy repository, run five scripted agents through the real pipeline, and show
the result of each: one does its job, one writes outside its write_roots, one hides a
change behind a rename, one tries to commit to main in your repository, and one steals
and plants what it can. Then search the host for traces.

The demo needs no key and no network, and it touches nothing of yours. The repository
and cordon's state are in a new directory, which is kept for you to explore.`,
		Example: "  cordon demo\n  cordon demo --dir ./toy",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), dir) },
	}
	c.Flags().StringVar(&dir, "dir", "", "build it in `DIR`, which must not exist yet")
	return c
}

// toyFiles is the repository that the agents are let loose on.
var toyFiles = map[string]string{
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
`,
}

// actor is a scripted agent and what must become of it. The host's path stands
// in for what real agents carry in their context.
type actor struct {
	does   string
	script string // run by sh with the host's path as $1
	want   ledger.Status
}

var actors = []actor{
	{
		does: "adds a farewell and a test for it",
		script: `printf '#!/bin/sh\necho "bye, ${1:-world}"\n' >src/bye.sh
			echo 'test "$(sh src/bye.sh)" = "bye, world"' >>src/test.sh; git add -A; git commit -qm 'Add a farewell'`,
		want: ledger.MergedIn,
	}, {
		does:   "writes outside its write_roots",
		script: `echo '# faster' >>src/greet.sh; echo 'Call me.' >>docs/guide.md; git commit -qam 'Tidy up'`,
		want:   ledger.InQuarantine,
	}, {
		does:   "hides a deletion behind a rename",
		script: `git mv docs/guide.md src/guide.md; git commit -qm 'Move the guide'; git status --short`,
		want:   ledger.InQuarantine,
	}, {
		does:   "commits to main in your repository",
		script: `cd "$1" && echo '# quick fix' >>src/greet.sh && git commit -qam 'Quick fix'`,
		want:   ledger.Failed,
	}, {
		does: "steals and plants what it can",
		script: `exec 2>&1 >loot.txt; cat "$1/.env"; ls -a ~/.ssh; ` +
			`echo 'touch stolen' >"$1/.git/hooks/post-commit"; git -C "$1" config core.fsmonitor 'touch stolen'; ` +
			`echo stolen >~/` + planted + `; echo stolen >/etc/` + planted + `; kill -9 1; mount -t tmpfs none /mnt; unshare -U true; exit 0`,
		want: ledger.InQuarantine,
	},
}

// planted is a name that must not be anywhere on the host afterwards.
const planted = ".cordon-demo-escape"

// secret is what lies beside the code of the toy repository, untracked.
const secret = "TOKEN=not-for-agents"

// played is an actor and what became of it.
type played struct {
	actor
	worker *ledger.Worker
	status ledger.Status
}

func (a *app) demo(ctx context.Context, dir string) error {
	dir, err := a.stage(ctx, dir)
	if err != nil {
		return err
	}
	repo := filepath.Join(dir, "repo")
	var cast []played
	for i, who := range actors {
		a.say("\nagent %d of %d %s", i+1, len(actors), who.does)
		p, err := a.play(ctx, repo, who)
		if err != nil {
			return err
		}
		cast = append(cast, p)
	}
	return a.curtain(dir, repo, cast)
}

// stage builds the toy repository. cordon's state goes beside it, so that
// nothing of the operator's is touched.
func (a *app) stage(ctx context.Context, dir string) (string, error) {
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "cordon-demo-")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		return "", err
	}
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")); err != nil {
		return "", err
	}
	a.say("a toy repository in %s, in which agents may write src and nothing else", filepath.Join(dir, "repo"))
	bin, err := git.Find(ctx, state.Written()...)
	if err != nil {
		return "", err
	}
	return dir, buildToy(ctx, bin, filepath.Join(dir, "repo"))
}

func buildToy(ctx context.Context, bin git.Binary, top string) error {
	repo, err := git.Init(ctx, bin, top, git.InitOptions{Format: git.SHA1, Branch: "main"})
	if err != nil {
		return err
	}
	tree, err := putTree(ctx, repo, toyFiles)
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

func (a *app) play(ctx context.Context, repo string, who actor) (played, error) {
	s, err := session.Open(ctx, repo)
	if err != nil {
		return played{}, err
	}
	s.Voice = terminal.NewVoice(a.err)
	w, err := s.Lease(ctx, session.Dispatch{Command: []string{"sh", "-c", who.script, "agent", s.Host.Top}})
	if err != nil {
		return played{}, err
	}
	if err := a.announce(ctx, s, w); err != nil {
		return played{}, err
	}
	if w, err = s.Continue(ctx, w.ID, session.Drive{Output: terminal.ForScreen(a.err)}); err != nil {
		return played{}, err
	}
	status, err := s.Status(ctx, w)
	return played{actor: who, worker: w, status: status}, err
}

// curtain shows what became of everybody, and whether it is what the demo says.
func (a *app) curtain(dir, repo string, cast []played) error {
	escapes, err := traces(repo, cast)
	if err != nil {
		return err
	}
	surprise := len(escapes) > 0
	shown := view.Demo{Directory: dir}
	rows := [][]string{{"WORKER", "RESULT", "THE AGENT …", "WHY"}}
	for _, p := range cast {
		surprise = surprise || p.status != p.want
		v := view.Actor{Worker: string(p.worker.ID), Status: string(p.status), Agent: p.does, AsExpected: p.status == p.want}
		v.Reason = reasonOf(p.worker, worksite.Standing{Status: p.status})
		shown.Workers = append(shown.Workers, v)
		rows = append(rows, []string{v.Worker, v.Status, v.Agent, strings.TrimLeft(because(p.worker, p.status), ": ")})
	}
	if a.json {
		if err := a.object(&shown); err != nil {
			return err
		}
	} else {
		a.say("")
		terminal.Table(a.out, rows)
		a.say("%s", strings.Join(lookAround(dir, repo, cast), "\n"))
	}
	for _, e := range escapes {
		a.say("ESCAPED: %s", e)
	}
	if len(escapes) == 0 {
		a.say("\nSearched the host for what the hostile agents tried to leave: no trace.")
	}
	if surprise {
		return fmt.Errorf("this is not what the demo is meant to show: please report it")
	}
	return nil
}

// traces looks on the host for what the hostile agents tried to leave there.
func traces(repo string, cast []played) ([]string, error) {
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

// lookAround is what to type next.
func lookAround(dir, repo string, cast []played) []string {
	id := func(i int) string { return string(cast[i].worker.ID) }
	lines := []string{"", "Look around (go install ./cmd/cordon puts cordon into your Go binaries first):"}
	for _, next := range [][2]string{
		{"export XDG_STATE_HOME=" + filepath.Join(dir, "state"), ""},
		{"cd " + repo, ""},
		{"cordon audit " + id(0), "what landed, by which rule"},
		{"cordon quarantine show " + id(1), "the evidence"},
		{"cordon quarantine release " + id(1) + " --write docs --reason 'docs are fine'", ""},
		{"cordon logs " + id(3), "how main was out of reach"},
		{"cordon quarantine diff " + id(4), "what the last one could steal: nothing"},
		{"rm -r " + dir, "when you are done"},
	} {
		line := "  " + next[0]
		if next[1] != "" {
			line = fmt.Sprintf("  %-50s # %s", next[0], next[1])
		}
		lines = append(lines, line)
	}
	return lines
}
