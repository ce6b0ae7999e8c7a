package main

import (
	"context"
	"fmt"
	"io"

	"cordon/internal/fleet/metrics"
)

const metricsFlag = "serve metrics for Prometheus at `[HOST:]PORT`; without HOST only to this machine"

// serveMetrics serves metrics until ctx ends, if the operator wants any.
func serveMetrics(ctx context.Context, out io.Writer, address string, collect func(context.Context) []metrics.Family) error {
	if address == "" {
		return nil
	}
	l, err := metrics.Listen(address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "metrics at http://%s/metrics\n", l.Addr())
	go func() {
		if err := metrics.Serve(ctx, l, collect); err != nil {
			fmt.Fprintln(out, "metrics are not served any more:", err)
		}
	}()
	return nil
}
