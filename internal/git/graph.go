package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Found is what a name stands for: the zero value where there is no such object.
type Found struct {
	OID  OID
	Kind string
}

// Graph is a tip and some commits, with the history that they do not all share.
type Graph struct {
	parents map[OID][]OID
	tip     map[OID]bool // of parents: what the tip reaches
}

// mostBases is how many commits git is asked for a common ancestor of: they are arguments.
const mostBases = 10_000

// Graph reads, with two processes, how any number of commits stand to a tip. All of them
// must be commits of the repository.
func (r Repo) Graph(ctx context.Context, tip OID, commits []OID) (*Graph, error) {
	if !slices.ContainsFunc(commits, func(c OID) bool { return c != tip }) {
		return &Graph{}, nil // the tip is all that there is
	}
	all := append([]OID{tip}, commits...)
	shared, err := r.sharedAncestor(ctx, all)
	if err != nil {
		return nil, err
	}
	var in strings.Builder
	for _, c := range all {
		fmt.Fprintln(&in, c)
	}
	if shared != "" {
		fmt.Fprintln(&in, "^"+shared)
	}
	out, err := r.call(ctx, call{args: []string{"rev-list", "--parents", "--stdin"}, stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, err
	}
	g := &Graph{parents: map[OID][]OID{}}
	for line := range strings.Lines(string(out)) {
		var oids []OID
		for _, f := range strings.Fields(line) {
			oids = append(oids, OID(f))
		}
		g.parents[oids[0]] = oids[1:]
	}
	g.tip = g.reach(tip)
	return g, nil
}

// sharedAncestor is a commit that all reach, or "".
func (r Repo) sharedAncestor(ctx context.Context, all []OID) (OID, error) {
	if len(all) > mostBases {
		return "", nil
	}
	args := []string{"merge-base", "--octopus"}
	for _, c := range all {
		args = append(args, string(c))
	}
	out, err := r.run(ctx, args...)
	if exitCode(err) == 1 {
		return "", nil
	}
	return OID(strings.TrimSpace(string(out))), err
}

// reach is what a commit reaches of the history that is not shared by all.
func (g *Graph) reach(from OID) map[OID]bool {
	seen, queue := map[OID]bool{}, []OID{from}
	for len(queue) > 0 {
		c := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		parents, here := g.parents[c]
		if !here || seen[c] {
			continue
		}
		seen[c] = true
		queue = append(queue, parents...)
	}
	return seen
}

// Merged reports whether the tip reaches one of the commits.
func (g *Graph) Merged(c OID) bool {
	_, apart := g.parents[c]
	return !apart || g.tip[c]
}

// Behind counts the commits that the tip reaches and one of the commits does not.
func (g *Graph) Behind(c OID) int {
	n := len(g.tip)
	for at := range g.reach(c) {
		if g.tip[at] {
			n--
		}
	}
	return n
}
