package home

import (
	"maps"
	"time"

	"cordon/internal/fleet/protocol"
)

// Heard is when a home heard a node last. No grant depends on it, and a broker that repeats messages of a node can make
// it look alive.
type Heard struct {
	At      time.Time `json:"at"`
	Program string    `json:"program"` // the version that the node says it has
	// Can is what the node said last. Offers go to nodes that can run them by it; a grant asks for the node's own word.
	Can *protocol.Can `json:"can,omitempty"`
}

// maxProgram bounds what a node says about its program.
const maxProgram = 80

// hear notes who has asked, if the judgement proves it to be a node. The book is locked.
func (h *Home) hear(j protocol.Judgement, now time.Time) {
	if m := h.book.members[j.Key]; m != nil && !m.Removed && j.Verdict != protocol.OtherSender {
		can := j.Can
		if can == nil {
			can = h.heard[j.Key].Can
		}
		h.heard[j.Key] = Heard{now, j.Program[:min(len(j.Program), maxProgram)], can}
	}
}

// Remember takes what an earlier home has heard.
func (h *Home) Remember(heard map[string]Heard) {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	maps.Copy(h.heard, heard)
}

// Heard is when each node was heard last, by key.
func (h *Home) Heard() map[string]Heard {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	return maps.Clone(h.heard)
}

// Member is the node with a key. Who has no such key never joined.
func (h *Home) Member(key string) (protocol.Member, bool) {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	if h.book.refresh() != nil || h.book.members[key] == nil {
		return protocol.Member{}, false
	}
	return h.book.members[key].Member, true
}

// Used reports whether a node has joined with a ticket.
func (h *Home) Used(ticket string) bool {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	return h.book.used[ticket]
}
