package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/audit"
)

// What was written outside the tree is kept by number, in bounds, and only as it
// was audited. None of it stands in the way of a release.
func TestQuarantineKeepsCaptured(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	e := s.evidence(map[string]string{"src/x": "1\n"})
	e.Layers = t.TempDir()
	add := func(name, content, audited string, class audit.Class) {
		s.write(filepath.Join(e.Layers, "at", name), content)
		sum := sha256.Sum256([]byte(audited))
		e.Report.Findings = append(e.Report.Findings, audit.Finding{Class: class, Change: audit.Change{
			Path: audit.Path("/" + name), Kind: audit.Added, Source: "layer at", Size: int64(len(content)),
			SHA256: hex.EncodeToString(sum[:]), Kept: audit.Path("at/" + name),
		}})
	}
	big := strings.Repeat("x", maxCapturedFile+1)
	add("note", "note", "note", audit.Note)
	add(".git/config", "evil", "evil", audit.Violation)
	add("odd\x1b\xff", "odd", "odd", audit.Violation)
	add("later", "changed", "as audited", audit.Violation)
	add("big", big, big, audit.Violation)
	e.Report.Findings = append(e.Report.Findings, audit.Finding{Class: audit.Violation, Change: audit.Change{Path: "/gone",
		Kind: audit.Deleted, Source: "layer at"}})
	m := must(s.gate.Quarantine(ctx, e))(t)
	if len(m.Missing) != 0 || m.Layers != e.Layers || len(m.Captured) != 6 {
		t.Fatalf("the manifest is %+v", m)
	}
	var stored Manifest
	if err := json.Unmarshal(must(s.gate.Evidence(ctx, "able-fox", "manifest.json"))(t), &stored); err != nil {
		t.Fatal(err)
	}
	want := []struct{ path, file, why, content string }{
		{"/.git/config", "captured/0001", "", "evil"}, {"/odd\x1b\xff", "captured/0002", "", "odd"},
		{"/later", "", "it changed after it was audited", ""}, {"/big", "", "the evidence has no room for it", ""},
		{"/gone", "", "", ""}, {"/note", "captured/0003", "", "note"},
	}
	for i, c := range stored.Captured {
		if string(c.Path) != want[i].path || c.File != want[i].file || c.Why != want[i].why {
			t.Errorf("%d: %+v", i, c)
		}
		if c.File != "" && string(must(s.gate.Evidence(ctx, "able-fox", c.File))(t)) != want[i].content {
			t.Errorf("%s holds something else", c.File)
		}
	}
	s.git("fsck", "--strict")
	s.clean()
}
