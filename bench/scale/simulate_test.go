// Package scale simulates one home with many nodes, and holds the tables of docs/scale.md to it: how many
// stages land in an hour, and what limits them. It is small and deterministic: the same numbers on every
// machine, from assumptions that stand in its source.
//
// It refuses to predict: it shows how the parts scale with each other. The costs of single steps
// were measured elsewhere (docs/costs.md, docs/fleet.md).
package scale

import (
	"container/heap"
	"math/rand/v2"
)

// Fleet is what is simulated: one home, one repository, one branch.
type Fleet struct {
	Nodes, Slots int     // machines, and stages that each runs at the same time
	Stage        float64 // seconds that an agent works, on average: from half of that to one and a half times
	Accept       float64 // seconds of acceptance at home
	Tests        int     // results that are tested at the same time (land.parallel)
	Fails        float64 // part of the results that acceptance rejects
	Base         float64 // bytes of the repository for a node that has none of it
	Delta        float64 // bytes between two bases
	Link         float64 // bytes in a second that the home sends
	Home         float64 // seconds of the home's own work on a stage: lease, journal, audit, gate
	Backlog      int     // results that wait for acceptance before no new stage is granted
}

// Outcome is an hour of it, on average.
type Outcome struct {
	Landed float64 // results in an hour
	Busy   map[string]float64
	Wait   float64 // seconds between a result and its landing, on average
}

// Limit is the part that is busiest.
func (o Outcome) Limit() string {
	best := ""
	for _, name := range parts {
		if best == "" || o.Busy[name] > o.Busy[best] {
			best = name
		}
	}
	return best
}

// The parts that stages queue for.
const (
	slots = "nodes"
	link  = "network"
	tests = "acceptance"
	own   = "home"
)

var parts = []string{slots, link, tests, own}

// Time is counted in whole milliseconds, so that it is the same on every machine.
const (
	hour  = 3600 * 1000
	hours = 9 // are simulated; the first is not counted
)

// event is something that happens later.
type event struct {
	at int64
	do func()
	n  int // events of one moment happen in the order in which they were made
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].n < e[j].n
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// server is a part with places, and a queue for them.
type server struct {
	free  int
	all   int
	queue []func()
	used  int64 // of all places, after the first hour
}

type run struct {
	Fleet
	now     int64
	made    int
	later   events
	rand    *rand.Rand
	servers map[string]*server
	waiting int      // results that were returned and have not landed
	idle    []func() // slots that wait until the backlog is smaller
	landed  int
	waited  int64
}

// Simulate runs a fleet that always has more stages to do.
func Simulate(f Fleet) Outcome {
	r := &run{Fleet: f, rand: rand.New(rand.NewPCG(1, 2)), servers: map[string]*server{}}
	for name, places := range map[string]int{slots: f.Nodes * f.Slots, link: 1, tests: f.Tests, own: 1} {
		r.servers[name] = &server{free: places, all: places}
	}
	for range f.Nodes {
		first := true
		for range f.Slots {
			r.after(r.rand.Float64()*60, func() { r.stage(&first) })
		}
	}
	for len(r.later) > 0 && r.later[0].at < hours*hour {
		e := heap.Pop(&r.later).(event)
		r.now = e.at
		e.do()
	}
	o := Outcome{Landed: float64(r.landed) / (hours - 1), Busy: map[string]float64{}}
	for name, s := range r.servers {
		o.Busy[name] = float64(s.used) / float64(int64(s.all)*(hours-1)*hour)
	}
	if r.landed > 0 {
		o.Wait = float64(r.waited/int64(r.landed)) / 1000
	}
	return o
}

func millis(seconds float64) int64 { return int64(seconds * 1000) }

func (r *run) after(seconds float64, do func()) {
	r.made++
	heap.Push(&r.later, event{r.now + millis(seconds), do, r.made})
}

// use takes a place of a part for a time, as soon as one is free, and goes on then.
func (r *run) use(part string, seconds float64, then func()) {
	s := r.servers[part]
	if s.free == 0 {
		s.queue = append(s.queue, func() { r.use(part, seconds, then) })
		return
	}
	s.free--
	s.used += max(0, min(r.now+millis(seconds), hours*hour)-max(r.now, hour))
	r.after(seconds, func() {
		s.free++
		if len(s.queue) > 0 {
			next := s.queue[0]
			s.queue = s.queue[1:]
			next()
		}
		then()
	})
}

// stage is one slot of a node, which takes the next stage as soon as it is free.
func (r *run) stage(first *bool) {
	if r.waiting >= r.Backlog {
		r.idle = append(r.idle, func() { r.stage(first) })
		return
	}
	bytes := r.Delta
	if *first {
		bytes, *first = r.Base, false
	}
	r.use(link, bytes/r.Link, func() {
		r.use(slots, r.Stage*float64(50+r.rand.IntN(101))/100, func() {
			r.result()
			r.stage(first)
		})
	})
}

// result is a result at home: the audit, acceptance, the landing.
func (r *run) result() {
	r.waiting++
	returned := r.now
	r.use(own, r.Home, func() {
		r.use(tests, r.Accept, func() {
			r.waiting--
			if r.rand.Float64() >= r.Fails && r.now >= hour {
				r.landed++
				r.waited += r.now - returned
			}
			if len(r.idle) > 0 {
				next := r.idle[0]
				r.idle = r.idle[1:]
				next()
			}
		})
	})
}
