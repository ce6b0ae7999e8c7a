package trial

import (
	"errors"
	"strings"
	"testing"
)

// A verdict counts if it answers the order, and in no other case.
func TestCheck(t *testing.T) {
	t.Parallel()
	o := Order{Tree: "abc", Commands: []string{"make", "make test"}, Setup: []string{"fetch"}, Authors: []string{"A"}}
	pass := []Check{{Command: "make"}, {Command: "make test"}}
	for name, row := range map[string]struct {
		node string
		v    Verdict
		want error
	}{
		"passes":                  {"B", Verdict{"abc", pass}, nil},
		"fails at the last":       {"B", Verdict{"abc", []Check{{Command: "make"}, {Command: "make test", Code: 2, Output: "wrong"}}}, nil},
		"fails at the first":      {"B", Verdict{"abc", []Check{{Command: "make", Code: 1, Ended: "took too long"}}}, nil},
		"fails to prepare":        {"B", Verdict{"abc", []Check{{Command: "make"}, {Command: Prepares + "fetch", Code: 1}}}, nil},
		"by an author":            {"A", Verdict{"abc", pass}, ErrAuthor},
		"of another tree":         {"B", Verdict{"abd", pass}, ErrTree},
		"of no tree":              {"B", Verdict{"", pass}, ErrTree},
		"of no command":           {"B", Verdict{"abc", nil}, ErrAnswers},
		"leaves one out":          {"B", Verdict{"abc", pass[:1]}, ErrAnswers},
		"another command":         {"B", Verdict{"abc", []Check{{Command: "make"}, {Command: "true"}}}, ErrAnswers},
		"another order":           {"B", Verdict{"abc", []Check{{Command: "make test"}, {Command: "make"}}}, ErrAnswers},
		"prepares instead":        {"B", Verdict{"abc", []Check{{Command: "make"}, {Command: Prepares + "fetch"}}}, ErrAnswers},
		"prepares with another":   {"B", Verdict{"abc", []Check{{Command: "make"}, {Command: Prepares + "other", Code: 1}}}, ErrAnswers},
		"one more":                {"B", Verdict{"abc", append([]Check{{Command: "make"}}, pass...)}, ErrAnswers},
		"goes on after a failure": {"B", Verdict{"abc", []Check{{Command: "make", Code: 1}, {Command: "make test"}}}, ErrAnswers},
		"passes at a limit":       {"B", Verdict{"abc", []Check{{Command: "make"}, {Command: "make test", Ended: "took too long"}}}, ErrAnswers},
		"too much output":         {"B", Verdict{"abc", []Check{{Command: "make", Code: 1, Output: strings.Repeat("x", MaxOutput+1)}}}, ErrAnswers},
	} {
		if err := o.Check(row.node, row.v); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, not %v", name, err, row.want)
		}
	}
	if err := (Order{}).Check("B", Verdict{}); err == nil {
		t.Error("an order without a tree has a verdict")
	}
}

// What a node prints does not keep its verdict from being read.
func TestTrimmed(t *testing.T) {
	t.Parallel()
	o := Order{Tree: "abc", Commands: []string{"a", "b", "c"}}
	v := Verdict{"abc", []Check{{Command: "a", Output: strings.Repeat("a", MaxOutput)}, {Command: "b", Output: "b"}, {Command: "c", Code: 1, Output: "why"}}}
	got := v.Trimmed()
	if err := o.Check("B", got); err != nil || got.Checks[0].Output != "" || got.Checks[1].Output != "b" || got.Checks[2].Output != "why" {
		t.Errorf("%v: %+v", err, got)
	}
	if len(v.Checks[0].Output) != MaxOutput {
		t.Error("it changed what it was made from")
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	if worker, ok := Worker(Name("calm-otter")); !ok || worker != "calm-otter" {
		t.Error(worker, ok)
	}
	if _, ok := Worker("calm-otter"); ok {
		t.Error("a command is taken for a trial")
	}
}
