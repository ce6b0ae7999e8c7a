package gate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/audit"
	"cordon/internal/git"
)

func (s *site) evidence(files map[string]string) Evidence {
	s.t.Helper()
	top, found := s.tree(files)
	transcript := filepath.Join(s.t.TempDir(), "transcript")
	s.write(transcript, "said\n")
	return Evidence{
		Lease: s.lease("able-fox", nil), Reasons: []string{"because"}, Report: &audit.Report{Base: s.base, Findings: found},
		Top: top, Frozen: "/frozen", History: s.gate.Repo(), Transcript: transcript, Now: time.Now(),
	}
}

func TestQuarantineKeeps(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	e := s.evidence(map[string]string{"src/x": "1\n"})
	for i := range e.Report.Findings {
		e.Report.Findings[i].Class = audit.Violation // it is kept all the same
	}
	e.Report.Findings = append(e.Report.Findings, audit.Finding{Change: audit.Change{Path: "src/pipe", Kind: audit.Special}, Class: audit.Violation})
	for range 2 { // an interrupted attempt is repeated
		m := must(s.gate.Quarantine(ctx, e))(t)
		if len(m.Missing) != 1 || !strings.Contains(m.Missing[0], "src/pipe") {
			t.Errorf("missing: %q", m.Missing)
		}
		if got := must(s.gate.StoredResult(ctx, "able-fox"))(t); got != m.Result {
			t.Errorf("the result is %s, the manifest says %s", got, m.Result)
		}
	}
	s.git("reflog", "expire", "--expire=now", "--all")
	s.git("gc", "-q", "--prune=now")
	if got := s.git("show", "refs/cordon/quarantine/able-fox/result:src/x"); got != "1" {
		t.Errorf("the result holds %q", got)
	}
	var m Manifest
	if err := json.Unmarshal(must(s.gate.Evidence(ctx, "able-fox", "manifest.json"))(t), &m); err != nil {
		t.Fatal(err)
	}
	if m.Schema != ManifestSchema || m.Reasons[0] != "because" || m.Tree != "/frozen" || m.Hash != e.Lease.Hash() {
		t.Errorf("the manifest is %+v", m)
	}
	if got := must(s.gate.Evidence(ctx, "able-fox", "transcript"))(t); string(got) != "said\n" {
		t.Errorf("the transcript is %q", got)
	}
	if _, err := s.gate.Evidence(ctx, "able-fox", "nothing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("evidence that is not there: %v", err)
	}
	s.clean()
}

// It does as much as it can. What could not be kept is named.
func TestQuarantineOfWhatCannotBeStored(t *testing.T) {
	for name, change := range map[string]func(*site, *Evidence){
		"no audit":   func(_ *site, e *Evidence) { e.Report = nil },
		"changed":    func(s *site, e *Evidence) { s.write(filepath.Join(e.Top, "src/x"), "2\n") },
		"vanished":   func(_ *site, e *Evidence) { e.Top = "/nonexistent" },
		"no history": func(_ *site, e *Evidence) { e.Report.History = &audit.History{Head: git.SHA1.Blob([]byte("nowhere"))} },
		"forged": func(s *site, e *Evidence) {
			s.write(filepath.Join(e.Top, ".gitmodules"), "[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=evil\n")
			b, err := os.ReadFile(filepath.Join(e.Top, ".gitmodules"))
			if err != nil {
				s.t.Fatal(err)
			}
			entry := git.Entry{Mode: git.Regular, OID: git.SHA1.Blob(b)}
			e.Report.Findings = append(e.Report.Findings, audit.Finding{Change: audit.Change{Path: ".gitmodules", Kind: audit.Added,
				New: entry}, Class: audit.Violation})
		},
	} {
		s := newSite(t)
		e := s.evidence(map[string]string{"src/x": "1\n"})
		change(s, &e)
		m := must(s.gate.Quarantine(context.Background(), e))(t)
		if len(m.Missing) != 1 {
			t.Errorf("%s: missing %q", name, m.Missing)
		}
		if (m.Result == "") != (name != "no history") {
			t.Errorf("%s: the result is %q", name, m.Result)
		}
		if _, err := s.gate.Evidence(context.Background(), "able-fox", "manifest.json"); err != nil {
			t.Errorf("%s: no manifest: %v", name, err)
		}
		s.clean()
	}
}

func TestDiscardAndTrash(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	e := s.evidence(map[string]string{"src/x": "1\n"})
	must(s.gate.Quarantine(ctx, e))(t)
	s.git("update-ref", "refs/cordon/results/able-fox", "main")
	if err := s.gate.Pin(ctx, "able-fox", s.base); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.gate.Discard(ctx, "able-fox"); err != nil {
			t.Fatal(err)
		}
		got := s.git("for-each-ref", "--format=%(refname)", "refs/cordon")
		want := "refs/cordon/pins/able-fox\nrefs/cordon/trash/able-fox/able-fox\nrefs/cordon/trash/able-fox/evidence\nrefs/cordon/trash/able-fox/result"
		if got != want {
			t.Errorf("refs:\n%s", got)
		}
	}
	if trashed := must(s.gate.Trashed(ctx))(t); len(trashed) != 1 || trashed[0] != "able-fox" {
		t.Errorf("trashed: %v", trashed)
	}
	for range 2 {
		if err := s.gate.EmptyTrash(ctx, "able-fox"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.git("for-each-ref", "refs/cordon"); got != "" {
		t.Errorf("left: %s", got)
	}
}
