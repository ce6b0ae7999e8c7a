package draft

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cordon/internal/policy"
)

// Plan proposes a plan for a repository with this policy: a survey, a stage that changes something, and one that
// verifies all of it. Its comments say what else a stage can have.
func Plan(p Project, in policy.Policy, name string) []byte {
	notes := p.within("docs/NOTES.md", in)
	var tests policy.Entry
	for _, e := range p.fitting() {
		p.propose(&tests, e.tests)
	}
	checks, note := distinct(in.Acceptance), " # as in cordon.yaml, whose commands run in every stage"
	if len(checks) == 0 {
		checks, note = distinct(tests.Set), ""
	}
	if len(checks) == 0 {
		checks, note = distinct(tests.Offer), " # a guess: does this run your tests?"
	}
	if len(checks) == 0 {
		checks, note = []string{"test -s " + notes}, " # replace it: nothing that cordon knows tests this repository"
	}
	roots := p.sources()
	if len(roots) == 0 {
		roots = []string{"."}
	}
	var list []string
	for _, c := range checks {
		list = append(list, quoted(c))
	}
	commands := "[" + strings.Join(list, ", ") + "]" + note
	root := roots[0]
	for _, r := range roots {
		if r == "src" || r == "lib" || r == "internal" {
			root = r
		}
	}
	if own := in.Filesystem.WriteRoots; len(own) > 0 && !policy.RootWithin(root, own) {
		root = own[0]
	}
	return fmt.Appendf(nil, planText, name, quoted(notes), quoted(root), strings.Join(roots, ", "), commands)
}

// within is a path that the policy lets a stage write: this one, or the same name in a place that the policy names.
func (p Project) within(name string, in policy.Policy) string {
	roots := in.Filesystem.WriteRoots
	if len(roots) == 0 || policy.RootWithin(name, roots) {
		return name
	}
	at := slices.IndexFunc(roots, func(root string) bool { return p.tracked[root] && !policy.HasWildcard(root) })
	return path.Join(roots[max(at, 0)], path.Base(name))
}

// quoted is a text for YAML.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

const planText = `# A plan for cordon plan run. cordon plan check names every mistake, and what each stage may do.
version: 1
plan: %[1]s
#target: main             # the branch that the results are for; without this key, the one that you are on
#land: together           # collect the results on a branch of the plan, and land them when all stages are done
parallel: 3               # the most stages at once
stages:
  - id: know
    kind: survey          # reads everything, and writes what it learned
    task: Describe how the parts of this repository work together that the next stages need.
    write: [%[2]s]
    artifacts: [{path: %[2]s, not: TODO}]

  - id: change
    after: [know]         # starts when the result of know is in the branch
    reads: [know]         # its summary and artifacts go into the briefing
    task: |               # or {file: tasks/change.md}, a file in the base commit
      Say here what is to be done.
    write: [%[3]s]           # it can change nothing else; at the top there are: %[4]s
    acceptance: %[5]s
#    agent: NAME          # a client; without this key: the one of cordon plan run --agent
#    retries: {failed: 1, rejected: 2}
#    budget: {time: 2h}

  - id: verify
    kind: verify          # changes nothing
    after: [change]
    task: Check that the change does what its task says, and nothing else.
    acceptance: %[5]s
    truths: [The change does what its task says.]   # no command can show this: the verifier or you confirm it
#   truths: [{claim: a wrong flag is refused, run: "./tool --wrong", exit: 2, stdout: usage}]
`
