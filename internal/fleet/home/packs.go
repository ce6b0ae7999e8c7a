package home

import (
	"errors"
	"slices"
	"sync"
	"time"

	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/protocol"
	"cordon/internal/git"
)

// Packs are what a home sends to nodes and gets from them.
type Packs struct {
	Host   git.Repo // only read
	Bases  pack.Store
	Gotten pack.Store // packs of results
	Most   int64      // bytes of a base
	Room   int64      // bytes of all bases, and as many of all results

	making sync.Mutex // has whoever writes a base, or removes some; taken before mu
	mu     sync.Mutex
	bases  map[string]*base // by what they hold
	// arriving are the packs that nodes send, for each grant.
	arriving map[grantOf][]protocol.Pack
	adding   map[string]bool // the sums of packs to which a piece is added at the moment
}

// grantOf names a grant of a worker.
type grantOf struct {
	lease string
	fence uint64
}

// maxPacks bounds how many packs a node sends for one grant, and how many bases it wants. It needs one; a node that was
// killed may make another.
const maxPacks = 4

// soon is how long a node waits for the answer to a question about packs. It asks again if there is none.
const soon = time.Second

var (
	errNoPack  = errors.New("the pack is not there")
	errTooMany = errors.New("too many packs for one grant")
	errNoRoom  = errors.New("no room for more packs")
	errNotYet  = errors.New("it is being done")
)

// fill completes the answer to a question about packs, which was judged.
func (p *Packs) fill(j protocol.Judgement, base git.OID, a *protocol.Answer) error {
	if p == nil {
		return errNoPack
	}
	var err error
	switch {
	case j.Want != nil:
		a.Pack, err = p.want(*j.Want, base)
	case j.Fetch != nil && p.isMade(grantOf{j.Fetch.Lease, j.Fetch.Fence}, j.Fetch.Pack):
		a.Piece, err = p.Bases.Read(j.Fetch.Pack, j.Fetch.Offset)
	case j.Put != nil:
		a.Next, err = p.add(*j.Put)
	default:
		err = errNoPack
	}
	return err
}

// add adds a piece. Its last one makes the home read the whole pack, which others do not wait for.
func (p *Packs) add(m protocol.Put) (int64, error) {
	if err := p.begin(grantOf{m.Lease, m.Fence}, m.Pack); err != nil {
		return 0, err
	}
	defer p.end(m.Pack)
	used, err := p.Gotten.Size()
	if err != nil {
		return 0, err
	}
	if used+int64(len(m.Piece)) > p.Room {
		return 0, errNoRoom
	}
	return p.Gotten.Add(m.Pack, m.Offset, m.Piece)
}

// begin notes that a piece of a pack arrives. The same one may come twice at the same time.
func (p *Packs) begin(g grantOf, arrives protocol.Pack) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := slices.Contains(p.arriving[g], arrives)
	switch {
	case p.adding[arrives.Sum]:
		return errNotYet
	case !known && len(p.arriving[g]) == maxPacks:
		return errTooMany
	}
	if p.arriving == nil {
		p.arriving, p.adding = map[grantOf][]protocol.Pack{}, map[string]bool{}
	}
	if !known {
		p.arriving[g] = append(p.arriving[g], arrives)
	}
	p.adding[arrives.Sum] = true
	return nil
}

func (p *Packs) end(arrives protocol.Pack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.adding, arrives.Sum)
}

// has reports whether the pack of a result has arrived.
func (p *Packs) has(r protocol.Pack) bool {
	if p == nil {
		return false
	}
	f, err := p.Gotten.Open(r)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// Sweep removes packs that nobody needs any more: bases of grants that are over, and what such grants have sent unless it is
// the pack of a result. Returned is asked after holds, so that a result which was taken in between keeps its pack.
func (p *Packs) Sweep(holds func(lease string, fence uint64) bool, returned func() ([]protocol.Pack, error)) error {
	if p == nil {
		return nil
	}
	return errors.Join(p.sweepBases(holds), p.sweepGotten(holds, returned))
}

func (p *Packs) sweepGotten(holds func(string, uint64) bool, returned func() ([]protocol.Pack, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var keep []protocol.Pack
	for g, list := range p.arriving {
		if holds(g.lease, g.fence) {
			keep = append(keep, list...)
		} else {
			delete(p.arriving, g)
		}
	}
	back, err := returned()
	if err != nil {
		return err
	}
	return p.Gotten.Keep(append(keep, back...))
}
