package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

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
	switch f.Class {
	case Landing:
		s.Landing++
		s.LandingSize += f.Size
	case Ignored:
		s.Ignored++
		s.IgnoredSize += f.Size
	case Scratch:
		s.Scratch++
		s.ScratchSize += f.Size
	case Note:
		s.Notes++
	default:
		s.Violations++
		s.ViolationsSize += f.Size
	}
}

// The verdicts.
const (
	VerdictClean      = "clean"
	VerdictViolations = "violations"
)

// Seal counts, decides and digests. Only a report without any violation is
// clean.
func (r *Report) Seal() {
	r.Schema = ReportSchema
	r.Summary = Summary{}
	for _, f := range r.Findings {
		r.Summary.add(f)
	}
	r.Verdict = VerdictViolations
	if r.Summary.Violations == 0 {
		r.Verdict = VerdictClean
	}
	r.Digest = digest(r.Findings)
}

// Landing lists what may land, or with all set what could be landed by a lease
// that allowed it.
func (r *Report) Landing(all bool) []Finding {
	var list []Finding
	for _, f := range r.Findings {
		inTree := f.Source == "" && f.Kind.Landable() && !f.Ignored
		if f.Class == Landing || all && f.Class == Violation && inTree {
			list = append(list, f)
		}
	}
	return list
}

// Violating lists the violations.
func (r *Report) Violating() []Finding { return only(r.Findings, Violation) }

func digest(findings []Finding) string {
	h := sha256.New()
	for _, f := range findings {
		if f.Source == "" {
			fmt.Fprintf(h, "%q %s %s %s %d\n", string(f.Path), f.Kind, f.New.Mode, f.New.OID, f.Size)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Encode is the report as it is stored and printed.
func (r *Report) Encode() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }
