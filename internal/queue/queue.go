// Package queue decides in which order results land on one branch, and on which tree each is
// tested before: the tree that the branch will have if the results ahead of it land. Results
// within a window are tested at once.
//
// The package is pure: what happened comes in, what to test and what may land comes out. It
// refuses to land a result on another tree than the one it was tested on, and to call a result
// bad that failed only once or only behind others, unless it was always alone. Package line keeps a
// queue on disk; package gate makes the trees, tests and lands.
package queue

import "slices"

// Window is how many results from the head may be tested before the first of them has landed: it
// grows by one with each that lands, and is halved by each that fails. It is never less than the
// tests that may run at once.
const (
	firstWindow = 4
	leastWindow = 1
	mostWindow  = 64
)

// Verdict is what is known about a result.
type Verdict string

const (
	Untested Verdict = ""
	Passed   Verdict = "passed"
	Failed   Verdict = "failed"
)

// Entry is a result that waits for its landing.
type Entry struct {
	ID string `json:"id"`
	// Ahead are the results that the tree of its test held, in their order, beside what had landed.
	Ahead   []string `json:"ahead,omitempty"`
	Testing bool     `json:"testing,omitempty"`
	Verdict Verdict  `json:"verdict,omitempty"`
	// Run numbers the test that runs or ran last, in this queue.
	Run int `json:"run,omitempty"`
	// Met: others waited with it at some time. One that was always alone gets no second chance
	// from the queue.
	Met bool `json:"met,omitempty"`
	// Landing: it passed, and is on its way into the branch. Nobody else lands meanwhile.
	Landing bool `json:"landing,omitempty"`
	// Suspect: it failed behind others. It is tested once more at the head.
	Suspect bool `json:"suspect,omitempty"`
	// Stale: the branch has got a result that its test did not know of.
	Stale bool `json:"stale,omitempty"`
}

// Queue is the results that wait for one branch. The zero value is an empty one.
type Queue struct {
	Entries []Entry `json:"entries"`
	Window  int     `json:"window,omitempty"`
	Runs    int     `json:"runs,omitempty"` // tests that were started
}

// Enter puts a result at the end.
func (q *Queue) Enter(id string) {
	if q.index(id) >= 0 {
		return
	}
	q.Entries = append(q.Entries, Entry{ID: id})
	for i := range q.Entries {
		q.Entries[i].Met = q.Entries[i].Met || len(q.Entries) > 1
	}
}

func (q *Queue) index(id string) int {
	return slices.IndexFunc(q.Entries, func(e Entry) bool { return e.ID == id })
}

// Find is the entry of a result; nil: it does not wait.
func (q *Queue) Find(id string) *Entry {
	if i := q.index(id); i >= 0 {
		return &q.Entries[i]
	}
	return nil
}

// Width is how many results may be tested at once now.
func (q *Queue) Width() int {
	if q.Window == 0 {
		return firstWindow
	}
	return q.Window
}

// ahead are the results before an entry that are expected to land. Nobody builds on a suspect.
func (q *Queue) ahead(i int) []string {
	var ids []string
	for _, e := range q.Entries[:i] {
		if !e.Suspect {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// valid reports whether what is known about an entry, or is being found out, still holds: the
// results ahead of it are those that its test assumed.
func (q *Queue) valid(i int) bool {
	e := q.Entries[i]
	return !e.Stale && (e.Testing || e.Verdict != Untested) && slices.Equal(e.Ahead, q.ahead(i))
}

// Test is one test to run: a result behind others.
type Test struct {
	ID    string
	Ahead []string
}

// Next are the tests to start now, at most as many as there is room for. Tests of trees that
// will not be are ended: Ended lists them.
func (q *Queue) Next(room int) (start []Test, ended []string) {
	for i := range q.Entries {
		e := &q.Entries[i]
		if e.Testing && !q.valid(i) {
			ended, e.Testing = append(ended, e.ID), false
			room++
		}
	}
	width := max(q.Width(), room+q.testing()) // a slot that idles helps nobody
	for i := 0; i < len(q.Entries) && i < width && room > 0; i++ {
		e := &q.Entries[i]
		if q.valid(i) || e.Landing || e.Suspect && len(q.ahead(i)) > 0 {
			continue
		}
		q.Runs++
		*e = Entry{ID: e.ID, Ahead: q.ahead(i), Testing: true, Run: q.Runs, Met: e.Met, Suspect: e.Suspect}
		start, room = append(start, Test{e.ID, slices.Clone(e.Ahead)}), room-1
	}
	return start, ended
}

// testing is how many tests run.
func (q *Queue) testing() (n int) {
	for _, e := range q.Entries {
		if e.Testing {
			n++
		}
	}
	return n
}

// Done records the end of a test that Next started, and returns the results that are bad:
// they failed at the head for the second time, or alone, and leave the queue.
func (q *Queue) Done(id string, passed bool) (bad []string) {
	i := q.index(id)
	if i < 0 || !q.Entries[i].Testing {
		return nil // its test was ended, or it left
	}
	e := &q.Entries[i]
	e.Testing, e.Verdict = false, Failed
	if passed {
		e.Verdict = Passed
	}
	for i := 0; i < len(q.Entries); i++ {
		if !q.blamed(i) {
			continue
		}
		e := q.Entries[i]
		q.Window = max(leastWindow, q.Width()/2)
		q.Leave(e.ID)
		if e.Suspect || !e.Met {
			bad = append(bad, e.ID)
		} else {
			q.Entries = append(q.Entries, Entry{ID: e.ID, Met: true, Suspect: true}) // behind those that may be good
		}
		i = -1
	}
	return bad
}

// blamed reports whether an entry failed on a tree in which everything ahead of it passed.
func (q *Queue) blamed(i int) bool {
	e := q.Entries[i]
	failedAhead := slices.ContainsFunc(q.Entries[:i], func(o Entry) bool { return !o.Suspect && o.Verdict != Passed })
	return e.Verdict == Failed && !e.Stale && !failedAhead && slices.Equal(e.Ahead, q.ahead(i))
}

// Lands is the result that may land now, or is about to: it passed on the tree that the branch
// has now. "" if there is none.
func (q *Queue) Lands() string {
	if i := slices.IndexFunc(q.Entries, func(e Entry) bool { return e.Landing }); i >= 0 {
		return q.Entries[i].ID
	}
	for i, e := range q.Entries {
		if e.Verdict == Passed && q.valid(i) && len(e.Ahead) == 0 {
			return e.ID
		}
	}
	return ""
}

// Landed takes a result out: the branch holds it now. The tests of those that expected it stay
// valid.
func (q *Queue) Landed(id string) {
	if q.index(id) < 0 {
		return
	}
	q.Leave(id)
	for i := range q.Entries {
		e := &q.Entries[i]
		if len(e.Ahead) > 0 && e.Ahead[0] == id {
			e.Ahead = e.Ahead[1:]
		} else {
			e.Stale = true
		}
	}
	q.Window = min(mostWindow, q.Width()+1)
}

// Moved says that the branch got something else than a result: no test knew of it.
func (q *Queue) Moved() {
	for i := range q.Entries {
		q.Entries[i].Stale, q.Entries[i].Landing = true, false
	}
}

// Leave takes a result out that does not land: it is bad, or nobody works on it any more.
func (q *Queue) Leave(id string) {
	if i := q.index(id); i >= 0 {
		q.Entries = slices.Delete(q.Entries, i, i+1)
	}
}
