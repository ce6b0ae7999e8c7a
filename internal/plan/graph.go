package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"cordon/internal/policy"
)

// graph is who waits for whom.
type graph struct {
	order []string            // as in the plan
	after map[string][]string // the stages that one waits for
	known map[string]map[string]bool
}

func (p Plan) graph() graph {
	g := graph{after: map[string][]string{}, known: map[string]map[string]bool{}}
	for _, s := range p.Stages {
		g.order = append(g.order, s.ID)
		for _, l := range s.After {
			g.after[s.ID] = append(g.after[s.ID], l.ID)
		}
	}
	return g
}

// cycle is a ring of stages that wait for each other, its first stage again at its end; nil if there is none.
func (g graph) cycle() []string {
	done := map[string]bool{}
	var path []string
	var visit func(id string) []string
	visit = func(id string) []string {
		if i := slices.Index(path, id); i >= 0 {
			return append(slices.Clone(path[i:]), id)
		}
		if done[id] {
			return nil
		}
		path = append(path, id)
		for _, next := range g.after[id] {
			if ring := visit(next); ring != nil {
				return ring
			}
		}
		path = path[:len(path)-1]
		done[id] = true
		return nil
	}
	for _, id := range g.order {
		if ring := visit(id); ring != nil {
			return ring
		}
	}
	return nil
}

// before are all the stages that one waits for, directly or not.
func (g graph) before(id string) map[string]bool {
	if found, ok := g.known[id]; ok {
		return found
	}
	found := map[string]bool{}
	g.known[id] = found // also ends the walk around a cycle
	for _, next := range g.after[id] {
		found[next] = true
		maps.Copy(found, g.before(next))
	}
	return found
}

// Blocks counts for each stage those that wait for it, directly or not.
func (p Plan) Blocks() map[string]int {
	g, n := p.graph(), map[string]int{}
	for _, id := range g.order {
		for before := range g.before(id) {
			n[before]++
		}
	}
	return n
}

// Order lists the stages so that each comes after those that it waits for, and otherwise as
// in the plan.
func (p Plan) Order() []Stage {
	g, depth := p.graph(), map[string]int{}
	for _, id := range g.order {
		depth[id] = len(g.before(id))
	}
	stages := slices.Clone(p.Stages)
	slices.SortStableFunc(stages, func(a, b Stage) int { return cmp.Compare(depth[a.ID], depth[b.ID]) })
	return stages
}

// Critical is the chain of stages that takes longest, by their time budgets. A stage without
// one counts as the mean of those that have one.
func (p Plan) Critical() []string {
	chain, _ := p.longest(p.weights())
	return chain
}

// Left is the chain of stages that takes longest from now on, and how long that is. Stages that are
// settled take no time and are left out. weigh says how long a stage still takes; nil: by its time
// budget.
func (p Plan) Left(all []Standing, weigh func(Standing) time.Duration) ([]string, time.Duration) {
	byBudget, known := p.weights(), map[string]Standing{}
	for _, st := range all {
		known[st.Stage.ID] = st
	}
	chain, length := p.longest(func(s Stage) time.Duration {
		switch st := known[s.ID]; {
		case st.Settled():
			return 0
		case weigh == nil:
			return byBudget(s)
		default:
			return weigh(st)
		}
	})
	return slices.DeleteFunc(chain, func(id string) bool { return known[id].Settled() }), length
}

// longest is the chain of stages that takes longest.
func (p Plan) longest(weigh func(Stage) time.Duration) ([]string, time.Duration) {
	length, via := map[string]time.Duration{}, map[string]string{}
	last := ""
	for _, s := range p.Order() {
		longest := time.Duration(0)
		for _, l := range s.After {
			if length[l.ID] > longest {
				longest, via[s.ID] = length[l.ID], l.ID
			}
		}
		length[s.ID] = longest + weigh(s)
		if last == "" || length[s.ID] > length[last] {
			last = s.ID
		}
	}
	var chain []string
	for id := last; id != ""; id = via[id] {
		chain = append(chain, id)
	}
	slices.Reverse(chain)
	return chain, length[last]
}

func (p Plan) weights() func(Stage) time.Duration {
	total, n := time.Duration(0), 0
	for _, s := range p.Stages {
		if s.Budget.Time > 0 {
			total, n = total+time.Duration(s.Budget.Time), n+1
		}
	}
	mean := time.Hour
	if n > 0 {
		mean = total / time.Duration(n)
	}
	return func(s Stage) time.Duration {
		if s.Budget.Time > 0 {
			return time.Duration(s.Budget.Time)
		}
		return mean
	}
}

// Pair is two stages that could run at once but for a path that both may change.
type Pair struct {
	A, B   string
	Shared []string // the roots of A that meet one of B's
}

// Pairs are the stages that never run at once, although neither waits for the other. The
// roots are those of their leases.
func (p Plan) Pairs(roots func(Stage) []string) []Pair {
	g, found := p.graph(), []Pair(nil)
	for i, a := range p.Stages {
		for _, b := range p.Stages[i+1:] {
			if g.before(a.ID)[b.ID] || g.before(b.ID)[a.ID] {
				continue
			}
			if shared := policy.Overlap(roots(a), roots(b)); len(shared) > 0 {
				found = append(found, Pair{a.ID, b.ID, shared})
			}
		}
	}
	return found
}
