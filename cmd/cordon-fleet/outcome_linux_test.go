package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/fleet/home"
	"cordon/internal/gate"
	"cordon/internal/journal"
	"cordon/internal/ledger"
)

// outcome is what the journal of a home says about the stages of its plan.
type outcome struct {
	workers           map[string][]string // by stage
	granted, returned map[string]int      // by worker
	merged            map[string]int      // by worker
	holder            map[string]string   // keys of the nodes that have workers which have not returned
	refused           map[string]int      // results that were not taken, by key
	wrong             []string            // results under another fence than the newest
}

// landed counts the workers whose result is in the branch.
func (o outcome) landed() int { return len(o.merged) }

func (f *fullFleet) read() outcome {
	f.t.Helper()
	log, err := journal.Open(f.state)
	f.must(err)
	events, err := log.Events() // the chain is verified
	f.must(err)
	o := outcome{
		workers: map[string][]string{}, granted: map[string]int{}, returned: map[string]int{}, merged: map[string]int{},
		holder: map[string]string{}, refused: map[string]int{},
	}
	fences := map[string]uint64{}
	for _, e := range events {
		f.must(o.apply(e, fences))
	}
	return o
}

func (o *outcome) apply(e journal.Event, fences map[string]uint64) (err error) {
	switch e.Type {
	case ledger.Leased:
		var l ledger.Lease
		if err = json.Unmarshal(e.Data, &l); err == nil && l.Stage != nil {
			o.workers[l.Stage.Stage] = append(o.workers[l.Stage.Stage], e.Worker)
		}
	case home.Granted:
		var g home.Grant
		err = json.Unmarshal(e.Data, &g)
		o.granted[e.Worker]++
		o.holder[e.Worker], fences[e.Worker] = g.Node, e.Seq
	case home.Returned:
		var r home.Return
		if err = json.Unmarshal(e.Data, &r); r.Fence != fences[e.Worker] {
			o.wrong = append(o.wrong, fmt.Sprintf("%s with fence %d, not %d", e.Worker, r.Fence, fences[e.Worker]))
		}
		o.returned[e.Worker]++
		delete(o.holder, e.Worker)
	case home.Refused:
		var r home.Refusal
		err = json.Unmarshal(e.Data, &r)
		o.refused[r.Node]++
	case ledger.Judged:
		var r gate.Result
		if err = json.Unmarshal(e.Data, &r); r.Outcome == gate.Merged {
			o.merged[e.Worker]++
		}
	}
	return err
}

// check compares the journal, the branch and what the nodes have heard when all stages are over.
func (f *fullFleet) check(o outcome) {
	f.t.Helper()
	again, refused := 0, 0
	commits := f.commits()
	for i := range f.count {
		name := fmt.Sprint("stage-", i)
		workers := o.workers[name]
		if len(workers) != 1 {
			f.t.Errorf("%s has the workers %v", name, workers)
			continue
		}
		w := workers[0]
		files := []string{"src/" + name}
		if f.large(i) {
			files = append(files, "src/"+name+".large")
		}
		if o.returned[w] != 1 || o.merged[w] != 1 || !slices.Equal(commits[w], files) {
			f.t.Errorf("%s has %d results and has landed %d times, with the files %v", name, o.returned[w], o.merged[w], commits[w])
		}
		if text := f.here.git("show", "main:src/"+name); text != name {
			f.t.Errorf("%s has written %q", name, text)
		}
		again += o.granted[w] - 1
	}
	for _, line := range o.wrong {
		f.t.Error(line)
	}
	if n := f.here.git("rev-list", "--count", f.begin+"..main"); n != fmt.Sprint(f.count) {
		f.t.Errorf("main has %s new commits", n)
	}
	for _, n := range f.nodes {
		if heard := n.says("the home does not take the result"); o.refused[n.key] < heard {
			f.t.Errorf("%s heard of %d refusals, and the journal has %d", n.name, heard, o.refused[n.key])
		}
		refused += o.refused[n.key]
	}
	f.checkHere()
	f.t.Logf("%d stages, each landed once; %d were granted again, %d results were refused", f.count, again, refused)
}

// commits are the files that the plan's commits change, by worker.
func (f *fullFleet) commits() map[string][]string {
	f.t.Helper()
	files := map[string][]string{}
	text := f.here.git("log", "--format=%x00%(trailers:key=Cordon-Worker,valueonly)", "--name-only", "-m", "--first-parent", f.begin+"..main")
	for one := range strings.SplitSeq(strings.Trim(text, "\x00"), "\x00") {
		if words := strings.Fields(one); len(words) > 0 {
			files[words[0]] = append(files[words[0]], words[1:]...)
		}
	}
	return files
}

// checkHere looks at what the operator has: a clean checkout, a journal that is whole, and no packs.
func (f *fullFleet) checkHere() {
	f.t.Helper()
	if left := f.here.git("status", "--porcelain"); left != "" {
		f.t.Errorf("the checkout is not clean:\n%s", left)
	}
	f.here.cordon(0, "journal", "verify")
	eventually(f.t, "no pack is left", func() bool {
		left, err := filepath.Glob(filepath.Join(f.state, "fleet/*/*.p*"))
		return err == nil && len(left) == 0
	})
}
