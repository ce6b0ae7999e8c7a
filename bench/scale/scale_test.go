package main

import (
	"math"
	"os"
	"strings"
	"testing"
)

// The document has the tables that the simulation prints.
func TestDocument(t *testing.T) {
	var printed strings.Builder
	tables(&printed)
	text, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), strings.TrimSpace(printed.String())) {
		t.Error("docs/scale.md does not have the tables that go run ./bench/scale prints")
	}
}

// The simulation agrees with what can be computed.
func TestKnownCases(t *testing.T) {
	near := func(name string, got, want, off float64) {
		t.Helper()
		if math.Abs(got-want) > want*off {
			t.Errorf("%s: %.1f, not about %.1f", name, got, want)
		}
	}
	alone := usual()
	alone.Nodes, alone.Fails = 1, 0
	near("one node: slots over the time of a stage", Simulate(alone).Landed, 4*3600/600.0, 0.1)
	full := usual()
	full.Nodes, full.Fails = 32, 0
	near("many nodes: tests over the time of acceptance", Simulate(full).Landed, 4*3600/120.0, 0.03)
	slow := usual()
	slow.Delta, slow.Tests, slow.Fails = slow.Link*30, 64, 0
	near("a slow network: one base after the other", Simulate(slow).Landed, 3600/30.0, 0.05)
	if a, b := Simulate(usual()), Simulate(usual()); a.Landed != b.Landed || a.Wait != b.Wait {
		t.Error("two runs differ")
	}
}
