package policy

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// mistakes are policy texts with the exact error each must give.
var mistakes = []struct{ name, text, want string }{
	// The text as a whole.
	{"empty", "", `p:1:1: the policy is empty (delete the file to use the default policy, or write version: 1)`},
	{"only a comment", "# nothing\n", `p:1:1: the policy is empty (delete the file to use the default policy, or write version: 1)`},
	{"only a document mark", "---\n", `p:1:1: the policy is empty (delete the file to use the default policy, or write version: 1)`},
	{"explicit null", "~\n", `p:1:1: a policy is a mapping, not nothing (write its keys, or leave it out)`},
	{"list", "- a\n", `p:1:1: a policy is a mapping, not a list (write its keys, or leave it out)`},
	{"invalid UTF-8", "version: 1\nsecrets: [é, \xff]\n", `p:2:14: the policy is not valid UTF-8 (save it as UTF-8)`},
	{"second document", "version: 1\n---\nversion: 1\n", `p:2:1: a second document begins here (a policy is one document; remove the --- line)`},
	{"too large", "version: 1 #" + strings.Repeat("x", 1<<20), `p:1:1: the policy is larger than 1 MiB`},
	{"too deep", "secrets: " + strings.Repeat("[", 20) + strings.Repeat("]", 20), `p:1:18: nested too deeply`},
	{"syntax: indentation", "secrets:\n  - A\n x: y\n", `p:3:2: not valid YAML: did not find expected key`},
	{"syntax: quote", "version: 1\nsecrets: [\"A]\n", `p:2:1: not valid YAML: found unexpected end of stream`},
	{"syntax: colon", "version: 1\nsecrets: a: b\n", `p:2:1: not valid YAML: mapping values are not allowed in this context`},
	{"syntax: escape", "version: 1\nsecrets: [\"\\xzz\"]\n", `p:2:1: not valid YAML: did not find expected hexdecimal number`},
	{"syntax: preset", "version: 1\nnetwork: {allowed_domains: [a.b, @npm, c.d]}\n", `p:2:34: not valid YAML: found character that cannot start any token (quote it: "@npm")`},
	{"syntax: preset after a dash", "network:\n  allowed_domains:\n    - a.b\n    - @npm # packages\n    - c.d\n", `p:4:7: not valid YAML: found character that cannot start any token (quote it: "@npm")`},
	{"syntax: star", "version: 1\nnetwork: {allowed_domains: [*.example.com:443]}\n", `p:2:29: not valid YAML: did not find expected alphabetic or numeric character (quote it: "*.example.com:443")`},
	{"syntax: star after a dash", "network:\n  allowed_domains:\n    - *.example.com\n", `p:3:7: not valid YAML: did not find expected alphabetic or numeric character (quote it: "*.example.com")`},
	{"syntax: other character", "version: 1\nsetup: [`x`]\n", "p:2:1: not valid YAML: found character that cannot start any token"},
	{"syntax: other character beside a mail address", "version: 1\nsetup: [\"a@b\", `x`]\n", "p:2:1: not valid YAML: found character that cannot start any token"},
	{"anchor", "secrets: &a [A]\nsetup: *a\n", `p:1:10: an anchor is not allowed in a policy (write the value out where it is needed)`},
	{"alias to nothing", "version: 1\nsecrets: *b\n", `p:2:10: an alias is not allowed in a policy (write the value out, so that a policy reads the same to everyone)`},
	{"merge key", "version: 1\n<<: {secrets: [A]}\n", `p:2:1: a merge key is not allowed in a policy (write the keys out where they are needed)`},
	{"tag", "setup: [!!str 5]\n", `p:1:9: a tag is not allowed in a policy (remove !!str)`},

	// Keys.
	{"misspelt key", "version: 1\nfilesystem:\n    write_root: [src]\n", `p:3:5: unknown key "write_root" (did you mean write_roots?)`},
	{"camel case key", "preserveOnFailure: true\n", `p:1:1: unknown key "preserveOnFailure" (did you mean preserve_on_failure?)`},
	{"key of a section", "write_roots: [src]\n", `p:1:1: unknown key "write_roots" (write_roots belongs under filesystem)`},
	{"unknown key", "network: {proxy_server: x}\n", `p:1:11: unknown key "proxy_server" (the keys here are allowed_domains, host_ports, publish, via, observe, limits)`},
	{"duplicate key", "version: 1\nsecrets: []\nsecrets: [A]\n", `p:3:1: the key "secrets" is given twice (first on line 2)`},
	{"duplicate key in section", "git:\n  pin: true\n  \"pin\": true\n", `p:3:3: the key "pin" is given twice (first on line 2)`},
	{"key that is a list", "? [a]\n: b\n", `p:1:3: expected a key, not a list (the keys here are version, filesystem, network, secrets, git, limits, isolation, cell, guard, agent, acceptance, setup, gate, preserve_on_failure, expires)`},
	{"key that is a number", "git: {1: 2}\n", `p:1:7: expected a key, not the number 1 (the keys here are branch, identity, pin)`},

	// Types.
	{"section is null", "version: 1\nfilesystem:\n", `p:2:12: filesystem is a mapping, not nothing (write its keys, or leave it out)`},
	{"section is a list", "limits: [time]\n", `p:1:9: limits is a mapping, not a list (write its keys, or leave it out)`},
	{"list is null", "filesystem:\n  write_roots:\n", `p:2:15: expected a list, not nothing (write [] for nothing, or leave the key out for its default)`},
	{"list is text", "filesystem:\n  write_roots: src\n", `p:2:16: expected a list, not the text "src" (write ["src"])`},
	{"list is a mapping", "secrets: {A: b}\n", `p:1:10: expected a list, not a mapping (write one entry per line, each after a dash)`},
	{"entry is a number", "secrets:\n  - A\n  - 1.10\n", `p:3:5: expected text, not the number 1.10 (quote it: "1.10")`},
	{"entry is a boolean", "secrets: [true]\n", `p:1:11: expected text, not the boolean true (quote it: "true")`},
	{"entry is an old boolean", "secrets: [yes]\n", `p:1:11: expected text; yes without quotes is a boolean to many YAML readers (quote it: "yes")`},
	{"entry is a date", "setup: [2024-01-02]\n", `p:1:9: expected text, not the date 2024-01-02 (quote it: "2024-01-02")`},
	{"entry is null", "secrets: [A, ~]\n", `p:1:14: expected text, not nothing`},
	{"entry is a list", "secrets: [[A]]\n", `p:1:11: expected text, not a list`},
	{"NUL in an entry", "setup: [\"a\\0b\"]\n", `p:1:9: the text contains a NUL character`},
	{"version 2", "version: 2\n", `p:1:10: expected version 1, not the number 2 (write version: 1)`},
	{"version 1.0", "version: 1.0\n", `p:1:10: expected version 1, not the number 1.0 (write version: 1)`},
	{"version as text", "version: \"1\"\n", `p:1:10: expected version 1, not the text "1" (write version: 1)`},
	{"boolean as word", "git: {pin: yes}\n", `p:1:12: expected true or false, not the text "yes"`},
	{"boolean quoted", "git: {pin: \"true\"}\n", `p:1:12: expected true or false, not the text "true"`},
	{"duration without unit", "limits: {time: 30}\n", `p:1:16: expected a duration, not the number 30 (write one whole number and one unit, such as 90s, 30m, 4h or 7d)`},
	{"duration of two units", "limits: {time: 1h30m}\n", `p:1:16: "1h30m" is not a duration (write one whole number and one unit, such as 90s, 30m, 4h or 7d)`},
	{"duration zero", "expires: 0h\n", `p:1:10: "0h" is not a duration (write one whole number and one unit, such as 90s, 30m, 4h or 7d)`},
	{"duration negative", "expires: -4h\n", `p:1:10: "-4h" is not a duration (write one whole number and one unit, such as 90s, 30m, 4h or 7d)`},
	{"size without unit", "limits: {memory: 512}\n", `p:1:18: expected a size, not the number 512 (write one whole number and one unit, such as 512MiB or 2GB, or none)`},
	{"size with another unit", "limits: {disk: 5Gb}\n", `p:1:16: "5Gb" is not a size (write one whole number and one unit, such as 512MiB or 2GB, or none)`},
	{"size too large", "limits: {disk: 1000000TiB}\n", `p:1:16: "1000000TiB" is not a size (write one whole number and one unit, such as 512MiB or 2GB, or none)`},
	{"no processes", "limits: {processes: 0}\n", `p:1:21: expected a number of processes, not the number 0 (write a whole number from 1 to 1000000, or none)`},
	{"no files", "limits: {files: 0}\n", `p:1:17: expected a number of files, not the number 0 (write a whole number from 1 to 1000000, or none)`},
	{"files as text", "limits: {files: \"8\"}\n", `p:1:17: expected a number of files, not the text "8" (write a whole number from 1 to 1000000, or none)`},
	{"processes in hex", "limits: {processes: 0x10}\n", `p:1:21: expected a number of processes, not the number 0x10 (write a whole number from 1 to 1000000, or none)`},
	{"isolation unknown", "isolation: relaxed\n", `p:1:12: expected an isolation, not the text "relaxed" (write strict, degraded or none)`},
	{"isolation null", "isolation:\n", `p:1:11: expected an isolation, not nothing (write strict, degraded or none)`},
	{"guard is a word", "guard: strict\n", `p:1:8: guard is a mapping, not the text "strict" (write its keys, or leave it out)`},
	{"guard is null", "version: 1\nguard:\n", `p:2:7: guard is a mapping, not nothing (write its keys, or leave it out)`},
	{"guard mode unknown", "guard:\n  mode: enforced\n", `p:2:9: expected a mode of the guard, not the text "enforced" (write enforce, warn or strict)`},
	{"guard mode off", "guard: {mode: off}\n", `p:1:15: expected a mode of the guard, not the text "off" (write enforce, warn or strict)`},
	{"guard mode in capitals", "guard: {mode: Warn}\n", `p:1:15: expected a mode of the guard, not the text "Warn" (write enforce, warn or strict)`},
	{"guard mode null", "guard:\n  mode:\n", `p:2:8: expected a mode of the guard, not nothing (write enforce, warn or strict)`},
	{"guard mode empty", "guard: {mode: ''}\n", `p:1:15: expected a mode of the guard, not the text "" (write enforce, warn or strict)`},
	{"unknown read is a boolean", "guard: {unknown_read: true}\n", `p:1:23: expected allow, ask or deny, not the boolean true`},
	{"unknown read refused", "guard:\n  mode: warn\n  unknown_read: refuse\n", `p:3:17: expected allow, ask or deny, not the text "refuse"`},
	{"opaque code is a list", "guard: {opaque_code: [deny]}\n", `p:1:22: expected allow, ask or deny, not a list`},
	{"opaque code is null", "guard: {opaque_code: }\n", `p:1:22: expected allow, ask or deny, not nothing`},
	{"guard key misspelt", "guard:\n  opaque: deny\n  unknown_reads: deny\n", `p:2:3: unknown key "opaque" (the keys here are mode, unknown_read, opaque_code)`},
	{"guard key nearly right", "guard: {unknown_reads: deny}\n", `p:1:9: unknown key "unknown_reads" (did you mean unknown_read?)`},
	{"as unknown", "gate: {as: merge}\n", `p:1:12: expected squash, history or rebase, not the text "merge"`},
	{"land unknown", "gate: {land: later}\n", `p:1:14: expected auto, careful or review, not the text "later"`},
	{"login unknown", "agent: {login: write}\n", `p:1:16: expected a login, not the text "write" (write none, read or copy)`},
	{"proof is a list", "agent: {proof: [required]}\n", `p:1:16: expected required or reported, not a list`},
	{"refresh is text", "agent: {refresh: often}\n", `p:1:18: expected true or false, not the text "often"`},
	{"guard key at the top", "opaque_code: deny\n", `p:1:1: unknown key "opaque_code" (opaque_code belongs under guard)`},
	{"guard key twice", "guard: {mode: strict, mode: warn}\n", `p:1:23: the key "mode" is given twice (first on line 1)`},
	{"guard misspelt", "gaurd: {mode: strict}\n", `p:1:1: unknown key "gaurd" (did you mean guard?)`},

	// Paths.
	{"empty root", "filesystem: {write_roots: [\"\"]}\n", `p:1:28: the path is empty (write "." for the whole tree, or leave the entry out)`},
	{"blank root", "filesystem: {write_roots: [\"  \"]}\n", `p:1:28: the path is only blanks (leave the entry out)`},
	{"root ends in a blank", "filesystem: {write_roots: [\"a \"]}\n", `p:1:28: "a " begins or ends with a blank (remove it, or write [ ] for a blank that belongs to the name)`},
	{"root climbs", "filesystem:\n  write_roots:\n    - src\n    - ../x\n", `p:4:7: "../x" leaves the worktree with .. (write a path inside the worktree)`},
	{"root climbs inside", "filesystem: {write_roots: [a/../../x]}\n", `p:1:28: "a/../../x" has .. after its start (write the path without the detour)`},
	{"root is at home", "filesystem: {write_roots: [~/x]}\n", `p:1:28: "~/x" is in the home directory (write a path inside the worktree)`},
	{"root of another user", "filesystem: {write_roots: [~bob/x]}\n", `p:1:28: "~bob/x" begins with ~ (write ~/ for your own home directory, or [~] for a ~ that belongs to the name)`},
	{"root behind a dot", "filesystem: {write_roots: [././~x]}\n", `p:1:28: "././~x" begins with ~ (write ~/ for your own home directory, or [~] for a ~ that belongs to the name)`},
	{"root is negated", "filesystem: {write_roots: [\"!src\"]}\n", `p:1:28: "!src" looks like a negation (use deny_write for what may not be written, or ? for a ! that belongs to the name)`},
	{"deny with a variable", "filesystem: {deny_read: [\"$HOME/.ssh\"]}\n", `p:1:26: "$HOME/.ssh" looks like a variable, and none is expanded here (write ~/ for the home directory, or [$] for a $ that belongs to the name)`},
	{"deny list misspelt", "filesystem: {deny_read: [\"@defaults\"]}\n", `p:1:26: "@defaults" begins with @ (write @default for the built-in list, or [@] for a @ that belongs to the name)`},
	{"deny list as a path", "filesystem: {deny_read: [./@default]}\n", `p:1:26: "./@default" begins with @ (write @default for the built-in list, or [@] for a @ that belongs to the name)`},
	{"outside is a boolean", "filesystem: {outside: false}\n", `p:1:23: expected deny or capture, not the boolean false`},
	{"a cache of everybody", "filesystem: {cache: all}\n", `p:1:21: expected none or landed, not the text "all"`},
	{"names of a system", "filesystem: {names: windows}\n", `p:1:21: expected portable or any, not the text "windows"`},
	{"outside allowed", "filesystem: {outside: allow}\n", `p:1:23: expected deny or capture, not the text "allow"`},
	{"outside is null", "filesystem: {outside: }\n", `p:1:23: expected deny or capture, not nothing`},
	{"root in git", "filesystem: {write_roots: [a/.GIT/hooks]}\n", `p:1:28: "a/.GIT/hooks" is inside .git (git's own files can never be written by a worker)`},
	{"scratch in git", "filesystem: {scratch: [.git]}\n", `p:1:24: ".git" is inside .git (git's own files can never be written by a worker)`},
	{"scratch climbs", "filesystem: {scratch: [../x]}\n", `p:1:24: "../x" leaves the worktree with .. (write a path inside the worktree)`},
	{"root with backslash", "filesystem: {write_roots: ['a\\b']}\n", `p:1:28: "a\\b" contains a backslash (separate with /, and write [*] for a * that belongs to the name)`},
	{"root with a broken character", "filesystem: {write_roots: [a\uFFFD]}\n", `p:1:28: "a�" contains U+FFFD, the mark of a broken character (write ? in its place)`},
	{"glob not closed", "filesystem: {deny_write: [\"src/[ab\"]}\n", `p:1:27: "src/[ab" is not a valid glob (close every [ and {; a {a,b} group cannot hold a /)`},
	{"group across a slash", "filesystem: {deny_write: [\"{a/b,c}\"]}\n", `p:1:27: "{a/b,c}" is not a valid glob (close every [ and {; a {a,b} group cannot hold a /)`},
	{"group with dots", "filesystem: {deny_write: [\"{..,a}/x\"]}\n", `p:1:27: "{..,a}/x" is not a valid glob (a {a,b} group cannot hold . or ..)`},
	{"too many groups", "filesystem: {deny_write: [\"{a,b}{a,b}{a,b}{a,b}{a,b}\"]}\n", `p:1:27: "{a,b}{a,b}{a,b}{a,b}{a,b}" is not a valid glob (at most 4 {a,b} groups in one name)`},
	{"double star in a name", "filesystem: {deny_write: [src/**.go]}\n", `p:1:27: "src/**.go" is not a valid glob (** stands alone between slashes: src/**/*.go)`},
	{"range across alphabets", "filesystem: {deny_write: [\"[A-z]\"]}\n", `p:1:27: "[A-z]" is not a valid glob (a class is like [abc], [a-z], [A-Z], [0-9] or [!abc], and holds no brace, comma or bracket)`},
	{"brace in a class", "filesystem: {deny_write: [\"{[}],a}\"]}\n", `p:1:27: "{[}],a}" is not a valid glob (a class is like [abc], [a-z], [A-Z], [0-9] or [!abc], and holds no brace, comma or bracket)`},

	// Other texts.
	{"secret with a value", "secrets: [A=b]\n", `p:1:11: "A=b" is not the name of an environment variable (use letters, digits and _; the value is never written here)`},
	{"secret begins with a digit", "secrets: [1A]\n", `p:1:11: "1A" is not the name of an environment variable (use letters, digits and _; the value is never written here)`},
	{"secret of git's", "secrets: [GIT_SSH_COMMAND]\n", `p:1:11: "GIT_SSH_COMMAND" is never passed: it decides what git runs, reads and signs, and only cordon sets that (give the value another name)`},
	{"secret of cordon's", "secrets: [A, CORDON_WORKER]\n", `p:1:14: "CORDON_WORKER" is never passed: it is cordon's own (give the value another name)`},
	{"secret preload", "secrets: [LD_PRELOAD]\n", `p:1:11: "LD_PRELOAD" is never passed: it puts the operator's code into every process, before the cell's own walls (give the value another name)`},
	{"secret empty", "secrets: ['']\n", `p:1:11: an environment variable needs a name`},
	{"branch without id", "git: {branch: work}\n", `p:1:15: the branch "work" does not contain {id} once (two workers must not share a branch: write cordon/{id})`},
	{"branch with a blank", "git: {branch: \"a {id}\"}\n", `p:1:15: "a {id}" is not a branch name git accepts (use letters, digits, -, _ and /)`},
	{"branch with lock", "git: {branch: \"{id}.lock\"}\n", `p:1:15: "{id}.lock" is not a branch name git accepts (no part may be empty, begin with a dot or end in .lock)`},
	{"branch with another mark", "git: {branch: \"{id}-{date}\"}\n", `p:1:15: "{id}-{date}" is not a branch name git accepts (use letters, digits, -, _ and /)`},
	{"identity empty", "git:\n  identity:\n    name: ' '\n", `p:3:11: the identity is empty`},
	{"identity with brackets", "git: {identity: {email: <a@b>}}\n", `p:1:25: "<a@b>" cannot stand in a commit (leave out <, >, line breaks and blanks at either end)`},
	{"command blank", "acceptance: [\"go test\", \" \"]\n", `p:1:25: the command executes nothing (write a command, or leave the entry out)`},
	{"command without paths", "acceptance: [{run: make, paths: []}]\n", `p:1:14: the command "make" looks at no paths (list them, or write only the command)`},
	{"command with paths only", "acceptance: [{paths: [src]}]\n", `p:1:14: the key "run" is missing (write {run: COMMAND, paths: [PATH]})`},
	{"command with other paths", "acceptance:\n- make\n- {run: make, paths: [src]}\n", `p:3:3: the command "make" is given twice, with other paths (write it once)`},
	{"command with a path outside", "acceptance: [{run: make, paths: [../x]}]\n", `p:1:34: "../x" leaves the worktree with .. (write a path inside the worktree)`},
	{"command with an unknown key", "acceptance: [{run: make, path: [src]}]\n", `p:1:26: unknown key "path" (did you mean paths?)`},
	{"command comment", "setup:\n  - |\n    # later\n\n    # maybe\n", `p:2:5: the command executes nothing (write a command, or leave the entry out)`},
}

func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			p, err := Parse("p", []byte(m.text))
			var placed *Error
			if !errors.As(err, &placed) {
				t.Fatalf("error is %T, want *Error", err)
			}
			if err.Error() != m.want {
				t.Errorf("\n got %s\nwant %s", err, m.want)
			}
			if !reflect.DeepEqual(p, Policy{}) {
				t.Errorf("a policy came with the error: %+v", p)
			}
		})
	}
}

// full is a policy in which no value is the default.
const full = `version: 1
filesystem:
  write_roots: [./src/, docs//*.md, src, /w/tree/x]
  read_roots: [/usr, "~"]
  deny_read: ['../../**', ~/.ssh/**]
  outside: capture
  names: any
  cache: none
  deny_write: [.work/stages/**, ../.worktrees/**, ../../]
  scratch: [node_modules, ~/.cache/]
network:
  allowed_domains: [API.example.com, "*.example.org:8443", "@go", "203.0.113.7/32", "[2001:DB8::/32]:8443", bücher.example.]
  host_ports: [5432, 80]
  via: proxy
  observe: true
  limits: {connections: 10, queries: 20, bytes: 2GB}
secrets: [API_TOKEN]
git:
  branch: agents/{id}/work
  identity: {name: Wörker, email: w@example.com}
  pin: true
limits: {time: 60m, memory: 2048MiB, processes: 200, files: 64, disk: 1500MB}
isolation: degraded
cell: {trace: true}
guard: {mode: strict, unknown_read: ask, opaque_code: deny}
agent: {login: read, refresh: true, proof: reported, proof_within: 5m, web: true, instructions: [], skills: [project], agents: [user, user], commands: [], mcp: [files, user],
  args: {claude: [--model, opus], codex: []}}
acceptance:
  - go test ./...
  - |
    # first
    make check
  - {run: make docs, paths: [docs, "src/**/*.md"]}
  - go test ./...
setup: ["printf 'a\tb\u0085\"'"]
gate: {land: auto, as: rebase, retries: 2, attempts: 0, cache: landed}
preserve_on_failure: false
expires: 48h
`

func TestParseFull(t *testing.T) {
	p, err := Parse("full", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := Policy{
		Version: 1,
		Filesystem: Filesystem{
			WriteRoots: []string{"src", "docs/*.md", "/w/tree/x"},
			ReadRoots:  []string{"/usr", "~"},
			DenyRead:   []string{"../../**", "~/.ssh/**"},
			DenyWrite:  []string{".work/stages/**", "../.worktrees/**", "../.."},
			Scratch:    []string{"node_modules", "~/.cache"},
			Outside:    Capture,
			Names:      AnyName,
			Cache:      NoCaches,
		},
		Network: Network{
			AllowedDomains: []string{"api.example.com", "*.example.org:8443", "@go", "203.0.113.7", "[2001:db8::/32]:8443", "xn--bcher-kva.example"},
			HostPorts:      []int{5432, 80},
			Via:            Proxy,
			Observe:        Observed,
			Limits:         NetworkLimits{10, 20, 2_000_000_000},
		},
		Secrets:   []string{"API_TOKEN"},
		Git:       Git{"agents/{id}/work", Identity{"Wörker", "w@example.com"}, true},
		Limits:    Limits{mustDuration("1h"), 2 << 30, 200, 64, 1_500_000_000},
		Isolation: Degraded,
		Cell:      Cell{Trace: true},
		Guard:     Guard{GuardStrict, AnswerAsk, AnswerDeny},
		Agent: Agent{
			ReadLogin, true, ProofReported, mustDuration("5m"), true, nil, []string{"project"}, []string{"user"}, nil, []string{"files", "user"},
			map[string][]string{"claude": {"--model", "opus"}},
		},
		Acceptance:      []string{"go test ./...", "# first\nmake check\n", "make docs", "go test ./..."},
		AcceptancePaths: map[string][]string{"make docs": {"docs", "src/**/*.md"}},
		Setup:           []string{"printf 'a\tb\u0085\"'"},
		Gate:            Gate{Land: LandAuto, As: Rebase, Retries: 2, Cache: LandedCaches},
		Expires:         mustDuration("2d"),
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("\n got %+v\nwant %+v", p, want)
	}
	roundTrip(t, p)
	for i, v := 0, reflect.ValueOf(p); i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; name != "Version" && reflect.DeepEqual(v.Field(i).Interface(), reflect.ValueOf(Default()).Field(i).Interface()) {
			t.Errorf("%s has its default: the test proves nothing about it", name)
		}
	}
}

func mustDuration(s string) Duration {
	d, err := ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

// roundTrip checks that both written forms of p lead back to it.
func roundTrip(t testing.TB, p Policy) {
	t.Helper()
	again, err := Parse("again", p.YAML())
	if err != nil {
		t.Fatalf("canonical form refused: %v\n%s", err, p.YAML())
	}
	if !reflect.DeepEqual(again, p) {
		t.Fatalf("YAML round trip:\n got %+v\nwant %+v", again, p)
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("a parsed policy is not valid: %v", err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var decoded Policy
	if err := json.Unmarshal(data, &decoded); err != nil {
		t.Fatalf("JSON refused: %v\n%s", err, data)
	}
	if !reflect.DeepEqual(decoded, p) {
		t.Fatalf("JSON round trip:\n got %+v\nwant %+v", decoded, p)
	}
}

func TestDefaultGolden(t *testing.T) {
	const file = "testdata/default.yaml"
	got := Default().YAML()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("Default().YAML() changed; run with -update when that is meant\n%s", got)
	}
	roundTrip(t, Default())
}

func TestMissingKeyIsDefault(t *testing.T) {
	for _, text := range []string{"{}", "version: 1", "git: {}\nfilesystem: {}\nlimits: {}\nnetwork: {}\nguard: {}\n", "network: {limits: {}, host_ports: []}", "git: {identity: {}}"} {
		if p, err := Parse("p", []byte(text)); err != nil || !reflect.DeepEqual(p, Default()) {
			t.Errorf("%q: %+v, %v; want the default", text, p, err)
		}
	}
}

func TestEmptyListIsNothing(t *testing.T) {
	p, err := Parse("p", []byte("filesystem: {write_roots: [], deny_read: []}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Filesystem.WriteRoots) != 0 || len(p.Filesystem.DenyRead) != 0 {
		t.Errorf("an explicit empty list became %v, %v", p.Filesystem.WriteRoots, p.Filesystem.DenyRead)
	}
	if p.Filesystem.WriteRoots == nil {
		t.Error("an empty list is nil, which JSON writes as null")
	}
}

func TestValidate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	for name, spoil := range map[string]func(*Policy){
		"zero":           func(p *Policy) { *p = Policy{} },
		"version":        func(p *Policy) { p.Version = 2 },
		"not normalised": func(p *Policy) { p.Filesystem.WriteRoots = []string{"src/"} },
		"climbing root":  func(p *Policy) { p.Filesystem.WriteRoots = []string{".."} },
		"no time":        func(p *Policy) { p.Limits.Time = 0 },
		"not UTF-8":      func(p *Policy) { p.Setup = []string{"echo \xff"} },
		"negative":       func(p *Policy) { p.Limits.Processes = -1 },
		"negative size":  func(p *Policy) { p.Limits.Disk = -1 },
		"negative files": func(p *Policy) { p.Limits.Files = -1 },
		"deny list":      func(p *Policy) { p.Filesystem.DenyRead = []string{"@"} },
		"empty command":  func(p *Policy) { p.Acceptance = []string{""} },
		"a host":         func(p *Policy) { p.Network.AllowedDomains = []string{"localhost"} },
		"not clean":      func(p *Policy) { p.Network.AllowedDomains = []string{"A.example"} },
		"a port":         func(p *Policy) { p.Network.HostPorts = []int{0} },
		"a port twice":   func(p *Policy) { p.Network.HostPorts = []int{1, 1} },
		"connections":    func(p *Policy) { p.Network.Limits.Connections = -1 },
		"queries":        func(p *Policy) { p.Network.Limits.Queries = maxQueries + 1 },
	} {
		p := Default()
		spoil(&p)
		if p.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestIsolationZeroIsStrict(t *testing.T) {
	for _, i := range []Isolation{"", "strict", "nonsense", "None"} {
		if !i.IsStrict() || i.String() != "strict" {
			t.Errorf("%q is not strict", string(i))
		}
	}
	for _, i := range []Isolation{Degraded, None} {
		if i.IsStrict() {
			t.Errorf("%q is strict", i)
		}
	}
	var i Isolation
	if json.Unmarshal([]byte(`"nonsense"`), &i) == nil {
		t.Error("an unknown isolation was decoded")
	}
}

func TestOutsideZeroIsDeny(t *testing.T) {
	for _, o := range []Outside{"", DenyOutside, "nonsense", "Capture"} {
		if o.Captures() || o.String() != "deny" {
			t.Errorf("%q is not deny", string(o))
		}
	}
	if !Capture.Captures() {
		t.Error("capture does not capture")
	}
	var o Outside
	if json.Unmarshal([]byte(`"allow"`), &o) == nil || json.Unmarshal([]byte(`""`), &o) == nil {
		t.Error("an unknown word was decoded")
	}
}

// A policy from a lease that was sealed before there were these keys is valid,
// reads as the strict one, and is encoded as it was.
func TestOlderJSON(t *testing.T) {
	p := Default()
	p.Filesystem.Outside = ""
	p.Filesystem.Names = ""
	p.Guard = Guard{}
	p.Gate = Gate{}
	p.Network = Network{AllowedDomains: []string{"localhost", "@unknown"}} // which could be written then
	older, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"outside", "names", "files", "guard", "gate", "host_ports", "via", "observe", "connections"} {
		if strings.Contains(string(older), `"`+key+`"`) {
			t.Fatalf("not the older form: %s", older)
		}
	}
	var got Policy
	if err := json.Unmarshal(older, &got); err != nil {
		t.Fatal(err)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	if _, err := got.Network.Reach(); err == nil {
		t.Error("what cannot be written any more is compiled")
	}
	same := got
	same.Network.AllowedDomains = nil
	if got.Filesystem.Names.Portable() {
		t.Error("a lease from before refuses names that could land then")
	}
	if got.Gate.Land.Review() {
		t.Error("a lease from before asks for a review of what could land then")
	}
	if got.Network.Observe != Unobserved {
		t.Error("a lease from before is observed")
	}
	same.Filesystem.Names, same.Gate, same.Network.Observe = PortableNames, Default().Gate, ObserveWorkers
	if got.Filesystem.Outside.Captures() || got.Guard != (Guard{}) || !same.Equal(Default()) {
		t.Errorf("it reads as\n%s", got.YAML())
	}
	if again, err := json.Marshal(got); err != nil || string(again) != string(older) {
		t.Errorf("encoded again as %s, %v", again, err)
	}
}

// Without gate.land, only tested results land by themselves. What is written is kept.
func TestLand(t *testing.T) {
	for text, want := range map[string]Land{
		"version: 1\n":                                    LandReview,
		"acceptance: []\n":                                LandReview,
		"setup: [make]\n":                                 LandReview,
		"acceptance: [make test]\n":                       LandCareful,
		"gate: {}\nacceptance: [make test]\n":             LandCareful,
		"gate: {land: careful}\n":                         LandCareful,
		"gate: {land: auto}\n":                            LandAuto,
		"gate: {land: review}\nacceptance: [make test]\n": LandReview,
	} {
		p, err := Parse("p", []byte(text))
		if err != nil || p.Gate.Land != want {
			t.Errorf("%q: %q, %v, want %q", text, p.Gate.Land, err, want)
		}
		if again, err := Parse("p", p.YAML()); err != nil || again.Gate.Land != want {
			t.Errorf("%q written and read again: %q, %v, want %q", text, again.Gate.Land, err, want)
		}
	}
	if land := Default().Gate.Land; land != LandReview {
		t.Errorf("without a policy: %q", land)
	}
}
