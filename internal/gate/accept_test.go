package gate

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// Each command has a place of its own, and all setup commands have one together. A policy with one command makes one place.
func TestPlacesOfCommands(t *testing.T) {
	s := newSite(t)
	for _, row := range []struct {
		setup, commands, want []string
	}{
		{nil, []string{"true"}, []string{"new", "true", "left"}},
		{nil, []string{"true", "exit 0"}, []string{"new", "true", "left", "new", "exit 0", "left"}},
		{nil, []string{"false", "true"}, []string{"new", "false", "left"}},
		{[]string{"cd .", "cd /"}, []string{"true", "exit 0"}, []string{"new", "cd .", "cd /", "left", "prepared", "true", "left", "prepared", "exit 0", "left"}},
		{[]string{"false", "cd /"}, []string{"true"}, []string{"new", "false", "left"}},
	} {
		var got []string
		a := Acceptance{
			Gate: s.gate, Output: io.Discard, Now: time.Now,
			Lease: s.lease("swift-otter", func(p *policy.Policy) { p.Setup, p.Acceptance = row.setup, row.commands }),
			Place: func(_ context.Context, _ git.OID, prepared bool) (func(), error) {
				got = append(got, map[bool]string{false: "new", true: "prepared"}[prepared])
				return func() { got = append(got, "left") }, nil
			},
			Command: func(_ context.Context, line string) (cell.Command, error) {
				got = append(got, line)
				return cell.Command{Argv: cell.Shell(line), Dir: t.TempDir()}, nil
			},
		}
		if _, err := a.Run(t.Context(), s.base); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%q after %q: %q, %v, want %q", row.commands, row.setup, got, err, row.want)
		}
	}
}

func TestNamedFiles(t *testing.T) {
	var changes []audit.Finding
	for _, p := range []audit.Path{"src/test.sh", "src/deep/x.go", "other"} {
		changes = append(changes, audit.Finding{Change: audit.Change{Path: p, New: git.Entry{Mode: git.Regular}}})
	}
	gone := audit.Change{Path: "src/gone", Old: git.Entry{Mode: git.Regular}, New: git.Entry{Mode: git.Absent}}
	changes = append(changes, audit.Finding{Change: gone})
	for command, want := range map[string][]audit.Path{
		"sh src/test.sh":           {"src/test.sh"},
		"sh ./src/test.sh; true":   {"src/test.sh"},
		"go test ./src/...":        {"src/test.sh", "src/deep/x.go"},
		"go test ./...":            {"src/test.sh", "src/deep/x.go", "other"},
		"cd src && make":           {"src/test.sh", "src/deep/x.go"},
		"make test":                nil,
		"sh src/test.s src2 /etc":  nil,
		". ./env && cat src/gone":  nil,
		"sh -c 'sh src/test.sh x'": {"src/test.sh"},
	} {
		if got := namedBy(command, changes); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
