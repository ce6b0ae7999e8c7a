package assignment

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

func sample(t *testing.T) *ledger.Worker {
	t.Helper()
	p := policy.Default()
	p.Acceptance = []string{"make test <in >out && true"} // characters that an encoder could write in two ways
	began := time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)
	s, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brisk-otter", Branch: "b", Base: git.OID(strings.Repeat("ab", 20)), Target: "refs/heads/main", Created: began, Expires: began.Add(time.Hour),
			Policy: p,
		},
		Place: lease.Place{Worktree: "/secret/place", Home: "/home/operator"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &ledger.Worker{ID: "brisk-otter", Lease: s, Command: []string{"sh", "-c", "true <&-"}, Feedback: "it was wrong", Signal: "the second stage"}
}

// A node reads the terms as the home sealed them, and learns no path of the home's.
func TestOfAndOpen(t *testing.T) {
	t.Parallel()
	w := sample(t)
	text, hash, err := Of(w)
	if err != nil || len(hash) != 64 {
		t.Fatal(hash, err)
	}
	for _, secret := range []string{"/secret/place", "/home/operator"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("it holds %s: %s", secret, text)
		}
	}
	a, terms, err := Open(text)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := w.Lease.EncodedTerms()
	if err != nil || a.Terms != string(sealed) {
		t.Errorf("%v: the terms are %s, not %s", err, a.Terms, sealed)
	}
	if terms.Base != w.Lease.Lease().Base || terms.ID != w.ID || terms.Policy.Acceptance[0] != "make test <in >out && true" ||
		a.Feedback != "it was wrong" || a.Signal != "the second stage" || strings.Join(a.Command, " ") != "sh -c true <&-" {
		t.Errorf("%+v %+v", a, terms)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	text, _, err := Of(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"another form":     {Schema, "cordon.assignment/2"},
		"an unknown field": {`"schema"`, `"more":1,"schema"`},
		"other terms":      {"cordon.terms/1", "cordon.terms/2"},
		"terms with more":  {`{\"schema\"`, `{\"more\":1,\"schema\"`},
		"terms with space": {`{\"schema\"`, `{ \"schema\"`},
		"no worker":        {"brisk-otter", "../../etc"},
		"no base":          {strings.Repeat("ab", 20), "HEAD"},
		"no command":       {`"command":["sh","-c","true \u003c\u0026-"]`, `"command":[]`},
	} {
		changed := strings.ReplaceAll(string(text), change[0], change[1])
		if changed == string(text) {
			t.Fatalf("%s: nothing was changed in %s", name, text)
		}
		if a, terms, err := Open([]byte(changed)); err == nil {
			t.Errorf("%s was read: %+v %+v", name, a, terms)
		}
	}
	if _, _, err := Open(append(text, " {}"...)); err == nil {
		t.Error("something after it was read")
	}
}

// A trial has the terms of the worker, with another base, and nothing to run.
func TestOfTrial(t *testing.T) {
	t.Parallel()
	w := sample(t)
	commit := git.OID(strings.Repeat("cd", 20))
	text, hash, err := OfTrial(w, commit)
	if err != nil || len(hash) != 64 || bytes.Contains(text, []byte("/secret/place")) {
		t.Fatal(hash, err, string(text))
	}
	a, terms, err := Open(text)
	if err != nil || !a.Trial || len(a.Command) > 0 || terms.Base != commit || terms.ID != w.ID || terms.Policy.Acceptance[0] != w.Lease.Lease().Policy.Acceptance[0] {
		t.Errorf("%v: %+v %+v", err, a, terms)
	}
	if w.Lease.Lease().Base == commit {
		t.Error("it changed the lease")
	}
	for name, change := range map[string][2]string{
		"a command too":         {`"command":[]`, `"command":["true"]`},
		"a terminal":            {`"trial":true`, `"trial":true,"interactive":true`},
		"no command, no trial":  {`"trial":true`, `"trial":false`},
		"no acceptance command": {`[\"make test \u003cin \u003eout \u0026\u0026 true\"]`, `[]`},
	} {
		changed := strings.ReplaceAll(string(text), change[0], change[1])
		if changed == string(text) {
			t.Fatalf("%s: nothing was changed in %s", name, text)
		}
		if a, terms, err := Open([]byte(changed)); err == nil {
			t.Errorf("%s was read: %+v %+v", name, a, terms)
		}
	}
}

// What only the operator's machine has keeps a client there.
func TestOfRefuses(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]ledger.Agent{
		"servers": {Client: "x", Servers: []byte(`{}`)}, "kept servers": {Client: "x", Kept: true}, "hooks": {Client: "x", Hooks: []byte(`{}`)},
	} {
		w := sample(t)
		w.Agent = &a
		if text, _, err := Of(w); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
	w := sample(t)
	w.Agent = &ledger.Agent{Client: "x", Prompt: "do it"}
	if _, _, err := Of(w); err != nil {
		t.Errorf("the control: %v", err)
	}
}
