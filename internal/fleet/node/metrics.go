package node

import (
	"context"
	"sync/atomic"

	"cordon/internal/fleet/metrics"
)

// counts are what a node has done since it started.
type counts struct {
	offers, granted, running, returned, refused, stopped, failed atomic.Int64
	answered                                                     atomic.Int64 // milliseconds since 1970
	draining                                                     atomic.Bool
}

// Metrics are the numbers of a node. docs/fleet.md lists them.
func (n *Node) Metrics(context.Context) []metrics.Family {
	c := &n.counts
	ended := metrics.Family{Name: "cordon_node_stages_total", Help: "Stages that this node was granted, by how they ended here.", Type: metrics.Counter}
	for _, one := range []struct {
		end   string
		count *atomic.Int64
	}{{"returned", &c.returned}, {"refused", &c.refused}, {"stopped", &c.stopped}, {"failed", &c.failed}} {
		ended.Samples = append(ended.Samples, metrics.Sample{Labels: []string{"end", one.end}, Value: float64(one.count.Load())})
	}
	draining := 0.0
	if c.draining.Load() {
		draining = 1
	}
	return append([]metrics.Family{
		metrics.Number(metrics.Gauge, "cordon_node_build_info", "The version of the node.", 1, "version", n.Program),
		metrics.Number(metrics.Gauge, "cordon_node_home_answered_timestamp_seconds", "When the home answered last; 0: never.", float64(c.answered.Load())/1000),
		metrics.Number(metrics.Gauge, "cordon_node_draining", "Whether the home gives this node nothing new.", draining),
		metrics.Number(metrics.Gauge, "cordon_node_slots", "Stages that this node runs at the same time.", float64(n.Slots)),
		metrics.Number(metrics.Gauge, "cordon_node_stages_running", "Stages that run now.", float64(c.running.Load())),
		metrics.Number(metrics.Counter, "cordon_node_offers_total", "Offers that this node has taken from a queue.", float64(c.offers.Load())),
		metrics.Number(metrics.Counter, "cordon_node_grants_total", "Offers that the home has granted.", float64(c.granted.Load())),
		ended,
	}, metrics.Process()...)
}
