// Package worker runs the stages of a home on a node. It brings the base of a stage into a
// repository of the fleet's, has the cordon beside it run the stage there in a cell, and returns
// what the worker changed as one commit on top of the base.
//
// It refuses to confine, audit or judge anything itself: cordon does the first two on this
// machine, and the home judges again whatever comes back.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"cordon/internal/assignment"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/packname"
	"cordon/internal/fleet/protocol"
	"cordon/internal/fleet/trial"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/view"
)

// Bench is where a node runs the stages of one fleet.
type Bench struct {
	Bin    git.Binary
	Cordon string // the program
	Dir    string // of the fleet: a repository, packs, assignments
	Most   int64  // bytes of a result
	Say    func(format string, args ...any)

	mu    sync.Mutex   // one base arrives at a time: the next is smaller
	busy  sync.RWMutex // read by stages that run
	swept time.Time
}

func (b *Bench) repository() string   { return filepath.Join(b.Dir, "repository.git") }
func (b *Bench) store() pack.Store    { return pack.Store{Dir: filepath.Join(b.Dir, "packs")} }
func (b *Bench) basesFile() string    { return filepath.Join(b.Dir, "bases.json") }
func (b *Bench) file(l string) string { return filepath.Join(b.Dir, "stages", l+".json") }

// Run runs a stage: it is that of node.Node. A stage that cordon refuses here is over too: its home
// hears why.
func (b *Bench) Run(ctx context.Context, h *node.Hold, o protocol.Offer) (r protocol.Result, err error) {
	b.busy.RLock()
	defer b.sweepIfIdle(context.WithoutCancel(ctx))
	defer b.busy.RUnlock()
	assigned, terms, err := assignment.Open(o.Terms)
	if err == nil && nameOf(assigned, terms) != o.Lease { // it becomes the name of a file
		err = errors.New("the terms are for another worker than the offer")
	}
	if err != nil {
		return r, err
	}
	size, err := b.fetch(ctx, h, terms.Base)
	if err != nil {
		return r, err
	}
	b.Say("%s: got %d bytes of its base", o.Lease, size)
	r.Base = string(terms.Base)
	if assigned.Trial {
		return b.try(ctx, o, r)
	}
	ran, err := b.work(ctx, h, o, assigned.Interactive)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		b.Say("%s: %v", o.Lease, err)
		r.Exit, r.Ending = notRun, err.Error()
		return r, nil
	}
	r.Exit, r.Ending, r.Chain = exitOf(ran), ran.Status, ran.Lease
	r.Limited = ran.Client != nil && ran.Client.Limited
	if r.Commit, r.Pack, err = b.result(ctx, ran, terms.Base); err != nil {
		return r, err
	}
	if r.Commit != "" {
		err = errors.Join(h.Send(ctx, b.store(), r.Pack), b.store().Remove(r.Pack))
	}
	b.Say("%s: %s with exit code %d, returned %d bytes", o.Lease, r.Ending, r.Exit, r.Pack.Size)
	return r, err
}

// nameOf is the name of the stage that an assignment is for.
func nameOf(a assignment.Assignment, t lease.Terms) string {
	if a.Trial {
		return trial.Name(string(t.ID))
	}
	return string(t.ID)
}

// notRun is the exit code of a stage that could not be run.
const notRun = 125

// formatOf is the format of the repository that a commit is of.
func formatOf(oid git.OID) git.Format {
	if len(oid) == len(git.SHA256.Zero()) {
		return git.SHA256
	}
	return git.SHA1
}

// open opens the repository of the fleet, or makes it.
func (b *Bench) open(ctx context.Context, f git.Format) (git.Repo, error) {
	if _, err := os.Stat(filepath.Join(b.repository(), "HEAD")); err == nil {
		return git.OpenBare(b.Bin, b.repository(), f), nil
	}
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return git.Repo{}, err
	}
	return git.Init(ctx, b.Bin, b.repository(), git.InitOptions{Bare: true, Format: f})
}

// openFor opens the repository for a base. One that was made before the first base may have another format, and is made again in
// the same directory: what the operator of the node has shared is for that directory.
func (b *Bench) openFor(ctx context.Context, base git.OID) (git.Repo, error) {
	f := formatOf(base)
	if _, err := os.Stat(b.basesFile()); f != madeFormat && errors.Is(err, os.ErrNotExist) {
		entries, err := os.ReadDir(b.repository())
		for _, e := range entries {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.repository(), e.Name())))
		}
		if err != nil {
			return git.Repo{}, err
		}
	}
	return b.open(ctx, f)
}

// madeFormat is that of a repository whose first base has not come yet.
const madeFormat = git.SHA1

// fetch brings the missing part of a base into the repository, and returns how many bytes that took.
func (b *Bench) fetch(ctx context.Context, h *node.Hold, base git.OID) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	repo, err := b.openFor(ctx, base)
	if err != nil {
		return 0, err
	}
	have, err := b.bases(ctx, repo)
	if err != nil || slices.Contains(have, string(base)) {
		return 0, err
	}
	name, err := h.Base(ctx, b.store(), have)
	if err != nil {
		return 0, err
	}
	content, err := b.store().Open(name)
	if err != nil {
		return 0, err
	}
	defer content.Close()
	if err := repo.AddPack(ctx, content); err != nil {
		return 0, err
	}
	return name.Size, errors.Join(b.store().Remove(name), b.setBases(append([]string{string(base)}, have...)))
}

// maxBases is how many bases a node tells its home of.
const maxBases = 64

// bases are those of earlier stages that the repository still has, the newest first.
func (b *Bench) bases(ctx context.Context, repo git.Repo) (have []string, err error) {
	text, err := os.ReadFile(b.basesFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var listed []git.OID
	if err = errors.Join(err, json.Unmarshal(text, &listed)); err != nil {
		return nil, err
	}
	kinds, err := repo.Kinds(ctx, listed)
	for _, oid := range listed {
		if kinds[oid] == "commit" {
			have = append(have, string(oid))
		}
	}
	return have, err
}

func (b *Bench) setBases(list []string) error {
	text, err := json.Marshal(list[:min(len(list), maxBases)])
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(b.basesFile()+".new", text, 0o600), os.Rename(b.basesFile()+".new", b.basesFile()))
}

// work has cordon run a stage to its end, on a terminal if it is interactive. How it ended is in what cordon says.
func (b *Bench) work(ctx context.Context, h *node.Hold, o protocol.Offer, interactive bool) (ran view.OneWorker, err error) {
	at, err := b.write(o)
	if err != nil {
		return ran, err
	}
	defer os.Remove(at)
	relay, err := b.newRelay(h, o.Lease)
	if err != nil {
		return ran, err
	}
	stop := relay.start(ctx, interactive)
	if interactive {
		err = b.cordonOnTerminal(ctx, relay, &ran, "run", "--terms", at)
	} else {
		err = b.cordonSaying(ctx, relay, &ran, "run", "--terms", at)
	}
	stop(ran)
	if err == nil && ran.Exit == nil {
		err = errors.New("the command did not start")
	}
	return ran, err
}

// write writes the assignment of an offer into a file.
func (b *Bench) write(o protocol.Offer) (at string, err error) {
	at = b.file(o.Lease)
	return at, errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, o.Terms, 0o600))
}

func exitOf(ran view.OneWorker) int {
	if ran.Exit.Code == 0 && ran.Exit.Reason != exited {
		return 1 // a limit ended it
	}
	return ran.Exit.Code
}

const exited = "exited"

// result packs what a worker changed, inside its lease and outside.
func (b *Bench) result(ctx context.Context, ran view.OneWorker, base git.OID) (commit string, made packname.Name, err error) {
	var out view.Checkout
	if err := b.cordon(ctx, &out, "checkout", ran.ID, "--branch", "fleet/"+ran.ID); err != nil {
		return "", made, err
	}
	repo, err := b.open(ctx, formatOf(base))
	if err != nil {
		return "", made, err
	}
	changed, err := repo.Diff(ctx, base, git.OID(out.Checkout.Commit))
	if err != nil || len(changed) == 0 {
		return "", made, err
	}
	made, err = b.store().Make(ctx, repo, git.OID(out.Checkout.Commit), []git.OID{base}, false, b.Most)
	return out.Checkout.Commit, made, err
}

// patience is how long cordon may take to end a worker that the home has taken back.
const patience = time.Minute

// cordon runs a command of cordon's in the repository, and reads the object that it prints. Exit codes say
// what became of a worker, which the object says too: without one, what cordon said is the error.
func (b *Bench) cordon(ctx context.Context, to any, args ...string) error {
	return b.cordonSaying(ctx, io.Discard, to, args...)
}

// cordonSaying is cordon with somebody who hears everything that the command says.
func (b *Bench) cordonSaying(ctx context.Context, hears io.Writer, to any, args ...string) error {
	return b.run(b.command(ctx, to, args...), hears, to, args[0])
}

// command is a command of cordon's in the repository.
func (b *Bench) command(ctx context.Context, to any, args ...string) *exec.Cmd {
	words := append([]string{"-C", b.repository()}, args...)
	if to != nil {
		words = append(words[:2], append([]string{"--json"}, words[2:]...)...)
	}
	cmd := exec.CommandContext(ctx, b.Cordon, words...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.SysProcAttr = endWithParent()
	return cmd
}

// run runs a command of cordon's, and reads the object that it prints.
func (b *Bench) run(cmd *exec.Cmd, hears io.Writer, to any, name string) error {
	said := &ending{}
	cmd.Stderr = io.MultiWriter(hears, said)
	// The kernel ties the end of the child to the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out, err := cmd.Output()
	var failed view.Error
	switch {
	case json.Unmarshal(out, &failed) == nil && failed.Error != "":
		return fmt.Errorf("cordon %s: %s", name, failed.Error)
	case to != nil && json.Unmarshal(out, to) == nil:
		return nil
	case err != nil:
		return fmt.Errorf("cordon %s: %w: %s", name, err, lastLine(said.String()))
	case to != nil:
		return fmt.Errorf("cordon %s printed no object", name)
	}
	return nil
}

// ending keeps the end of what is written.
type ending struct{ text []byte }

func (e *ending) Write(p []byte) (int, error) {
	e.text = append(e.text, p...)
	e.text = e.text[max(0, len(e.text)-maxEnding):]
	return len(p), nil
}

func (e *ending) String() string { return string(e.text) }

const maxEnding = 4 << 10

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
