package worksite

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cordon/internal/base"
	"cordon/internal/git"
	"cordon/internal/lease"
)

// BaseStore holds the prepared checkouts that trees share.
func (s *Site) BaseStore() base.Store {
	return base.Store{Bin: s.Bin, State: s.State, Format: s.Host.Format}
}

// trustTime is how long a base that was verified is taken to be what it was: launches
// come in bursts.
const trustTime = time.Minute

// verifiedBase is a base that was looked at, or is being.
type verifiedBase struct {
	base.Base
	done chan struct{}
	at   time.Time // zero: it is not there, or not what it was
	hold func()    // lets it go; kept, so that it is not let go before the end
}

// VerifyBaseEarly looks at the base of a commit while other things are done, if there is one.
func (s *Site) VerifyBaseEarly(ctx context.Context, commit git.OID) {
	if !s.State.Exists() || s.verified != nil {
		return
	}
	v := &verifiedBase{done: make(chan struct{})}
	s.verified = map[git.OID]*verifiedBase{commit: v}
	store, repo, now := s.BaseStore(), s.Host.Repo, s.Now
	go func() {
		defer close(v.done)
		var err error
		if v.hold, err = holdBase(ctx, store, repo, commit); err != nil {
			return
		}
		b, there, err := store.Find(ctx, repo, commit)
		if err == nil && there && store.Verify(ctx, b) == nil {
			v.Base, v.at = b, now()
		}
	}()
}

// holdBase keeps the base of a commit from being removed: acceptance commands run on
// one that no lease names.
func holdBase(ctx context.Context, store base.Store, repo git.Repo, commit git.OID) (release func(), err error) {
	tree, err := repo.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	return store.Hold(string(tree))
}

// BaseOf is what layered trees of a commit lie on, verified. It is made when it is not
// there.
func (s *Site) BaseOf(ctx context.Context, id lease.ID, commit git.OID) (base.Base, error) {
	if v := s.verified[commit]; v != nil {
		<-v.done
		if s.Now().Sub(v.at) < trustTime {
			return v.Base, nil
		}
	}
	if s.verified == nil {
		s.verified = map[git.OID]*verifiedBase{}
	}
	began := s.Now()
	release, err := holdBase(ctx, s.BaseStore(), s.Gate.Repo(), commit)
	if err != nil {
		return base.Base{}, err
	}
	b, err := s.BaseStore().Ensure(ctx, s.Gate.Repo(), commit, func(done, total int) { s.Voice.Files(id, done, total) })
	if err != nil {
		return b, err
	}
	if b.Made != "" {
		s.Voice.Step(id, "base", fmt.Sprintf("%s, %.1f s; the next worker shares it", b.Made, s.Now().Sub(began).Seconds()))
	}
	v := &verifiedBase{Base: b, done: make(chan struct{}), at: s.Now(), hold: release}
	close(v.done)
	s.verified[commit] = v
	return b, nil
}

// BaseIndex is a file with git's index of a commit that has a base; "" if there is none.
func (s *Site) BaseIndex(ctx context.Context, commit git.OID) string {
	b, there, err := s.BaseStore().Find(ctx, s.Host.Repo, commit)
	if err != nil || !there {
		return ""
	}
	return filepath.Join(b.Index, "index")
}
