package lease

import (
	"bytes"
	"sync"

	"cordon/internal/policy"
)

// opened remembers leases that this process has opened: a run reads its journal several
// times, and the same bytes with the same hash are the same lease.
var opened memory

// memory does not grow without end.
type memory struct {
	mu  sync.Mutex
	all map[string]Sealed // by their hashes
}

const maxOpened = 512

func (m *memory) find(b []byte, hash string) (Sealed, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.all[hash]
	return s, ok && bytes.Equal(s.bytes, b)
}

func (m *memory) keep(s Sealed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= maxOpened {
		m.all = map[string]Sealed{}
	}
	m.all[s.hash] = s
}

// validated are policies that this process has found valid, in the encoding that leases have of
// them. The leases of a journal have few.
var validated texts

// validate is p.Validate, once for each policy. One size is as valid as another, and those that follow the room on
// the disk differ from lease to lease.
func validate(p policy.Policy) error {
	like := p
	for _, size := range []*policy.Bytes{&like.Limits.Memory, &like.Limits.Disk} {
		if size.Fits() {
			*size = 1
		}
	}
	text, err := encode(like)
	if err != nil {
		return err
	}
	if validated.has(string(text)) {
		return nil
	}
	if err := p.Validate(); err != nil {
		return err
	}
	validated.add(string(text))
	return nil
}

// texts is a set that does not grow without end.
type texts struct {
	mu  sync.Mutex
	all map[string]bool
}

const maxTexts = 64

func (t *texts) has(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[text]
}

func (t *texts) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil || len(t.all) >= maxTexts {
		t.all = map[string]bool{}
	}
	t.all[text] = true
}
