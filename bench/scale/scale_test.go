package scale

import (
	"flag"
	"math"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables into docs/scale.md")

// The document has the tables of the simulation, from the first heading of one to the next chapter.
func TestDocument(t *testing.T) {
	const file, begin, end = "../../docs/scale.md", "### More nodes\n", "## Nodes that wait\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the tables", file)
	}
	var printed strings.Builder
	tables(&printed)
	want := before + printed.String() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s does not have the tables of the simulation: go test ./bench/scale -update writes them", file)
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
