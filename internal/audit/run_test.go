package audit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// job is an audit that finds nothing wrong.
func job(t *testing.T) Job {
	top := t.TempDir()
	plant(t, top, map[string]string{"same": "1", "new": "1"})
	tree := treeOf(t, top, map[string]string{"same": "1"})
	tree.Room = maxTotal
	return Job{
		Worker: "calm-crab", Tree: tree,
		History: func(context.Context) (*History, error) { return &History{}, nil },
		Host:    func(context.Context) ([]Finding, string, error) { return nil, "as before", nil },
	}
}

// Whatever could not be looked at is a violation of its own kind. The control is
// the same audit with nothing in its way.
func TestErrorsAreViolations(t *testing.T) {
	if r := Run(t.Context(), job(t)); r.Verdict != VerdictClean || r.Summary.Landing != 1 {
		t.Fatalf("the control is %s: %+v", r.Verdict, r.Findings)
	}
	broken := errors.New("broken \x1b[2J \xff")
	for name, c := range map[string]struct {
		part  string
		spoil func(*Job)
	}{
		"no tree": {"tree", func(j *Job) { j.Tree.Top += "/missing" }},
		"a file":  {"tree", func(j *Job) { j.Tree.Top += "/same" }},
		"no ignore rules": {"tree", func(j *Job) {
			j.Tree.Ignored = func(context.Context, []string) (map[string]bool, error) { return nil, broken }
		}},
		"no history":  {"git", func(j *Job) { j.History = func(context.Context) (*History, error) { return nil, broken } }},
		"no tripwire": {"host", func(j *Job) { j.Host = func(context.Context) ([]Finding, string, error) { return nil, "", broken } }},
		"no layers":   {"layers", func(j *Job) { j.Outside = func(context.Context) ([]Finding, error) { return nil, broken } }},
	} {
		j := job(t)
		c.spoil(&j)
		r := Run(t.Context(), j)
		bad := r.Violating()
		if r.Verdict != VerdictViolations || len(bad) != 1 {
			t.Errorf("%s: %s, %+v", name, r.Verdict, bad)
			continue
		}
		f := bad[0]
		if f.Kind != Unreadable || f.Source != c.part || f.Detail == "" || f.Rule == "" {
			t.Errorf("%s: %+v", name, f)
		}
		if strings.Contains(f.Detail, "\x1b") || !utf8.ValidString(f.Detail) {
			t.Errorf("%s: the detail reaches the terminal as it is: %q", name, f.Detail)
		}
		if c.part == "tree" && len(r.Landing(true)) > 0 {
			t.Errorf("%s: something could land: %+v", name, r.Landing(true))
		}
	}
}

// With an error from one part the others still say what they found.
func TestOnePartFailingHidesNoOther(t *testing.T) {
	j := job(t)
	j.Tree.Rules = writes(t)
	j.History = func(context.Context) (*History, error) { return nil, errors.New("broken") }
	j.Host = func(context.Context) ([]Finding, string, error) {
		return []Finding{{Change: Change{Path: "refs/heads/main", Kind: HostChange, Source: "host"}, Class: Violation}}, "changed", nil
	}
	r := Run(t.Context(), j)
	if r.Summary.Violations != 3 {
		t.Errorf("%d violations: %+v", r.Summary.Violations, r.Findings)
	}
}

// Only what is in the tree and may land is handed to the gate.
func TestLandingIsOnlyTheTree(t *testing.T) {
	r := &Report{Findings: []Finding{
		{Change: added("in"), Class: Landing},
		{Change: added("out"), Class: Violation},
		{Change: Change{Path: "ignored", Kind: Added, New: file, Ignored: true}, Class: Violation},
		{Change: Change{Path: "pipe", Kind: Special}, Class: Violation},
		{Change: Change{Path: "committed", Kind: Commit, New: file, Source: "commit 1"}, Class: Violation},
		{Change: Change{Path: "merged", Kind: Added, New: file, Source: "merged tree"}, Class: Violation},
		{Change: added("scratch"), Class: Scratch},
	}}
	names := func(list []Finding) (s string) {
		for _, f := range list {
			s += string(f.Path) + " "
		}
		return s
	}
	if got := names(r.Landing(false)); got != "in " {
		t.Errorf("lands: %s", got)
	}
	if got := names(r.Landing(true)); got != "in out " {
		t.Errorf("could land: %s", got)
	}
}

// A report comes back the same from what is stored.
func TestReportSurvivesItsEncoding(t *testing.T) {
	r := &Report{Worker: "calm-crab", Findings: []Finding{
		{Change: Change{Path: "a\xff", Kind: BadName, New: file, Detail: "x"}, Class: Violation, Rule: "r"},
		{Change: Change{Path: "l", Kind: LinkOut, Old: file, New: link, Target: "\xfe/\n"}, Class: Violation, Rule: "r"},
	}}
	r.Seal()
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	back.Seal()
	again, err := back.Encode()
	if err != nil || string(again) != string(text) {
		t.Errorf("%s\nbecame\n%s", text, again)
	}
	if back.Findings[0].Path != "a\xff" || back.Findings[1].Target != "\xfe/\n" {
		t.Errorf("bytes were lost: %q, %q", back.Findings[0].Path, back.Findings[1].Target)
	}
}
