package home

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"cordon/internal/fleet/metrics"
	"cordon/internal/fleet/protocol"
)

// counts are what a home has heard and sent since it started.
type counts struct {
	mu             sync.Mutex
	questions      map[question]int
	sent, received int // bytes of packs
}

type question struct {
	kind    protocol.Kind
	verdict protocol.Verdict
}

// note counts an answer. Messages without a right signature are of no kind.
func (c *counts) note(a protocol.Answer, j protocol.Judgement) {
	kind := j.Kind
	if !slices.Contains(protocol.Questions, kind) {
		kind = "other"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.questions == nil {
		c.questions = map[question]int{}
	}
	c.questions[question{kind, a.Verdict}]++
	c.sent += len(a.Piece)
	if j.Put != nil && a.Verdict == protocol.Go {
		c.received += len(j.Put.Piece)
	}
}

// Metrics are the numbers of a home. docs/fleet.md lists them.
func (h *Home) Metrics(ctx context.Context) []metrics.Family {
	list := []metrics.Family{metrics.Number(metrics.Gauge, "cordon_home_build_info", "The version of the home.", 1, "version", h.Program)}
	list = append(list, h.engineMetrics(ctx)...)
	list = append(list, h.bookMetrics(time.Now())...)
	return append(append(list, h.counts.metrics()...), metrics.Process()...)
}

// engineMetrics says nothing about a queue that cannot be looked at.
func (h *Home) engineMetrics(ctx context.Context) []metrics.Family {
	waiting, err := h.Engine.Waiting(ctx)
	up := metrics.Number(metrics.Gauge, "cordon_home_engine_up", "Whether the engine answers.", 1)
	if err != nil {
		up.Samples[0].Value = 0
		return []metrics.Family{up}
	}
	return []metrics.Family{up, metrics.Number(metrics.Gauge, "cordon_home_offers", "Offers in the engine's queues.", float64(waiting))}
}

// bookMetrics is what the journal says.
func (h *Home) bookMetrics(now time.Time) []metrics.Family {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	heard := metrics.Family{Name: "cordon_home_node_heard_timestamp_seconds", Help: "When the home heard a node last.", Type: metrics.Gauge}
	var ready, draining float64
	for _, m := range h.book.sorted() {
		if m.Removed {
			continue
		}
		if m.Draining {
			draining++
		} else {
			ready++
		}
		if last, ok := h.heard[m.Key]; ok {
			heard.Samples = append(heard.Samples, metrics.Sample{Labels: []string{"node", m.Name}, Value: float64(last.At.UnixMilli()) / 1000})
		}
	}
	return []metrics.Family{
		metrics.Pair(metrics.Gauge, "cordon_home_nodes", "Nodes that have joined and were not removed.", "state", string(Ready), ready, string(Draining), draining),
		heard, h.stageMetrics(now),
		metrics.Number(metrics.Counter, "cordon_home_grants_total", "Grants in the journal.", float64(h.book.grants)),
		metrics.Number(metrics.Counter, "cordon_home_results_total", "Results in the journal that were taken.", float64(h.book.returns)),
	}
}

// stageMetrics counts the stages that wait for a node, and those that a node has. The book is locked.
func (h *Home) stageMetrics(now time.Time) metrics.Family {
	var waiting, running float64
	for _, s := range h.Source.Stages() {
		switch at := h.book.stage(s); {
		case at.Over || at.Withdrawn || !now.Before(s.Until):
		case h.alive(at.Grant, now):
			running++
		default:
			waiting++
		}
	}
	return metrics.Pair(metrics.Gauge, "cordon_home_stages", "Stages that wait for a node, and stages that a node has.",
		"state", "waiting", waiting, "running", running)
}

func (c *counts) metrics() []metrics.Family {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := metrics.Family{Name: "cordon_home_questions_total", Help: "Questions of nodes, and what the home answered.", Type: metrics.Counter}
	order := slices.SortedFunc(maps.Keys(c.questions), func(a, b question) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.verdict, b.verdict))
	})
	for _, q := range order {
		labels := []string{"kind", string(q.kind), "verdict", string(q.verdict)}
		asked.Samples = append(asked.Samples, metrics.Sample{Labels: labels, Value: float64(c.questions[q])})
	}
	return []metrics.Family{asked, metrics.Pair(metrics.Counter, "cordon_home_pack_bytes_total", "Bytes of bases sent and of results received.",
		"direction", "sent", float64(c.sent), "received", float64(c.received))}
}
