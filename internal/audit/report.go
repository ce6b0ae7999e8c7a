package audit

import (
	"encoding/json"

	"cordon/internal/git"
)

// ReportSchema names the encoding of a report.
const ReportSchema = "cordon.audit/1"

// Report is everything an audit found.
type Report struct {
	Schema   string    `json:"schema"`
	Worker   string    `json:"worker"`
	Lease    string    `json:"lease"` // hash
	Base     git.OID   `json:"base"`
	Verdict  string    `json:"verdict"` // "clean" or "violations"
	Summary  Summary   `json:"summary"`
	Findings []Finding `json:"findings"`
	History  *History  `json:"history,omitempty"`
	Host     string    `json:"host"`   // what the tripwire can and cannot say
	Digest   string    `json:"digest"` // of what may land
	// More counts the findings that are not listed.
	More *Summary `json:"more,omitempty"`
	// Partial: the list does not hold everything that a lease could land.
	Partial bool `json:"partial,omitempty"`

	tally *tally
}

// Summary counts findings by class, and what they hold.
type Summary struct {
	Landing    int `json:"landing"`
	Violations int `json:"violations"`
	Ignored    int `json:"ignored"`
	Scratch    int `json:"scratch"`
	Notes      int `json:"notes"`
	// In bytes. A report of an older cordon does not have them.
	LandingSize    int64 `json:"landing_size,omitempty"`
	ViolationsSize int64 `json:"violations_size,omitempty"`
	IgnoredSize    int64 `json:"ignored_size,omitempty"`
	ScratchSize    int64 `json:"scratch_size,omitempty"`
}

func (s *Summary) add(f Finding) {
	n, size := s.of(f.Class)
	*n++
	*size += f.Size
}

func (s *Summary) of(c Class) (n *int, size *int64) {
	switch c {
	case Landing:
		return &s.Landing, &s.LandingSize
	case Ignored:
		return &s.Ignored, &s.IgnoredSize
	case Scratch:
		return &s.Scratch, &s.ScratchSize
	case Note:
		return &s.Notes, new(int64)
	}
	return &s.Violations, &s.ViolationsSize
}

// Of is the number of findings of a class. A nil summary has none.
func (s *Summary) Of(c Class) int {
	if s == nil {
		return 0
	}
	n, _ := s.of(c)
	return *n
}

// The verdicts.
const (
	VerdictClean      = "clean"
	VerdictViolations = "violations"
)

// Seal decides. Only a report without any violation is clean.
func (r *Report) Seal() {
	r.Schema = ReportSchema
	r.finish()
	r.Verdict = VerdictViolations
	if r.Summary.Violations == 0 {
		r.Verdict = VerdictClean
	}
}

// Landing lists what may land, or with all set what could be landed by a lease
// that allowed it.
func (r *Report) Landing(all bool) []Finding {
	var list []Finding
	for _, f := range r.Findings {
		if f.Class == Landing || all && f.Class == Violation && f.couldLand() {
			list = append(list, f)
		}
	}
	return list
}

// Violating lists the violations.
func (r *Report) Violating() []Finding { return only(r.Findings, Violation) }

// Encode is the report as it is stored and printed.
func (r *Report) Encode() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }
