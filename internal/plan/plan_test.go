package plan

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cordon/internal/policy"
)

func parse(t *testing.T, name, text string) Plan {
	t.Helper()
	p, err := Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const small = `version: 1
plan: small
stages:
  - id: first
    task: Write it.
    write: [src]
    acceptance: ["make test"]
  - id: second
    after: [first]
    task: Write more.
    write: [docs]
    acceptance: [{run: "make docs", paths: [docs]}]
    artifacts: [{path: docs/x.md, contains: X, not: [TODO]}]
    truths: ["It is good.", {claim: It prints, run: ./x, exit: 2, stdout: BLOCKED}]
    retries: {failed: 2}
    budget: {time: 2h, tokens: 2M, cost: 5}
    review: {agent: codex, rounds: 2, must: true}
`

func TestParse(t *testing.T) {
	p := parse(t, "plan.yaml", small)
	if p.ID != "small" || p.Land != Each || p.Parallel != defaultParallel || len(p.Stages) != 2 {
		t.Fatalf("got %+v", p)
	}
	s := p.Stages[1]
	if s.After[0].ID != "first" || s.Acceptance[0].Paths[0] != "docs" || s.Artifacts[0].Contains[0] != "X" || s.Truths[0].Run != "" || s.Truths[1].Exit != 2 ||
		s.Budget.Tokens != 2e6 || s.Budget.Cost != 5 || s.Review.Rounds != 2 || s.Retries.Failed != 2 {
		t.Errorf("got %+v", s)
	}
	if got := strings.Join(p.Critical(), " "); got != "first second" {
		t.Errorf("critical path %q", got)
	}
}

func TestMistakes(t *testing.T) {
	stage := func(body string) string { return "version: 1\nplan: p\nstages:\n  - id: a\n" + body }
	for text, want := range map[string]string{
		"":                                          "p:1:1: the plan is empty (cordon plan new writes a plan to begin with)",
		"version: 2":                                "p:1:10: expected version 1, not the number 2 (this cordon reads plans of version 1)",
		"version: 1\nplan: p":                       `p: the key "stages" is missing (every plan has it)`,
		"version: 1\nplan: p\nstages: []":           "p:3:9: expected a list of stages, not an empty list (write one stage per entry, each after a dash)",
		"version: 1\nplan: ../p\n":                  `p:2:7: "../p" is not a name that a stage or a plan can have (use at most 60 lower case letters, digits and dashes, with a letter or a digit at both ends)`,
		stage("    taks: x\n"):                      `p:5:5: unknown key "taks" (did you mean task?)`,
		stage("    after: [b]\n"):                   "p:5:13: there is no stage b (did you mean a?)",
		stage("    after: [a]\n"):                   "p:5:13: a waits for itself (remove it)",
		stage("    name: A\n"):                      "p:4:5: a: it has nothing to do (add task, or command)",
		stage("    kind: resolve\n"):                "p:5:11: a stage of this kind cannot be written (cordon makes one when a landing conflicts)",
		stage("    write: [../x]\n"):                `p:5:13: "../x" leaves the worktree with .. (write a path inside the worktree)`,
		stage("    task: t\n    task: u\n"):         `p:6:5: the key "task" is given twice (first on line 5)`,
		stage("    task: t\n  - id: a\n"):           "p:6:5: two stages are called a (the first is on line 4)",
		stage("    kind: verify\n    write: [x]\n"): "p:4:5: a: a stage that verifies changes nothing (remove write, or leave kind out)",
		stage("    kind: verify\n"):                 "p:4:5: a: it checks nothing (add acceptance or truths)",
		stage("    kind: survey\n    task: t\n"):    "p:4:5: a: a survey writes what it learned, and has no place for it (add write)",
		stage("    task: t\n    agent: claude\n    command: [x]\n"):                                                "p:4:5: a: it has an agent and a command (keep one of them)",
		stage("    task: t\n    budget: {tokens: many}\n"):                                                         `p:6:22: expected a number of tokens, not the text "many" (write 500k or 2M)`,
		stage("    task: t\n    truths: [{claim: x, exit: 1}]\n"):                                                  "p:6:14: there is no command whose end this could be (add run, or write the claim as a sentence)",
		stage("    task: t\n    artifacts: [\"*.md\"]\n"):                                                          `p:6:17: "*.md" is not the path of one file (write it without wildcards)`,
		stage("    task: t\n    after: [c]\n  - {id: b, task: t, after: [a]}\n  - {id: c, task: t, after: [b]}\n"): "p:4:5: stages wait for each other: a → c → b → a (remove one of these dependencies)",
		stage("    task: t\n    reads: [b]\n  - {id: b, task: t}\n"):                                               "p:6:13: a reads the result of b without waiting for it (add b to after)",
		"# Plan: x\n\nNothing.\n":                                                                                  "p: there is no plan in this document (put it in a YAML block between <!-- loom METADATA --> and <!-- END loom METADATA -->)",
		"x\n" + beginMark + "\n":                                                                                   "p:2:1: the plan that begins here has no end (write " + endMark + " after it)",
		beginMark + "\n```yaml\nloom:\n  sandbox: {enabled: false}\n```\n" + endMark + "\n":                        "p:4:22: a plan cannot turn the sandbox off (remove the key)",
		beginMark + "\nloom: {}\n" + endMark + "\n":                                                                "p:2:1: expected one block of YAML between the marks, not \"loom: {}\" (begin it with ```yaml and end it with ```)",
	} {
		if _, err := Parse("p", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// The document that the project began with is a plan, unchanged.
func TestSeed(t *testing.T) {
	text, err := os.ReadFile("testdata/isolation.md")
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, "isolation.md", string(text))
	if p.ID != "worktree-isolation-enforcement" || len(p.Stages) != 5 || len(p.Notes) != 1 {
		t.Fatalf("got %+v", p)
	}
	s, _ := p.Stage("sandbox-hardening")
	if s.Write[0] != "loom/src/sandbox/**" || s.Artifacts[0].Path != "loom/src/sandbox/config.rs" || s.Dir != "loom" {
		t.Errorf("got %+v", s)
	}
	if last := p.Order()[4]; last.ID != "integration-verify" || last.Kind != Verify || len(last.Truths) != 3 {
		t.Errorf("got %+v", last)
	}
	if n := p.Blocks()["knowledge-bootstrap"]; n != 4 {
		t.Errorf("blocks %d", n)
	}
	in := surroundings()
	if _, err := p.Permits("isolation.md", in); err == nil || err.Error() !=
		"isolation.md:225:9: the policy of the repository does not allow github.com, crates.io (add to network in cordon.yaml: allowed_domains: [github.com, crates.io])" {
		t.Errorf("got %v", err)
	}
	in.Policy.Network.AllowedDomains = []string{"github.com", "crates.io", "example.com"}
	permits, err := p.Permits("isolation.md", in)
	if err != nil {
		t.Fatal(err)
	}
	middle := permits[1].Policy
	if got := strings.Join(middle.Network.AllowedDomains, " "); got != "github.com crates.io" {
		t.Errorf("domains %q", got)
	}
	if middle.Acceptance[0] != "cd 'loom' || exit\ncargo test sandbox" || len(permits[4].Roots()) != 0 {
		t.Errorf("got %q, %q", middle.Acceptance, permits[4].Roots())
	}
	roots := map[string][]string{}
	for _, p := range permits {
		roots[p.Stage.ID] = p.Roots()
	}
	if pairs := p.Pairs(func(s Stage) []string { return roots[s.ID] }); len(pairs) != 0 {
		t.Errorf("serialised: %v", pairs)
	}
}

func surroundings() Surroundings {
	return Surroundings{Policy: policy.Default(), Has: func(string) bool { return false },
		Reports: func(name string) (bool, bool, bool) {
			return true, name == "claude", name == "claude" || name == "codex"
		}}
}

func TestRefusals(t *testing.T) {
	narrow := surroundings()
	narrow.Policy.Filesystem.WriteRoots = []string{"src"}
	linked := surroundings()
	linked.Link = func(path string) bool { return path == "src/out" }
	stage := func(body string) string { return "version: 1\nplan: p\nstages:\n  - id: a\n    task: t\n" + body }
	for _, c := range []struct {
		in         Surroundings
		text, want string
	}{
		{surroundings(), stage(""), "a: nothing says when it is done"},
		{surroundings(), stage("    write: [src]\n    artifacts: [docs/x]\n"), "a: it cannot make its artifact docs/x"},
		{narrow, stage("    write: [docs]\n    acceptance: [\"true\"]\n"), "a: the policy of the repository does not let a worker change docs"},
		{surroundings(), stage("    agent: cladue\n    acceptance: [\"true\"]\n"), `a: there is no client "cladue"`},
		{surroundings(), stage("    agent: codex\n    budget: {cost: 1}\n    acceptance: [\"true\"]\n"), "a: codex does not report its cost, but it reports tokens"},
		{surroundings(), stage("    review: {agent: cdoex}\n    acceptance: [\"true\"]\n"), `a: there is no client "cdoex"`},
		{surroundings(), stage("    review: {rounds: 4}\n    retries: {rejected: 2}\n    acceptance: [\"true\"]\n"), "a: its rounds of review and its retries are 6 attempts"},
		{surroundings(), stage("    dir: nowhere\n    write: [src]\n    acceptance: [\"true\"]\n"), "a: the base commit has no directory nowhere"},
		{linked, stage("    dir: src/out/sub\n    write: [src]\n    acceptance: [\"true\"]\n"), "a: its directory src/out/sub lies behind the link src/out"},
		{surroundings(), "version: 1\nplan: p\nstages:\n  - {id: a, task: {file: t.md}, acceptance: [\"true\"]}\n", "a: the base commit has no file t.md"},
	} {
		_, err := parse(t, "p", c.text).Permits("p", c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v", c.text, err)
		}
	}
}

// Stages that may change the same path never run at once.
func TestPairs(t *testing.T) {
	p := parse(t, "p", `version: 1
plan: p
stages:
  - {id: a, task: t, write: [src/a, shared]}
  - {id: b, task: t, write: [src/b, "shared/**"]}
  - {id: c, task: t, write: [src/a/x], after: [a]}
`)
	got := p.Pairs(func(s Stage) []string { return s.Write })
	if len(got) != 1 || got[0].A != "a" || got[0].B != "b" || got[0].Shared[0] != "shared" {
		t.Errorf("got %+v", got)
	}
}

// Permits that are kept are those of the policy as it is now.
func TestKnownPermits(t *testing.T) {
	p := Plan{Stages: []Stage{{ID: "a", Dir: ".", Artifacts: []Artifact{{Path: "x"}}}}}
	in := Surroundings{Policy: policy.Default(), Has: func(string) bool { return true }, Known: &Known{}}
	for _, roots := range [][]string{{"src"}, {"src"}, {"docs"}} {
		in.Policy.Filesystem.WriteRoots = roots
		list, err := p.Permits("x", in)
		if err != nil || !slices.Equal(list[0].Roots(), roots) {
			t.Fatalf("%v: %v, %v", roots, list, err)
		}
	}
}

// A directory is there if a stage before can make it. Paths that do not begin at it look like those of a loom document.
func TestDirectories(t *testing.T) {
	p := parse(t, "p", `version: 1
plan: p
stages:
  - {id: a, task: t, write: [loom/src/x], acceptance: ["true"]}
  - {id: b, after: [a], dir: loom/src, task: t, write: [hooks], acceptance: ["true"]}
  - {id: c, after: [a], dir: loom, task: t, write: [loom/src/y, docs], acceptance: ["true"]}
  - {id: d, after: [a], dir: loom, kind: verify, acceptance: ["true"]}
`)
	permits, err := p.Permits("p", surroundings())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b runs its commands in loom/src and may change nothing there: write begins at the top of the tree (did you mean write: [loom/src/hooks]?)"}
	if got := Doubts(permits); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
