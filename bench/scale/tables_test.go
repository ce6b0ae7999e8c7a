package scale

import (
	"fmt"
	"io"
)

// usual is a team's fleet: agents that work for ten minutes, tests of two.
func usual() Fleet {
	return Fleet{
		Nodes: 8, Slots: 4, Stage: 600, Accept: 120, Tests: 4, Fails: 0.1,
		Base: 500e6, Delta: 20e3, Link: 100e6, Home: 0.5, Backlog: 64,
	}
}

// change is a fleet that differs from another.
type change struct {
	name string
	make func(*Fleet)
}

func tables(out io.Writer) {
	table(out, "More nodes", []change{
		{"1 node", func(f *Fleet) { f.Nodes = 1 }}, {"2 nodes", func(f *Fleet) { f.Nodes = 2 }}, {"4 nodes", func(f *Fleet) { f.Nodes = 4 }},
		{"8 nodes", func(f *Fleet) { f.Nodes = 8 }}, {"32 nodes", func(f *Fleet) { f.Nodes = 32 }}, {"256 nodes", func(f *Fleet) { f.Nodes = 256 }},
	})
	table(out, "Acceptance at home, with 32 nodes", with(func(f *Fleet) { f.Nodes = 32 }, []change{
		{"4 tests of 120 s", func(*Fleet) {}},
		{"16 tests of 120 s", func(f *Fleet) { f.Tests = 16 }},
		{"4 tests of 30 s", func(f *Fleet) { f.Accept = 30 }},
		{"16 tests of 30 s", func(f *Fleet) { f.Tests, f.Accept = 16, 30 }},
		{"64 tests of 30 s", func(f *Fleet) { f.Tests, f.Accept = 64, 30 }},
	}))
	large := func(f *Fleet) { f.Nodes, f.Tests, f.Accept, f.Backlog = 1024, 256, 10, 1024 }
	table(out, "The home itself, with 1,024 nodes and 256 tests of 10 s", with(large, []change{
		{"0.5 s for a stage", func(*Fleet) {}},
		{"0.1 s for a stage", func(f *Fleet) { f.Home = 0.1 }},
	}))
	table(out, "Bytes, with 256 nodes and 64 tests of 10 s", with(func(f *Fleet) { f.Nodes, f.Tests, f.Accept, f.Home = 256, 64, 10, 0.1 }, []change{
		{"20 KB between two bases", func(*Fleet) {}},
		{"20 MB between two bases", func(f *Fleet) { f.Delta = 20e6 }},
		{"200 MB between two bases", func(f *Fleet) { f.Delta = 200e6 }},
		{"the whole base each time", func(f *Fleet) { f.Delta = f.Base }},
	}))
}

func with(first func(*Fleet), list []change) (all []change) {
	for _, c := range list {
		all = append(all, change{c.name, func(f *Fleet) { first(f); c.make(f) }})
	}
	return all
}

func table(out io.Writer, title string, rows []change) {
	const head = "| | landed in an hour | nodes busy | network | acceptance | home | result to landing | limit |\n|---|---|---|---|---|---|---|---|\n"
	fmt.Fprintf(out, "### %s\n\n%s", title, head)
	for _, row := range rows {
		f := usual()
		row.make(&f)
		o := Simulate(f)
		fmt.Fprintf(out, "| %s | %.0f | %.0f %% | %.0f %% | %.0f %% | %.0f %% | %.0f s | %s |\n",
			row.name, o.Landed, 100*o.Busy[slots], 100*o.Busy[link], 100*o.Busy[tests], 100*o.Busy[own], o.Wait, o.Limit())
	}
	fmt.Fprintln(out)
}
