package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// Bounds of what a report lists. A worker decides how much there is to find, and
// cordon, which nothing confines, holds the list in memory. The rest is counted.
const (
	maxKept  = 5000     // findings of a class that no lease could land
	maxRoom  = 64 << 20 // of what a lease could land; see weight
	perEntry = 256
)

const tooMany = "the worker changed more than cordon judges"

// tally takes findings into a report.
type tally struct {
	sum  hash.Hash
	kept map[Class]int // of what no lease could land
	room int           // left for what a lease could land
}

// weight is what a change takes of the room for a result.
func (c Change) weight() int { return len(c.Path) + len(c.Target) + len(c.Detail) + perEntry }

// couldLand reports whether some lease could land a change of the tree.
func (c Change) couldLand() bool { return c.Source == "" && c.Kind.Landable() && !c.Ignored }

// add takes findings in: each is counted and digested, and listed where there is
// room.
func (r *Report) add(findings ...Finding) {
	if r.tally == nil {
		r.tally = &tally{sum: sha256.New(), kept: map[Class]int{}, room: maxRoom}
		r.Summary, r.More, r.Findings = Summary{}, nil, []Finding{}
	}
	for _, f := range findings {
		r.Summary.add(f)
		if f.Source == "" {
			fmt.Fprintf(r.tally.sum, "%q %s %s %s %d\n", string(f.Path), f.Kind, f.New.Mode, f.New.OID, f.Size)
		}
		if r.tally.lists(f) {
			r.Findings = append(r.Findings, f)
		} else {
			r.leaveOut(f)
		}
	}
}

func (t *tally) lists(f Finding) bool {
	if f.couldLand() {
		t.room -= f.weight()
		return t.room >= 0
	}
	t.kept[f.Class]++
	return t.kept[f.Class] <= maxKept
}

func (r *Report) leaveOut(f Finding) {
	if r.More == nil {
		r.More = &Summary{}
	}
	r.More.add(f)
}

// finish ends the list. A result that does not fit can never land: of it, as many
// findings are listed as of other classes, and one says how many there are.
func (r *Report) finish() {
	if r.tally == nil {
		r.add(r.Findings...)
	}
	if r.Partial = r.tally.room < 0; r.Partial {
		all := r.Findings
		r.Findings = []Finding{}
		listed := 0
		for _, f := range all {
			if f.couldLand() {
				if listed++; listed > maxKept {
					r.leaveOut(f)
					continue
				}
			}
			r.Findings = append(r.Findings, f)
		}
		detail := fmt.Sprintf("%d paths, of which %d are listed", r.Summary.Landing+r.Summary.Violations, maxKept)
		over := Finding{Change: Change{Kind: TooLarge, Source: "tree", Detail: detail}, Class: Violation, Rule: tooMany}
		r.Summary.add(over)
		r.Findings = append([]Finding{over}, r.Findings...)
	}
	r.Digest = hex.EncodeToString(r.tally.sum.Sum(nil))
}
