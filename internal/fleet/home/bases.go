package home

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/protocol"
	"cordon/internal/git"
)

// base is a base without what some node has of it. Whoever wants the same gets the same.
type base struct {
	grants map[grantOf]bool // who wants it
	stop   context.CancelFunc
	done   chan struct{} // closed when the rest is set
	pack   protocol.Pack
	err    error
}

// want finds the part of a base that a node lacks, or has it made. One is made at a time.
func (p *Packs) want(w protocol.Want, of git.OID) (protocol.Pack, error) {
	b, err := p.wanted(grantOf{w.Lease, w.Fence}, of, w.Have)
	if err != nil {
		return protocol.Pack{}, err
	}
	select {
	case <-b.done:
		return b.pack, b.err
	case <-time.After(soon):
		return protocol.Pack{}, errNotYet
	}
}

func (p *Packs) wanted(g grantOf, of git.OID, have []string) (*base, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := string(of) + " " + strings.Join(slices.Sorted(slices.Values(have)), " ")
	b := p.bases[key]
	if b != nil && b.grants[g] {
		return b, nil
	}
	if p.wants(g) == maxPacks {
		return nil, errTooMany
	}
	if b == nil || b.isDone() && b.err != nil { // what failed for another grant is tried again
		if p.bases == nil {
			p.bases = map[string]*base{}
		}
		ctx, stop := context.WithCancel(context.Background())
		b = &base{grants: map[grantOf]bool{}, stop: stop, done: make(chan struct{})}
		p.bases[key] = b
		go p.make(ctx, b, of, have)
	}
	b.grants[g] = true
	return b, nil
}

// wants counts the bases that a node wants for a grant.
func (p *Packs) wants(g grantOf) (n int) {
	for _, b := range p.bases {
		if b.grants[g] {
			n++
		}
	}
	return n
}

// make makes a base, in the room that others leave.
func (p *Packs) make(ctx context.Context, b *base, of git.OID, have []string) {
	p.making.Lock()
	defer p.making.Unlock()
	defer close(b.done)
	defer b.stop()
	if b.err = ctx.Err(); b.err != nil {
		return
	}
	var used int64
	if b.err = p.removeBases(); b.err == nil {
		used, b.err = p.Bases.Size()
	}
	var known []git.OID
	if b.err == nil {
		known, b.err = p.known(ctx, have)
	}
	if b.err != nil {
		return
	}
	b.pack, b.err = p.Bases.Make(ctx, p.Host, of, known, true, min(p.Most, p.Room-used))
	if errors.Is(b.err, pack.ErrTooLong) && p.Room-used < p.Most {
		b.err = errNoRoom
	}
}

// known are the commits that the home has too. Others say nothing.
func (p *Packs) known(ctx context.Context, have []string) (list []git.OID, err error) {
	var asked []git.OID
	for _, oid := range have {
		asked = append(asked, git.OID(oid))
	}
	kinds, err := p.Host.Kinds(ctx, asked)
	for _, oid := range asked {
		if kinds[oid] == "commit" {
			list = append(list, oid)
		}
	}
	return list, err
}

// isMade reports whether a pack is a base that was made for this grant: a node reads no other.
func (p *Packs) isMade(g grantOf, asked protocol.Pack) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.bases {
		if b.grants[g] && b.isDone() && b.err == nil && b.pack == asked {
			return true
		}
	}
	return false
}

func (b *base) isDone() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// sweepBases forgets what no grant wants any more, and removes it unless a base is made at the moment: that does so too.
func (p *Packs) sweepBases(holds func(string, uint64) bool) error {
	p.forget(holds)
	if !p.making.TryLock() {
		return nil
	}
	defer p.making.Unlock()
	return p.removeBases()
}

func (p *Packs) forget(holds func(string, uint64) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, b := range p.bases {
		for g := range b.grants {
			if !holds(g.lease, g.fence) {
				delete(b.grants, g)
			}
		}
		if len(b.grants) == 0 {
			b.stop()
			delete(p.bases, key)
		}
	}
}

// removeBases removes the bases that nobody wants. The caller has p.making.
func (p *Packs) removeBases() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var keep []protocol.Pack
	for _, b := range p.bases {
		keep = append(keep, b.pack)
	}
	return p.Bases.Keep(keep)
}
