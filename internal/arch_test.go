// Package internal holds the test that holds the layers.
package internal

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/agent/facts"
)

// layers says which of our packages each package may import. Data flows down
// this list; an import that points up is a design error, and a package that is
// not in it has no place yet.
var layers = map[string][]string{
	"internal/legible":         {},
	"internal/additive":        {},
	"internal/screen":          {}, // see pure
	"internal/message":         {"legible"},
	"internal/paths":           {},
	"internal/agent/facts":     {},
	"internal/checkfile":       {"codewords"},
	"internal/depcache":        {"paths"},
	"internal/strictyaml":      {}, // see pure
	"internal/reach":           {"strictyaml"},
	"internal/policy":          {"agent/facts", "paths", "reach", "strictyaml"},
	"internal/consent":         {"policy", "strictyaml"}, // see pure
	"internal/plan":            {"policy", "strictyaml"}, // see pure
	"internal/queue":           {},                       // see pure
	"internal/queue/line":      {"git", "plainfile", "queue", "state"},
	"internal/plainfile":       {},
	"internal/backoff":         {"plainfile"},
	"internal/config":          {"agent/facts", "consent", "gitfile", "plainfile", "policy", "strictyaml"},
	"internal/codewords":       {},
	"internal/gitfile":         {"plainfile"},
	"internal/git":             {"codewords", "gitfile", "paths", "plainfile"},
	"internal/errand":          {"config", "git", "paths"},
	"internal/keyhelper":       {"agent", "codewords", "errand", "git", "paths"},
	"internal/githook":         {"errand", "git", "gitfile", "legible", "paths", "plainfile"},
	"internal/notify":          {"config", "errand", "git", "legible"},
	"internal/journal":         {"plainfile"},
	"internal/seccomp":         {},
	"internal/overlay":         {"plainfile"},
	"internal/cell":            {"cell/host", "cell/limit", "cell/mount", "cell/plan", "cell/terminal", "cell/walls"},
	"internal/lease":           {"additive", "git", "paths", "policy"},
	"internal/mark":            {},
	"internal/commands":        {"mark"},
	"internal/inline":          {"mark", "commands", "commands/code", "inline/lex"},
	"internal/shell":           {"mark", "shell/partial"},
	"internal/guard":           {"depcache", "inline", "lease", "mark", "paths", "policy", "shell", "commands", "commands/known", "commands/wrap"},
	"internal/client":          {},
	"internal/hook":            {"agent/clients", "client", "codewords", "guard", "commands"},
	"internal/stream":          {"client", "legible"},
	"internal/agent/clean":     {}, // see pure
	"internal/agent":           {"agent/clean", "client", "stream"},
	"internal/agent/claude":    {"agent", "agent/clean", "client", "stream"}, // one folder for each client
	"internal/agent/codex":     {"agent", "agent/clean", "client", "stream"},
	"internal/agent/gemini":    {"agent", "agent/clean", "client", "stream"},
	"internal/agent/copilot":   {"agent", "agent/clean", "client", "stream"},
	"internal/agent/opencode":  {"agent", "agent/clean", "client", "stream"},
	"internal/agent/clients":   {"agent", "agent/claude", "agent/codex", "agent/copilot", "agent/gemini", "agent/opencode", "agent/pi", "agent/qwen", "client", "stream", "strictyaml"}, // the registry
	"internal/agent/qwen":      {"agent", "agent/clean", "client", "stream"},
	"internal/agent/pi":        {"agent", "agent/clean", "client", "stream"},
	"internal/post":            {},
	"internal/briefing":        {"agent/facts", "lease", "policy"},
	"internal/egress":          {"egress/dns", "egress/protocol", "egress/rate", "egress/record", "egress/target", "egress/watch", "policy", "reach"},
	"internal/state":           {"git", "gitfile", "paths", "plainfile"},
	"internal/base":            {"git", "overlay", "plainfile", "state"},
	"internal/unpacked":        {"base", "plainfile", "state"},
	"internal/lfs":             {"git", "plainfile"},
	"internal/fill":            {"git", "lfs"},
	"internal/follow":          {"git", "gitfile", "lfs", "overlay", "plainfile"},
	"internal/cache":           {"overlay", "paths", "plainfile", "state"},
	"internal/worktree":        {"git", "gitfile", "overlay", "paths", "plainfile", "policy"},
	"internal/enclosure":       {"agent/facts", "cell", "config", "depcache", "git", "gitfile", "journal", "lease", "overlay", "paths", "plainfile", "policy", "state", "worktree"},
	"internal/portable":        {},
	"internal/audit":           {"agent/facts", "git", "legible", "lfs", "overlay", "paths", "plainfile", "policy", "portable"},
	"internal/gate":            {"audit", "cell", "codewords", "enclosure", "follow", "git", "gitfile", "githook", "lease", "lfs", "message", "plainfile", "plan", "policy", "queue/line", "state"},
	"internal/ledger":          {"additive", "agent/facts", "audit", "cell", "checkfile", "egress/record", "fleet/packname", "fleet/trial", "gate", "git", "guard", "journal", "lease", "plan", "policy", "worktree"},
	"internal/fault":           {"audit"},
	"internal/publish":         {"egress/protocol"},
	"internal/cellnet":         {"cell", "egress", "egress/dns", "egress/record", "egress/watch", "fault", "paths", "policy", "publish", "reach"},
	"internal/worksite":        {"additive", "audit", "backoff", "base", "cache", "cell", "config", "consent", "egress/record", "enclosure", "fault", "gate", "git", "gitfile", "guard", "journal", "lease", "ledger", "plainfile", "policy", "screen", "state", "worktree"},
	"internal/seen":            {"fault", "git", "ledger", "legible", "worksite"},
	"internal/confine":         {"agent", "agent/clients", "audit", "cell", "cellnet", "config", "egress/record", "enclosure", "fault", "follow", "git", "gitfile", "lease", "ledger", "legible", "paths", "plainfile", "policy", "publish", "state", "worksite", "worktree"},
	"internal/workspace":       {"agent/facts", "audit", "base", "cache", "cell", "confine", "depcache", "enclosure", "fault", "fill", "git", "lease", "ledger", "lfs", "overlay", "paths", "plainfile", "policy", "state", "worksite", "worktree"},
	"internal/inspect":         {"audit", "cell", "checkfile", "confine", "enclosure", "gate", "git", "lease", "ledger", "lfs", "policy", "state", "worksite"},
	"internal/mailbox":         {"fault", "guard", "journal", "lease", "ledger", "plan", "legible", "plainfile", "policy", "post", "state", "worksite"},
	"internal/warrant":         {"agent/clients", "client", "depcache", "fault", "guard", "hook", "ledger", "overlay", "plainfile", "policy", "state", "worksite", "workspace"},
	"internal/visitor":         {"cell", "cellnet", "enclosure", "fault", "lease", "ledger", "policy", "publish", "state", "worksite", "workspace"},
	"internal/launch":          {"agent", "agent/clean", "agent/clients", "agent/facts", "audit", "backoff", "briefing", "cell", "cellnet", "client", "config", "confine", "egress/record", "enclosure", "fault", "git", "gitfile", "guard", "inspect", "keyhelper", "lease", "ledger", "legible", "mailbox", "overlay", "paths", "plainfile", "policy", "post", "publish", "screen", "state", "stream", "unpacked", "usersetup", "visitor", "warrant", "worksite", "workspace", "worktree"},
	"internal/usersetup":       {"agent", "enclosure", "plainfile"},
	"internal/keep":            {"audit", "base", "confine", "fault", "gate", "git", "inspect", "journal", "lease", "ledger", "overlay", "plainfile", "policy", "state", "supervisor", "unpacked", "visitor", "worksite", "workspace", "worktree"},
	"internal/supervisor":      {"background", "fault", "lease", "ledger", "state", "visitor", "worksite"},
	"internal/assignment":      {"git", "lease", "ledger"},
	"internal/dispatch":        {"agent/clients", "client", "config", "confine", "consent", "deskport", "fault", "git", "launch", "lease", "ledger", "legible", "policy", "state", "worksite", "workspace", "worktree"},
	"internal/fitness":         {"audit", "config", "enclosure", "fault", "git", "lease", "ledger", "legible", "lfs", "message", "plainfile", "policy", "worksite", "worktree"},
	"internal/wording":         {"audit", "enclosure", "git", "ledger", "message", "plainfile", "worksite"},
	"internal/session":         {"audit", "cell", "config", "dispatch", "enclosure", "errand", "fault", "fitness", "fleet/pack", "fleet/trial", "gate", "git", "githook", "inspect", "keep", "launch", "lease", "ledger", "legible", "message", "notify", "policy", "state", "wording", "worksite", "workspace"},
	"internal/conduct":         {"agent/clients", "agent/facts", "audit", "cell", "client", "dispatch", "fault", "gate", "git", "keep", "launch", "lease", "ledger", "legible", "paths", "plan", "policy", "session", "stream", "terminal", "worksite"},
	"internal/command/ports":   {"fault", "ledger", "page", "session", "visitor"},
	"internal/desk":            {"legible", "view"}, // see pure
	"internal/deskread":        {"companion", "conduct", "desk", "errand", "gitfile", "inspect", "journal", "ledger", "policy", "present", "remark", "session", "state", "view"},
	"internal/deskport":        {"policy", "state"},
	"internal/deskweb":         {"legible"},
	"internal/deskterm":        {"decide", "desk", "fault", "legible", "view"},
	"internal/command/desks":   {"config", "decide", "desk", "deskport", "deskterm", "deskterm/fill", "deskweb", "deskweb/fill", "fault", "ledger", "notify", "page", "remark", "session", "terminal", "view"},
	"internal/command/demos":   {"conduct", "demo", "dispatch", "git", "ledger", "mailbox", "page", "plan", "present", "session", "state", "terminal"},
	"internal/command/plans":   {"conduct", "draft", "fault", "hookrun", "journal", "lease", "ledger", "page", "plan", "post", "present", "session", "terminal", "view", "worksite"},
	"internal/command/configs": {"config", "fault", "page", "present", "session", "terminal", "view", "worksite"},
	"internal/command/queues":  {"page", "present", "queue/line", "session"},
	"internal/query":           {"conduct", "egress/record", "guard", "inspect", "journal", "ledger", "mailbox", "page", "present", "queue/line", "remark", "session", "state", "view"},
	"internal/order":           {"agent/clients", "background", "client", "fault", "ledger", "mailbox", "query", "session", "view"},
	"internal/decide":          {"background", "fault", "journal", "lease", "ledger", "policy", "seen", "view"},
	"internal/token":           {"fault", "plainfile", "state", "view"},
	"internal/mcp":             {"legible", "view"}, // and nothing that could decide: see TestMCPDecidesNothing
	"internal/remark":          {"fault", "git", "inspect", "ledger", "legible", "plainfile", "view", "worksite"},
	"internal/serve":           {"decide", "fault", "journal", "ledger", "legible", "order", "policy", "query", "remark", "token", "view"},
	"internal/command/serves":  {"fault", "journal", "order", "page", "post", "query", "serve", "session", "state", "token", "view"},
	"internal/escape":          {"escape/arena", "escape/channels", "escape/files", "escape/kernel", "gitfile", "paths"},
	"internal/terminal":        {"lease", "ledger", "legible"},
	"internal/view":            {}, // see pure
	"internal/companion":       {"paths"},
	"internal/doctor":          {"agent", "agent/clients", "cell", "companion", "config", "confine", "fault", "git", "githook", "journal", "ledger", "legible", "policy", "session", "state", "terminal", "view", "worksite", "workspace", "worktree"},
	"internal/draft":           {"git", "policy"},
	"internal/suggest":         {"audit", "egress/record", "egress/target", "git", "ledger", "policy", "worksite"},
	"internal/present":         {"agent/facts", "audit", "cell", "checkfile", "cellnet", "conduct", "config", "egress/record", "enclosure", "gate", "git", "guard", "inspect", "keep", "lease", "ledger", "legible", "plan", "policy", "queue/line", "seen", "session", "strictyaml", "terminal", "view", "worksite", "workspace"},
	"internal/demo":            {"git", "ledger", "plan"},
	"internal/manual":          {"present", "strictyaml"},
	"internal/page":            {"audit", "demo", "egress/record", "egress/target", "guard", "keep", "ledger", "legible", "mailbox", "post", "present", "publish", "screen", "seccomp", "terminal", "view", "worksite"},
	"internal/foreground":      {"agent/clients", "cell", "confine", "policy", "terminal"},
	"internal/background":      {"fault"},
	"internal/hookrun":         {"client", "hook", "plainfile", "post"},
	"internal/testbrowser":     {"testwait"},                            // for tests: no package may import it
	"internal/testfile":        {"testwait"},                            // for tests only: no package may import it
	"internal/testkernel":      {},                                      // for tests only: no package may import it
	"internal/testnet":         {"testwait"},                            // for tests only: no package may import it
	"internal/testschema":      {"strictyaml"},                          // for tests only: no package may import it
	"internal/testmodel":       {"agent/clients", "policy", "testwait"}, // for tests only: no package may import it
	"internal/testmodel/play":  {"testmodel"},
	"internal/testground":      {"gitfile"}, // for tests only: no package may import it
	"internal/testwait":        {},          // for tests only: no package may import it
	"bench":                    {},
	"release/sbom":             {},
	"cmd/cordon-probe":         {"escape", "legible", "view"},
	"cmd/cordon":               {"agent", "agent/clients", "audit", "background", "base", "briefing", "cell", "cellnet", "client", "command/configs", "command/demos", "command/desks", "command/fleets", "command/mcps", "command/plans", "command/ports", "command/queues", "command/remarks", "command/serves", "conduct", "config", "confine", "consent", "decide", "dispatch", "doctor", "draft", "egress/record", "egress/target", "enclosure", "fault", "foreground", "gate", "git", "guard", "hook", "hookrun", "inspect", "journal", "keep", "launch", "lease", "ledger", "legible", "mailbox", "manual", "message", "page", "plainfile", "policy", "post", "present", "remark", "screen", "seccomp", "seen", "session", "state", "stream", "strictyaml", "suggest", "supervisor", "terminal", "view", "visitor", "warrant", "worksite", "workspace", "worktree"},

	// The parts of the big packages. Nobody else imports those of cell.
	"internal/cell/host":        {"cell/plan", "paths"},
	"internal/cell/limit":       {"cell/host", "cell/plan", "paths"},
	"internal/cell/mount":       {"cell/plan", "paths"},
	"internal/cell/plan":        {"paths"},
	"internal/cell/terminal":    {},
	"internal/cell/walls":       {"cell/host", "cell/plan", "paths", "seccomp"},
	"internal/commands/argtext": {"mark"},
	"internal/commands/table":   {"commands", "commands/argtext"},
	"internal/commands/git":     {"commands", "commands/argtext", "commands/table", "mark"},
	"internal/commands/wrap":    {"commands", "commands/argtext", "commands/table", "mark"},
	"internal/commands/code":    {"commands", "commands/argtext", "commands/table", "mark"},
	"internal/commands/known":   {"commands", "commands/argtext", "commands/code", "commands/git", "commands/table", "commands/wrap", "mark"},
	"internal/inline/lex":       {"commands"},
	"internal/shell/partial":    {"mark"},
	"internal/egress/dns":       {"egress/rate", "egress/target", "reach"},
	"internal/egress/protocol":  {"reach"},
	"internal/egress/rate":      {},
	"internal/egress/record":    {"egress/target", "policy"},
	"internal/egress/target":    {"policy", "reach"},
	"internal/escape/arena":     {},
	"internal/escape/channels":  {"escape/arena"},
	"internal/escape/files":     {"escape/arena"},
	"internal/escape/kernel":    {"escape/arena"},
	"internal/egress/watch":     {"egress/rate", "egress/record"},
	"internal/command/mcps":     {"ledger", "mcp", "order", "query", "session", "view"},
	"internal/command/remarks":  {"fault", "ledger", "legible", "page", "remark", "session", "view"},
	"internal/deskweb/screens":  {"desk", "legible", "view"},
	"internal/deskterm/fill":    {"conduct", "desk", "deskread", "deskterm", "journal", "ledger", "present", "session", "view"},
	"internal/deskweb/fill":     {"conduct", "decide", "deskread", "deskweb", "deskweb/screens", "fault", "ledger", "present", "remark", "session", "view"},
}

// confined says where a dangerous or heavy import may be: a directory, or the
// beginning of a file's name. Every other place is forbidden, in every file of
// every operating system.
var confined = []struct {
	pkg   string
	where []string
	why   string
}{
	{"os/exec", []string{"internal/git/", "internal/errand/", "internal/companion/", "internal/cell/", "internal/escape/", "internal/testfile/", "internal/testkernel/", "internal/testnet/", "internal/testmodel/", "internal/doctor/", "bench/"}, "git has one hardened caller, the operator's own commands have another, everything else that runs is a worker's, and the escape suite plays both sides"},
	{"unsafe", []string{"internal/seccomp/unsafe", "internal/cell/walls/unsafe", "internal/base/unsafe", "internal/publish/unsafe", "internal/escape/arena/unsafe", "internal/testkernel/unsafe"}, "only the structures of seccomp, of capabilities and of btrfs, the address of nobody, and the escape suite's raw system calls, have no other way to the kernel"},
	{"C", nil, "the binary is static and auditable"},
	{"plugin", nil, "code is not loaded at run time"},
	{"testing", nil, "tests are not part of the product"},
	{"net", []string{"internal/deskweb/", "internal/fleet/", "internal/egress/", "internal/publish/", "internal/post/", "internal/serve/", "internal/notify/webhook", "internal/escape/", "internal/testnet/", "internal/testmodel/"}, "there is one way out of a cell, one into it for the operator's browser, one to its supervisor, one for notifications and one for the operator's own programs, and the escape suite plays both sides"},
	{"net/http", []string{"internal/deskweb/", "internal/fleet/metrics/", "internal/notify/", "internal/serve/", "internal/testnet/", "internal/testmodel/"}, "what is checked of a worker's requests is less than it understands; the operator's own programs may speak it"},
	{"crypto/tls", []string{"internal/fleet/", "internal/notify/webhook", "internal/testnet/"}, "cordon looks at names of others' connections and never into what is encrypted; its own are notifications"},
	{"github.com/nats-io", []string{"internal/fleet/", "cmd/cordon-fleet/"}, "the engine of a fleet is linked into cordon-fleet and never into cordon"},
	{"charm.land", []string{"internal/deskterm/"}, "only the desk draws; nothing that starts for a tool call needs it"},
	{"github.com/charmbracelet", []string{"internal/deskterm/"}, "only the desk draws; its terminal emulator is for tests and measurements"},
	{"github.com/mattn/go-runewidth", nil, "it is pinned in go.mod: versions before v0.0.28 make every start of cordon 13 times slower"},
	{"pgregory.net/rapid", nil, "it is for tests"},
	{"github.com/rogpeppe/go-internal", nil, "it is for tests"},
	{"github.com/chromedp", []string{"internal/testbrowser/"}, "it is for tests"},
	{"github.com/santhosh-tekuri/jsonschema", nil, "it is for tests"},
}

// pure packages import these packages and no others: they describe, and cannot act.
var pure = map[string][]string{
	"internal/cell/plan":   {"cordon/internal/paths", "crypto/sha256", "encoding/binary", "encoding/json", "errors", "fmt", "path/filepath", "slices", "sort", "strings"},
	"internal/consent":     {"cordon/internal/policy", "cordon/internal/strictyaml", "errors", "path", "path/filepath", "slices", "strconv", "strings"},
	"internal/agent/clean": {"bytes", "encoding/json", "fmt", "go.yaml.in/yaml/v3", "io", "regexp", "slices", "strings", "sync", "unicode/utf8"},
	"internal/desk":        {"cmp", "cordon/internal/legible", "cordon/internal/view", "fmt", "slices", "strconv", "strings", "time", "unicode"},
	"internal/message":     {"cordon/internal/legible", "errors", "fmt", "regexp", "slices", "strings", "sync", "unicode", "unicode/utf8"},
	"internal/plan": {"bytes", "cmp", "cordon/internal/policy", "cordon/internal/strictyaml", "crypto/sha256", "encoding/hex", "encoding/json", "fmt",
		"go.yaml.in/yaml/v3", "maps", "path", "slices", "strconv", "strings", "time"},
	"internal/queue":      {"slices"},
	"internal/reach":      {"cordon/internal/strictyaml", "golang.org/x/net/idna", "net/netip", "slices", "strconv", "strings", "sync", "unicode/utf8"},
	"internal/screen":     {"io", "slices", "strconv", "strings", "unicode", "unicode/utf8"},
	"internal/strictyaml": {"bytes", "errors", "fmt", "go.yaml.in/yaml/v3", "io", "slices", "strconv", "strings", "unicode", "unicode/utf8"},
	"internal/view":       {"bytes", "encoding/json", "fmt", "reflect", "time", "unicode/utf8"},
}

// TestWidthLibraryIsPinned: what the desk draws with asks for a version of go-runewidth whose init takes 40
// milliseconds, at every start of cordon and of its hook. TestInit of cmd/cordon measures it.
func TestWidthLibraryIsPinned(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\tgithub.com/mattn/go-runewidth v0.0.31 ") {
		t.Error("go.mod does not pin github.com/mattn/go-runewidth to v0.0.31: measure the start of cordon hook before you take another version")
	}
}

// tables are files whose long lines are rows or scripts, one to a line.
var tables = []string{
	"internal/escape/", "internal/policy/fields.go", "internal/policy/agent_parts.go", "internal/policy/network.go", "internal/policy/logins.go", "internal/enclosure/variables.go",
	"internal/audit/trusted.go", "internal/deskterm/keys.go", "internal/git/words.go", "internal/draft/ecosystems.go",
}

// TestLines keeps lines readable: no more than 160 characters outside of tables and tests.
func TestLines(t *testing.T) {
	const most = 160
	for _, dir := range []string{"../cmd", "../internal", "../bench", "../release"} {
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(file, "../"))
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
				slices.ContainsFunc(tables, func(table string) bool { return strings.HasPrefix(name, table) }) {
				return err
			}
			text, err := os.ReadFile(file)
			for i, line := range strings.Split(string(text), "\n") {
				if n := utf8.RuneCountInString(line); n > most {
					t.Errorf("%s:%d has %d characters, more than %d", name, i+1, n, most)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPackageSizes keeps packages small enough to read: above this, give one sub-packages.
func TestPackageSizes(t *testing.T) {
	const most = 5000
	lines := map[string]int{}
	for _, dir := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			lines[filepath.Dir(file)] += strings.Count(string(text), "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, n := range lines {
		if n > most {
			t.Errorf("%s has %d lines without its tests, more than %d", dir, n, most)
		}
	}
}

// source is the path of a file below the module, and what it imports.
type source struct {
	path    string
	imports []string
}

// breaches lists every import that is where it must not be.
func breaches(files []source) []string {
	var list []string
	for _, f := range files {
		allowed, placed := layers[path.Dir(f.path)]
		if !placed {
			list = append(list, fmt.Sprintf("%s: its package is not in the table of layers", f.path))
		}
		for _, imp := range f.imports {
			if ours, ok := strings.CutPrefix(imp, "cordon/"); ok && !slices.Contains(allowed, strings.TrimPrefix(ours, "internal/")) {
				list = append(list, fmt.Sprintf("%s imports %s, which is not below it", f.path, imp))
			}
			if only, ok := pure[path.Dir(f.path)]; ok && !slices.Contains(only, imp) {
				list = append(list, fmt.Sprintf("%s imports %s: its package is pure", f.path, imp))
			}
			list = append(list, misplaced(f.path, imp)...)
		}
	}
	return list
}

func misplaced(file, imp string) []string {
	for _, c := range confined {
		if imp != c.pkg && !strings.HasPrefix(imp, c.pkg+"/") || c.pkg == "net" && imp != "net" {
			continue
		}
		if !slices.ContainsFunc(c.where, func(place string) bool { return strings.HasPrefix(file, place) }) {
			return []string{fmt.Sprintf("%s imports %s: %s", file, imp, c.why)}
		}
	}
	return nil
}

// product reads the imports of every file that is not a test, for every
// operating system. It does not ask go list, which answers for one system and
// from a cache.
func product(t *testing.T, root string) []source {
	t.Helper()
	var files []source
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && p != root || e.Name() == "testdata") {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := read(root, p)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(root, p string) (source, error) {
	rel, err := filepath.Rel(root, p)
	if err != nil {
		return source{}, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
	if err != nil {
		return source{}, err
	}
	f := source{path: filepath.ToSlash(rel)}
	for _, i := range parsed.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return source{}, err
		}
		f.imports = append(f.imports, name)
	}
	return f, nil
}

func TestLayers(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	files := product(t, root)
	for _, b := range breaches(files) {
		t.Error(b)
	}
	// Every package of the table is there, and files of other systems were read.
	seen := map[string]bool{}
	for _, f := range files {
		seen[path.Dir(f.path)] = true
		seen[strings.TrimSuffix(f.path[strings.LastIndex(f.path, "_")+1:], ".go")] = true
	}
	for _, want := range append(packages(), "linux", "other") {
		if !seen[want] {
			t.Errorf("no file of %s was read", want)
		}
	}
}

func packages() []string {
	var list []string
	for p := range layers {
		list = append(list, p)
	}
	sort.Strings(list)
	return list
}

// The table itself points down: no package may reach itself.
func TestLayersHaveNoCycle(t *testing.T) {
	var reach func(from string, path []string)
	sound := map[string]bool{} // nothing that they reach is a cycle
	reach = func(from string, path []string) {
		if slices.Contains(path, from) {
			t.Fatalf("a cycle: %v", append(path, from))
		}
		if sound[from] {
			return
		}
		for _, to := range layers[from] {
			if layers["internal/"+to] == nil {
				t.Errorf("%s may import %s, which is not in the table", from, to)
			}
			reach("internal/"+to, append(slices.Clone(path), from))
		}
		sound[from] = true
	}
	for _, p := range packages() {
		reach(p, nil)
	}
}

// The positive control: each kind of breach is found.
func TestBreachesAreFound(t *testing.T) {
	for _, f := range []source{
		{"internal/policy/x.go", []string{"cordon/internal/git"}},
		{"internal/audit/x.go", []string{"cordon/internal/gate"}},
		{"internal/session/x.go", []string{"cordon/cmd/cordon"}},
		{"internal/git/sub/x.go", nil},
		{"internal/utils/x.go", []string{"fmt"}},
		{"internal/audit/x_darwin.go", []string{"os/exec"}},
		{"cmd/cordon/run.go", []string{"os/exec"}},
		{"internal/cell/x.go", []string{"unsafe"}},
		{"internal/policy/x.go", []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
		{"internal/git/x.go", []string{"github.com/rogpeppe/go-internal/testscript"}},
		{"internal/state/x.go", []string{"pgregory.net/rapid"}},
		{"internal/state/x.go", []string{"net/http/httptest"}},
		{"internal/view/x.go", []string{"os"}},
		{"internal/view/x.go", []string{"cordon/internal/ledger"}},
	} {
		if len(breaches([]source{f})) == 0 {
			t.Errorf("%s may import %v", f.path, f.imports)
		}
	}
	for _, f := range []source{
		{"internal/git/git.go", []string{"os/exec", "context"}},
		{"internal/doctor/x.go", []string{"os/exec"}},
		{"internal/gate/x.go", []string{"cordon/internal/audit", "net/netip"}},
	} {
		if got := breaches([]source{f}); len(got) > 0 {
			t.Error(got)
		}
	}
}

// TestMCPDecidesNothing keeps decisions out of the reach of the MCP server: all that the server
// imports is what it shows, and nothing that it is connected to takes decisions.
func TestMCPDecidesNothing(t *testing.T) {
	var reached []string
	var reach func(string)
	reach = func(from string) {
		for _, to := range layers["internal/"+from] {
			if !slices.Contains(reached, to) {
				reached = append(reached, to)
				reach(to)
			}
		}
	}
	reach("mcp")
	slices.Sort(reached)
	if !slices.Equal(reached, []string{"legible", "view"}) {
		t.Errorf("internal/mcp reaches %v", reached)
	}
	for _, from := range []string{"internal/command/mcps", "internal/order", "internal/query"} {
		for _, to := range []string{"audit", "config", "decide", "dispatch", "gate", "keep", "launch", "policy", "supervisor"} {
			if slices.Contains(layers[from], to) {
				t.Errorf("%s may import %s, and the MCP server is connected to it", from, to)
			}
		}
	}
}

// namesClients are the files outside of a client's folder that may name a client, each
// with the reason: a file, or a directory with a slash at its end.
var namesClients = []struct{ where, why string }{
	{"internal/agent/clients/clients.go", "it is the registry"},
	{"internal/agent/facts/", "it holds one file of data for each client, which policy may import"},
	{"internal/client/event.go", "hooks are written in the words of one client"},
	{"internal/client/hooks.go", "hooks are written in the words of one client"},
	{"internal/client/operator.go", "hooks are written in the words of one client"},
	{"internal/testmodel/", "it speaks the wire protocols that the real clients speak, for tests only"},
	{"cmd/cordon/clients.go", "examples in the help name a client"},
	{"cmd/cordon/run.go", "the help says in whose form --hooks is read"},
	{"cmd/cordon/wiring.go", "the help says in whose form --with is read"},
}

// clientsNamed lists the clients that a file names and must not.
func clientsNamed(file, text string) []string {
	var list []string
	for _, c := range facts.All() {
		own := strings.HasPrefix(file, "internal/agent/"+c.Name+"/")
		named := strings.Contains(strings.ToLower(text), c.Name)
		if len(c.Name) < 4 { // it is part of other words
			named = regexp.MustCompile(`(?i)\b` + c.Name + `\b`).MatchString(text)
		}
		if !own && named {
			list = append(list, c.Name)
		}
	}
	return list
}

// TestClientsHaveOneFolder keeps what is known about a client in its folder: every other
// file asks the registry. A folder may name another client, as far as the two share a form.
func TestClientsHaveOneFolder(t *testing.T) {
	folders := regexp.MustCompile(`^internal/agent/(\w+)/`)
	seen := map[string]bool{}
	for _, f := range product(t, "..") {
		text, err := os.ReadFile(filepath.Join("..", f.path))
		if err != nil {
			t.Fatal(err)
		}
		names := clientsNamed(f.path, string(text))
		if m := folders.FindStringSubmatch(f.path); len(names) == 0 ||
			m != nil && slices.ContainsFunc(facts.All(), func(c *facts.Client) bool { return c.Name == m[1] }) {
			continue
		}
		i := slices.IndexFunc(namesClients, func(n struct{ where, why string }) bool {
			return f.path == n.where || strings.HasSuffix(n.where, "/") && strings.HasPrefix(f.path, n.where)
		})
		if i < 0 {
			t.Errorf("%s names %v: put what it knows into the client's folder, and ask internal/agent/clients", f.path, names)
			continue
		}
		seen[namesClients[i].where] = true
	}
	for _, n := range namesClients {
		if !seen[n.where] {
			t.Errorf("%s names no client any more: take it off the list", n.where)
		}
	}
	if len(clientsNamed("internal/policy/x.go", "it is for Copilot")) == 0 || len(clientsNamed("internal/agent/codex/x.go", "Codex")) > 0 {
		t.Error("the names of clients are not found as they should be")
	}
}
