package internal

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

func init() {
	maps.Copy(layers, fleetLayers)
	for i, c := range confined {
		if slices.Contains([]string{"os/exec", "net", "github.com/nats-io"}, c.pkg) { // servers, as processes, for tests
			confined[i].where = append(c.where, "internal/testfleet/")
		}
	}
	for i, c := range confined {
		if c.pkg == "os/exec" { // a node asks the cordon beside it
			confined[i].where = append(c.where, "internal/fleet/worker/")
		}
	}
	pure["internal/fleet/protocol"] = []string{"bytes", "cmp", "crypto/hmac", "cordon/internal/fleet/packname", "cordon/internal/fleet/trial", "crypto/sha256", "encoding/base64", "encoding/hex", "encoding/json", "errors", "fmt",
		"github.com/nats-io/nkeys", "regexp", "slices", "strings", "sync", "time"}
	pure["internal/fleet/trial"] = []string{"errors", "fmt", "slices", "strings", "time"}
}

// fleetLayers are the packages of the fleet. All but the command of cordon's, packname, trial and pack are
// linked into cordon-fleet only.
var fleetLayers = map[string][]string{
	"internal/command/fleets":         {"assignment", "companion", "dispatch", "fault", "gitfile", "ledger", "plainfile", "state"},
	"internal/fleet/engine":           {},
	"internal/fleet/engine/jetstream": {"fleet/engine"},
	"internal/fleet/packname":         {},
	"internal/fleet/trial":            {},                                // see pure
	"internal/fleet/protocol":         {"fleet/packname", "fleet/trial"}, // see pure
	"internal/fleet/metrics":          {},
	"internal/fleet/identity":         {"plainfile"},
	"internal/fleet/files":            {"fleet/engine", "fleet/identity", "fleet/protocol"},
	"internal/fleet/pack":             {"audit", "fleet/packname", "git", "policy"},
	"internal/fleet/home":             {"fleet/engine", "fleet/metrics", "fleet/pack", "fleet/protocol", "fleet/trial", "git", "journal", "ledger", "legible"},
	"internal/fleet/stages":           {"assignment", "backoff", "cell", "fleet/home", "fleet/protocol", "fleet/trial", "lease", "ledger", "legible", "state", "worksite"},
	"internal/fleet/worker":           {"assignment", "fleet/node", "fleet/pack", "fleet/packname", "fleet/protocol", "fleet/trial", "git", "lease", "view", "worksite"},
	"internal/fleet/node":             {"fleet/engine", "fleet/metrics", "fleet/pack", "fleet/protocol"},
	"internal/testfleet":              {"testwait"}, // for tests only: no package may import it
	"cmd/cordon-fleet":                {"agent/clients", "cell", "companion", "fleet/engine", "fleet/engine/jetstream", "fleet/files", "fleet/home", "fleet/identity", "fleet/metrics", "fleet/node", "fleet/pack", "fleet/protocol", "fleet/stages", "fleet/trial", "fleet/worker", "git", "journal", "legible", "policy", "state", "view", "worksite"},
}

// TestCordonLinksNoEngine follows the imports of the programs that people start most: none
// leads to the engine of a fleet, which would make every start slower. cordon-fleet has it,
// which is the control.
func TestCordonLinksNoEngine(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range product(t, "..") {
		imports[path.Dir(f.path)] = append(imports[path.Dir(f.path)], f.imports...)
	}
	var leads func(from string, seen map[string]bool) bool
	leads = func(from string, seen map[string]bool) bool {
		seen[from] = true
		return slices.ContainsFunc(imports[from], func(imp string) bool {
			ours, ok := strings.CutPrefix(imp, "cordon/")
			return strings.HasPrefix(imp, "github.com/nats-io/") || ok && !seen[ours] && leads(ours, seen)
		})
	}
	for program, want := range map[string]bool{"cmd/cordon": false, "cmd/cordon-probe": false, "cmd/cordon-fleet": true} {
		if leads(program, map[string]bool{}) != want {
			t.Errorf("%s links the engine of a fleet: %v, not %v", program, !want, want)
		}
	}
}
