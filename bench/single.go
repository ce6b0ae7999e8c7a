package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cordon/internal/worktree"
)

// single measures one tree from its making to its removal, ours and git's in turn.
// Git is not asked again when it has taken long enough.
func (p *project) single(ctx context.Context, c choice) error {
	var spent time.Duration
	for turn := range c.turns {
		if err := p.layered(ctx, turn); err != nil {
			return err
		}
		if err := p.wholeRun(ctx); err != nil {
			return err
		}
		if spent > c.patience {
			continue
		}
		began := time.Now()
		if err := p.plain(ctx, turn); err != nil {
			return err
		}
		spent += time.Since(began)
	}
	return nil
}

// layered is one turn of a tree that is copied on write.
func (p *project) layered(ctx context.Context, turn int) error {
	for key, roots := range map[string][]string{"layers bare": nil, "layers leased": {p.leased}, "layers": byDefault} {
		id := fmt.Sprintf("%s-%d", strings.ReplaceAll(key, " ", "-"), turn)
		settle()
		if err := p.figures.time(key, func() error { return p.layers(ctx, id, roots) }); err != nil {
			return err
		}
		if err := p.whole(id); err != nil {
			return err
		}
	}
	id := fmt.Sprintf("cell-%d", turn)
	settle()
	err := p.figures.time("cell", func() error {
		if err := p.layers(ctx, id, byDefault); err != nil {
			return err
		}
		_, err := p.inside(ctx, id, "/bin/true")
		return err
	})
	if err != nil {
		return err
	}
	if err := p.disk("disk layers", p.place.Layers(fmt.Sprintf("layers-%d", turn))); err != nil {
		return err
	}
	if err := p.disk("disk cell", p.place.Layers(id)); err != nil {
		return err
	}
	if err := p.gitInside(ctx, turn); err != nil {
		return err
	}
	if err := p.figures.time("remove", func() error { return p.drop(id) }); err != nil {
		return err
	}
	return p.figures.time("sweep", p.place.Sweep)
}

// gitInside measures git in a tree that nobody was in before.
func (p *project) gitInside(ctx context.Context, turn int) error {
	id := fmt.Sprintf("git-%d", turn)
	if err := p.layers(ctx, id, byDefault); err != nil {
		return err
	}
	settle()
	out, err := p.inside(ctx, id, p.gitWords()...)
	if err != nil {
		return err
	}
	return p.read(out, "status 1 inside", "status 2 inside", "commit inside")
}

// gitWords is what is done with git in a tree: two looks and a commit, each measured
// by this program.
func (p *project) gitWords() []string {
	const script = `"$0" took 2 git status --porcelain && "$0" took 1 sh -c 'echo changed >>"$0" && git commit -qam changed' "$1"`
	return []string{"sh", "-c", script, p.self, p.sample().Path}
}

// took runs a command some times and prints how long each took.
func took(words []string) error {
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	for range n {
		began := time.Now()
		if out, err := exec.Command(words[1], words[2:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", words[1], err, out)
		}
		fmt.Println(time.Since(began).Nanoseconds())
	}
	return nil
}

// read takes the times that took printed.
func (p *project) read(out []byte, keys ...string) error {
	lines := strings.Fields(string(out))
	if len(lines) != len(keys) {
		return fmt.Errorf("%q instead of %d times", out, len(keys))
	}
	for i, key := range keys {
		ns, err := strconv.ParseInt(lines[i], 10, 64)
		if err != nil {
			return err
		}
		p.figures.add(key, time.Duration(ns))
	}
	return nil
}

// disk notes what directories occupy.
func (p *project) disk(key string, dirs ...string) error {
	var total int64
	for _, dir := range dirs {
		n, err := worktree.Bytes(dir)
		if err != nil {
			return err
		}
		total += n
	}
	p.figures.at(key).bytes = total
	return nil
}

// wholeRun measures the program that people use.
func (p *project) wholeRun(ctx context.Context) error {
	settle()
	return p.figures.time("run", func() error { return p.runOnce(ctx) })
}

func (p *project) runOnce(ctx context.Context) error {
	return p.call(ctx, "run", "--no-merge", "--", "true")
}

func (p *project) call(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, p.cordon, args...)
	cmd.Dir, cmd.WaitDelay = p.top(), waitDelay
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cordon %s: %w: %s", args[0], err, out)
	}
	return nil
}

// plain is one turn of a worktree of git's.
func (p *project) plain(ctx context.Context, turn int) error {
	dir := filepath.Join(p.dir, fmt.Sprint("plain-", turn))
	settle()
	if err := p.figures.time("add", func() error { return p.addWorktree(ctx, dir) }); err != nil {
		return err
	}
	settle()
	if err := p.disk("disk plain", dir, filepath.Join(p.clone, ".git", "worktrees", filepath.Base(dir))); err != nil {
		return err
	}
	if err := p.gitPlain(ctx, dir); err != nil {
		return err
	}
	if err := p.figures.time("remove plain", func() error { return gitIn(ctx, p.clone, "worktree", "remove", "--force", dir) }); err != nil {
		return err
	}
	settle()
	copied := filepath.Join(p.dir, fmt.Sprint("copy-", turn))
	defer erase(copied)
	return p.figures.time("clone", func() error { return gitIn(ctx, "", "clone", "-q", "--shared", p.top(), copied) })
}

func (p *project) addWorktree(ctx context.Context, dir string) error {
	return gitIn(ctx, p.clone, "worktree", "add", "-q", "--detach", dir, string(p.commit))
}

// gitPlain measures git in a plain checkout.
func (p *project) gitPlain(ctx context.Context, dir string) error {
	argv := p.gitWords()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, plainEnviron(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	return p.read(out, "status 1 plain", "status 2 plain", "commit plain")
}
