package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/nkeys"

	"cordon/internal/cell"
	"cordon/internal/fleet/files"
	"cordon/internal/fleet/identity"
	"cordon/internal/journal"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

const (
	homeDir  = "fleet"     // of a home, in the state of its repository
	nodesDir = ".fleet"    // of nodes, beside the states of repositories
	lockName = "home.lock" // held by the home that runs
)

// homePlace is the home of the repository around the working directory.
type homePlace struct {
	state.Dir
	site  *worksite.Site
	files files.Home
	log   *journal.Journal
	key   nkeys.KeyPair
	fleet string // its name: the beginning of the home's key
}

// fleetLetters are how much of a home's key names its fleet. Nothing is believed because of a name.
const fleetLetters = 16

// findHome finds the home, verifies the whole journal and makes nothing. A repository without
// state has no journal.
func findHome(ctx context.Context) (homePlace, *worksite.Site, error) {
	if err := refuseInside(); err != nil {
		return homePlace{}, nil, err
	}
	site, err := worksite.Open(ctx, ".")
	if err != nil {
		return homePlace{}, nil, err
	}
	p := homePlace{Dir: site.State, site: site, files: files.Home{Dir: filepath.Join(site.State.Path(), homeDir)}}
	if !p.Exists() {
		return p, site, nil
	}
	if _, err := site.Events(); err != nil {
		return p, site, err
	}
	p.log, err = journal.Open(p.Path())
	return p, site, err
}

// openHome is findHome, and makes the home's state and key if they are not there.
func openHome(ctx context.Context) (homePlace, error) {
	p, site, err := findHome(ctx)
	if err != nil {
		return p, err
	}
	if err := p.Make(site.Host); err != nil {
		return p, err
	}
	if p.log, err = journal.Open(p.Path()); err != nil {
		return p, err
	}
	return p, p.identify()
}

// identify reads the home's key, or makes it.
func (p *homePlace) identify() (err error) {
	if p.key, err = identity.Key(p.files.Dir); err != nil {
		return err
	}
	public, err := p.key.PublicKey()
	if err != nil {
		return err
	}
	p.fleet = public[:fleetLetters]
	return nil
}

func (p homePlace) lock() string { return filepath.Join(homeDir, lockName) }

// hold keeps other homes away.
func (p homePlace) hold() (release func(), err error) {
	release, err = p.Lock(p.lock(), false)
	if errors.Is(err, state.ErrLocked) {
		return nil, errors.New("the home of this repository is already running")
	}
	return release, err
}

// nodesRoot is where nodes of this user keep their keys.
func nodesRoot() (string, error) {
	root, err := state.RealRoot()
	return filepath.Join(root, nodesDir), err
}

// refuseInside refuses a worker: only the operator decides about fleets.
func refuseInside() error {
	if worker := os.Getenv(cell.Mark); worker != "" {
		return fmt.Errorf("this runs inside worker %s, and only the operator decides about fleets (%s is set)", worker, cell.Mark)
	}
	return nil
}
