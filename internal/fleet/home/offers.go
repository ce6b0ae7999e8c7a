package home

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/fleet/protocol"
)

// offerAll offers every stage that no node has and that some node may have now, and says why the others wait. What the
// engine does not take now is offered again.
func (h *Home) offerAll(ctx context.Context) {
	behind := h.Backlog != nil && h.MaxBacklog > 0 && h.Backlog() >= h.MaxBacklog
	stages := h.Source.Stages()
	round := h.newRound(behind, len(stages) > 0)
	var full error
	for _, s := range stages {
		class, due := h.due(s, round)
		switch {
		case !due:
		case full != nil:
			round.why[s.Lease] = full.Error()
		default:
			full = h.offer(ctx, class, s)
		}
	}
	if h.Waits != nil {
		h.Waits(round.why)
	}
}

// round is one look at all stages.
type round struct {
	now      time.Time
	ready    []*member
	promised map[string]int    // offers to chosen nodes, by key
	why      map[string]string // the reason why a stage waits, by worker
}

// newRound begins a round. One without stages does not look at the nodes.
func (h *Home) newRound(behind, stages bool) *round {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	h.behind = behind
	if h.BackOffs != nil {
		h.backOffs = h.BackOffs()
	}
	r := &round{now: time.Now(), promised: map[string]int{}, why: map[string]string{}}
	if !stages {
		return r
	}
	for _, m := range h.book.sorted() {
		if !m.Removed && !m.Draining {
			r.ready = append(r.ready, m)
		}
	}
	return r
}

// due reports whether a stage is to be offered, and to whom. A stage that any node may have goes to all; one that only
// some can run, to one of them.
func (h *Home) due(s Stage, r *round) (class string, due bool) {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	at := h.book.stage(s)
	if at.Over || at.Withdrawn || h.alive(at.Grant, r.now) || !r.now.Before(s.Until) {
		return "", false
	}
	nodes, fits, lacks := h.fitting(s, r.ready)
	switch why := h.limited(at, r.now); {
	case len(nodes) == 0:
		r.why[s.Lease] = "no node is ready: cordon fleet join adds one"
		return AnyClass, s.On == "" // a node may join because it waits
	case len(fits) == 0:
		r.why[s.Lease] = "no node can run it: " + strings.Join(lacks[:min(len(lacks), mostNamed)], "; ")
		return "", false
	case why != "":
		r.why[s.Lease] = why
		return "", false
	case h.allCrowded(at, fits, r.now):
		r.why[s.Lease] = "it waits for memory of " + named(fits)
		return "", false
	case s.On != "":
		r.why[s.Lease] = "it waits for a free slot of " + s.On
		return nodes[0].Key, true
	case len(fits) == len(nodes):
		r.why[s.Lease] = "it waits for a node with a free slot"
		return AnyClass, true
	}
	key := h.choose(at, fits, r)
	r.why[s.Lease] = "it waits for a free slot of " + named(fits)
	return key, key != ""
}

// fitting are the nodes that may be given a stage, those of them that can run it, and what the others lack. A node that has
// not said yet what it can run says so when it asks.
func (h *Home) fitting(s Stage, ready []*member) (nodes, fits []*member, lacks []string) {
	if s.On == "" && s.Needs == (protocol.Needs{}) && s.Trial == nil {
		return ready, ready, nil
	}
	for _, m := range ready {
		if s.On != "" && m.Name != s.On {
			continue
		}
		nodes = append(nodes, m)
		lack := ""
		if can := h.heard[m.Key].Can; can != nil {
			lack = can.Lacks(s.Needs)
		}
		if s.Trial != nil && !s.Trial.MayTest(m.Key) {
			lack = "made the result that is to be tested"
		}
		if lack == "" {
			fits = append(fits, m)
		} else {
			lacks = append(lacks, m.Name+" "+lack)
		}
	}
	return nodes, fits, lacks
}

// silent is after how long a node that says nothing is not chosen. It says hello about every three minutes.
const silent = 6 * time.Minute

// choose is the next node in turn that can run a stage and has room, by what the journal says that it runs; "": none has.
func (h *Home) choose(at protocol.Stage, fits []*member, r *round) string {
	h.turns++
	for i := range fits {
		key := fits[(h.turns+i)%len(fits)].Key
		last := h.heard[key]
		var can protocol.Can
		if last.Can != nil {
			can = *last.Can
		}
		if r.now.Sub(last.At) > silent || can.Slots > 0 && len(h.running(key, r.now))+r.promised[key] >= can.Slots || h.crowded(key, can, at, r.now) {
			continue
		}
		r.promised[key]++
		return key
	}
	return ""
}

// mostNamed is how many nodes a reason names.
const mostNamed = 5

func named(nodes []*member) string {
	var names []string
	for _, m := range nodes[:min(len(nodes), mostNamed)] {
		names = append(names, m.Name)
	}
	if len(nodes) > mostNamed {
		names = append(names, fmt.Sprintf("%d more", len(nodes)-mostNamed))
	}
	return strings.Join(names, ", ")
}

// full is why a node may not have a stage now although it can run it; "": it may. The book is locked.
func (h *Home) full(key string, can protocol.Can, at protocol.Stage, now time.Time) string {
	if h.crowded(key, can, at, now) {
		return "the memory of the node is taken"
	}
	return h.limited(at, now)
}

// crowded reports whether the stages of a node leave too little of its memory for another one.
func (h *Home) crowded(key string, can protocol.Can, at protocol.Stage, now time.Time) bool {
	if can.Memory == 0 || at.Needs.Memory == 0 {
		return false
	}
	taken := at.Needs.Memory
	for _, lease := range h.running(key, now) {
		if s, ok := h.Source.Stage(lease); ok && lease != at.Lease {
			taken += s.Needs.Memory
		}
	}
	return taken > can.Memory
}

// allCrowded reports whether none of these nodes has enough memory left.
func (h *Home) allCrowded(at protocol.Stage, nodes []*member, now time.Time) bool {
	return at.Needs.Memory > 0 && !slices.ContainsFunc(nodes, func(m *member) bool {
		can := h.heard[m.Key].Can
		return can == nil || !h.crowded(m.Key, *can, at, now)
	})
}

// limited is which limit of the operator's or of a provider a stage would exceed now; "": none.
func (h *Home) limited(at protocol.Stage, now time.Time) string {
	if h.behind && at.Trial == nil { // a test makes the backlog smaller
		return fmt.Sprintf("%d results wait to be judged at home (fleet.results): nothing new starts until there are fewer", h.MaxBacklog)
	}
	if until := h.backOffs[at.Needs.Provider]; now.Before(until) {
		return fmt.Sprintf("it waits until %s: the provider %s is asked too often", until.Local().Format("15:04:05"), at.Needs.Provider)
	}
	return cmp.Or(
		h.exceeded(at, now, h.AtMost.Clients, func(n protocol.Needs) string { return n.Client }),
		h.exceeded(at, now, h.AtMost.Providers, func(n protocol.Needs) string { return n.Provider }),
	)
}

// exceeded is which of these bounds a stage would exceed now; "": none.
func (h *Home) exceeded(at protocol.Stage, now time.Time, bounds map[string]int, of func(protocol.Needs) string) string {
	name := of(at.Needs)
	most, bounded := bounds[name]
	if !bounded || name == "" {
		return ""
	}
	count := 0
	for _, lease := range h.running("", now) {
		if s, ok := h.Source.Stage(lease); ok && lease != at.Lease && of(s.Needs) == name {
			count++
		}
	}
	if count < most {
		return ""
	}
	return fmt.Sprintf("as many stages of %s run as fleet.at_most allows (%d)", name, most)
}

// running are the workers whose stage a node has; those of all nodes without a key. The book is locked.
func (h *Home) running(key string, now time.Time) (list []string) {
	for worker, at := range h.book.hands {
		if at.result == "" && !at.withdrawn && h.alive(at.grant, now) && (key == "" || at.grant.Node == key) {
			list = append(list, worker)
		}
	}
	return list
}
