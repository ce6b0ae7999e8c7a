package worksite

import (
	"context"
	"maps"
	"slices"
	"sync"

	"cordon/internal/git"
	"cordon/internal/ledger"
)

// relation is how a commit stands to the tip of a branch.
type relation struct {
	merged bool // the tip reaches it
	behind int  // commits that the tip reaches and it does not
}

// kinship remembers relations, by branch, as long as its tip stays where it is. Nothing of
// it is stored: whoever asks first asks git.
type kinship struct {
	sync.Mutex
	branches map[string]branchKin
}

type branchKin struct {
	tip git.OID
	of  map[git.OID]relation
}

// among is how the commits of workers stand to the branches that they are to land on. A
// branch or a commit that the host does not have has no relation.
func (k *kinship) among(ctx context.Context, host git.Host, targets map[string][]*ledger.Worker) (map[string]map[git.OID]relation, error) {
	k.Lock()
	defer k.Unlock()
	tips, err := commitsNamed(ctx, host, slices.Sorted(maps.Keys(targets)))
	if err != nil {
		return nil, err
	}
	now, asked := map[string]branchKin{}, map[string]bool{}
	for target, workers := range targets {
		tip, there := tips[target]
		if !there {
			continue
		}
		kin := k.branches[target]
		if kin.tip != tip {
			kin = branchKin{tip, map[git.OID]relation{}}
		}
		now[target] = kin
		for c := range kin.unknown(workers) {
			asked[string(c)] = true
		}
	}
	found, err := commitsNamed(ctx, host, slices.Sorted(maps.Keys(asked)))
	if err != nil {
		return nil, err
	}
	answer := map[string]map[git.OID]relation{}
	for target, kin := range now {
		if err := kin.learn(ctx, host, kin.unknown(targets[target]), found); err != nil {
			return nil, err
		}
		answer[target] = maps.Clone(kin.of)
	}
	if k.branches == nil {
		k.branches = map[string]branchKin{}
	}
	maps.Copy(k.branches, now)
	return answer, nil
}

// unknown are the commits of workers that nobody has asked for since the tip is there.
func (b branchKin) unknown(workers []*ledger.Worker) map[git.OID]bool {
	list := map[git.OID]bool{}
	for _, w := range workers {
		for _, c := range commitsOf(w) {
			if _, known := b.of[c]; !known {
				list[c] = true
			}
		}
	}
	return list
}

// learn asks for those commits that were found. The others may come later.
func (b branchKin) learn(ctx context.Context, host git.Host, commits map[git.OID]bool, found map[string]git.OID) error {
	maps.DeleteFunc(commits, func(c git.OID, _ bool) bool { _, there := found[string(c)]; return !there })
	if len(commits) == 0 {
		return nil
	}
	list := slices.Sorted(maps.Keys(commits))
	graph, err := host.Graph(ctx, b.tip, list)
	if err != nil {
		return err
	}
	for _, c := range list {
		b.of[c] = relation{graph.Merged(c), graph.Behind(c)}
	}
	return nil
}

// commitsNamed are those of the names that stand for commits of the host.
func commitsNamed(ctx context.Context, host git.Host, names []string) (map[string]git.OID, error) {
	found := map[string]git.OID{}
	if len(names) == 0 {
		return found, nil
	}
	list, err := host.Lookup(ctx, names)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if list[i].Kind == "commit" {
			found[name] = list[i].OID
		}
	}
	return found, nil
}
