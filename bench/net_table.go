package main

import (
	"fmt"
	"slices"
	"time"
)

func (t *theatre) showStreams() {
	fmt.Printf("| one stream, 1 s, %d times | Gbit/s down | Gbit/s up | × plain | Gbit in 1 s of the relay's processor time, "+
		"down | up |\n|---|---|---|---|---|---|\n", t.turns)
	plain := t.ways[0].moved["download"]
	for _, w := range t.ways {
		down, up := w.moved["download"], w.moved["upload"]
		fmt.Printf("| %s | %s | %s | %.2f | %s | %s |\n", w.name, down.speed(), up.speed(),
			down.bits/down.took.Seconds()/(plain.bits/plain.took.Seconds()), down.each(), up.each())
	}
	fmt.Print("\nTarget: at least 2 Gbit in one second of one core.\n\n")
}

// speed is what was moved in a second, with the slowest and the fastest stream.
func (m *moved) speed() string {
	return fmt.Sprintf("%.1f (%.1f–%.1f)", m.bits/m.took.Seconds()/1e9, slices.Min(m.rates)/1e9, slices.Max(m.rates)/1e9)
}

func (m *moved) each() string {
	if m.cpu == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", m.bits/m.cpu.Seconds()/1e9)
}

func (t *theatre) showConnections() {
	fmt.Printf("| a connection and its first byte, %d of each | connected, p50 | first byte, p50 | p99 | above plain, "+
		"p50 | p99 |\n|---|---|---|---|---|---|\n", len(t.ways[0].at("first").times))
	plain := t.ways[0].at("first").times
	for _, w := range t.ways {
		first := w.at("first").times
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", w.name, micro(median(w.at("connected").times)), micro(median(first)), micro(share(first, 99)),
			micro(median(first)-median(plain)), micro(share(first, 99)-share(plain, 99)))
	}
	fmt.Print("\nTarget: at most 1,000 µs above plain.\n\n")
}

func micro(d time.Duration) string {
	return fmt.Sprintf("%d µs", d.Microseconds())
}

// share is what so many of a hundred take at most.
func share(list []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[(len(sorted)-1)*percent/100]
}
