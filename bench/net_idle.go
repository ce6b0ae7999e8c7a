package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// idleCells measures what cells cost that do nothing, with a network and without.
func (t *theatre) idleCells() error {
	fmt.Printf("| idle, for each cell | without a network | with one | more |\n|---|---|---|---|\n")
	for _, n := range []int{1, 10, 20} {
		var used [2]int64
		for i, server := range []string{"", t.at} {
			for turn := range t.turns {
				bytes, err := t.idleOnce(n, server, filepath.Join(t.dir, fmt.Sprintf("idle-%d-%d-%d", n, i, turn)))
				if err != nil {
					return err
				}
				used[i] += bytes / int64(t.turns)
			}
		}
		each := func(bytes int64) string { return fmt.Sprintf("%.2f MB", float64(bytes)/float64(n)/1e6) }
		fmt.Printf("| %d | %s | %s | %s |\n", n, each(used[0]), each(used[1]), each(used[1]-used[0]))
	}
	fmt.Print("\nResident memory of the supervisor, all of it, and of the first processes of the cells. Target: at most 2 MB more.\n\n")
	return nil
}

func (t *theatre) idleOnce(n int, server, dir string) (int64, error) {
	p, err := newPart(t.self, "idle", dir, server, fmt.Sprint(n))
	if err != nil {
		return 0, err
	}
	var own, cells int64
	if err := p.words(&own, &cells); err != nil {
		return 0, err
	}
	return own + cells, p.end()
}

// startsOfCells measures /bin/true bare, and by cordon exec with networks.
func (t *theatre) startsOfCells() error {
	dir := filepath.Join(t.dir, "start")
	boxes := []sandbox{
		{"bare", func(_ string, argv []string) []string { return argv }},
		{"cordon exec, no network", func(_ string, argv []string) []string { return append([]string{t.cordon, "exec", "--"}, argv...) }},
	}
	for _, n := range []struct{ name, section string }{
		{"a host port", "host_ports: [8080]"},
		{"three domains", "allowed_domains: [one.example.com, '*.two.example.com', 'three.example.com:22']"},
	} {
		file := filepath.Join(t.dir, n.name+".yaml")
		if err := os.WriteFile(file, []byte("network:\n  "+n.section+"\n"), 0o644); err != nil {
			return err
		}
		boxes = append(boxes, sandbox{"cordon exec, " + n.name, func(_ string, argv []string) []string {
			return append([]string{t.cordon, "exec", "--policy", file, "--"}, argv...)
		}})
	}
	return starts(boxes, dir, t.rounds)
}
