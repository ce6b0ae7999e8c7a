package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cordon/internal/companion"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/worker"
	"cordon/internal/git"
	"cordon/internal/legible"
	"cordon/internal/state"
)

// beat is how often a node says that it works on a stage.
const beat = 2 * time.Second

// work takes stages and runs them until it is stopped. Stages that run then are ended, and their
// home gives them to others.
func (s *serving) work(ctx context.Context, n *node.Node) (stop func(), err error) {
	b, err := s.bench(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.Tidy(ctx); err != nil {
		return nil, err
	}
	public, err := s.key.PublicKey()
	if err != nil {
		return nil, err
	}
	n.Classes, n.Slots, n.Beat, n.Run = []string{home.AnyClass, public}, s.slots, beat, b.Run
	n.Fails = func(lease string, err error) {
		if err != nil {
			fmt.Fprintf(s.warn, "cordon fleet: %s: %s\n", lease, legible.PlainLine(err.Error()))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { n.Work(ctx) })
	return func() { cancel(); all.Wait() }, nil
}

// bench is where this node runs the stages of its home.
func (s *serving) bench(ctx context.Context) (*worker.Bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	written := state.Written()
	program, err := companion.Find(self, "cordon", written)
	if err != nil {
		return nil, err
	}
	bin, err := git.Find(ctx, written...)
	if err != nil {
		return nil, err
	}
	data, err := dataRoot()
	if err != nil {
		return nil, err
	}
	return &worker.Bench{
		Bin: bin, Cordon: program, Dir: filepath.Join(data, "cordon", "fleet", s.home.Fleet), Most: maxPack,
		Say: func(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) },
	}, nil
}

// dataRoot is where programs of this user keep what is not state. The repository of a fleet is a
// repository like the operator's own: cordon keeps its state elsewhere.
func dataRoot() (string, error) {
	if at := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(at) {
		return at, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}
