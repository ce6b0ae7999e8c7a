package demo

import (
	"strings"

	"cordon/internal/plan"
)

// PlanName is the name of the demo's plan; PlanAnswer answers the question of its stage bye.
const (
	PlanName   = "greetings"
	PlanAnswer = "ciao"
)

// PlanToy is the repository that the plan is for.
var PlanToy = map[string]string{
	"README.md":    "# greet\n\nSays hello.\n",
	"src/greet.sh": "#!/bin/sh\necho \"hello, ${1:-world}\"\n",
	".gitignore":   ".env\n",
	"cordon.yaml":  "version: 1\nfilesystem:\n  write_roots: [src, notes]\ngate:\n  land: auto\n",
}

// planText has the path of the host for the stage that tries to leave its worktree.
const planText = `version: 1
plan: greetings
parallel: 3
stages:
  - id: know
    kind: survey
    task: Describe what the program prints.
    write: [notes/greet.md]
    command: [sh, -c, "mkdir -p notes && sh src/greet.sh >notes/greet.md && cordon done 'It prints one line.'"]
    artifacts: [{path: notes/greet.md, contains: hello}]
  - id: thanks
    after: [know]
    reads: [know]
    task: Add a program that says thanks.
    write: [src/thanks.sh]
    command: [sh, -c, "sleep 1; echo 'echo thanks' >src/thanks.sh"]
    acceptance: ['test "$(sh src/thanks.sh)" = thanks']
  - id: bye
    after: [know]
    task: Add a program that says goodbye. Ask for the word.
    write: [src/bye.sh]
    command:
      - sh
      - -c
      - word=$(cordon ask 'Which word is for a goodbye?' --option bye --option ciao --wait 0s) || exit 0; echo "echo $word" >src/bye.sh
    artifacts: [src/bye.sh]
  - id: polish
    after: [know]
    task: Polish the documents.
    write: [notes]
    command:
      - sh
      - -c
      - |
        cd HOST && echo '# quick fix' >>src/greet.sh && git commit -qam 'Quick fix'
        mkdir -p notes; echo polished >>notes/greet.md
        echo '# faster' >>src/greet.sh; echo 'echo thanks a lot' >src/thanks.sh
    artifacts: [notes/greet.md]
  - id: check
    kind: verify
    after: [thanks, bye]
    task: Try every program.
    command: [sh, -c, "sh src/thanks.sh; sh src/bye.sh"]
    acceptance: ["sh src/greet.sh && sh src/thanks.sh"]
    truths: [{claim: It says goodbye in the chosen word., run: sh src/bye.sh, stdout: ciao}]
  - id: print
    after: [polish]
    task: Make a book of the documents.
    write: [notes/book.md]
    command: [cp, notes/greet.md, notes/book.md]
    artifacts: [notes/book.md]
`

// Plan is the text of the demo's plan for a repository.
func Plan(repo string) string { return strings.ReplaceAll(planText, "HOST", "'"+repo+"'") }

// planned is where the stages must stand in the end.
var planned = map[string]plan.State{
	"know": plan.StageDone, "thanks": plan.StageDone, "bye": plan.StageDone, "check": plan.StageDone,
	"polish": plan.StageNeeds, "print": plan.StageBlocked,
}

// AsPlanned reports whether the stages of the plan stand where they must in the end.
func AsPlanned(all []plan.Standing) bool {
	for _, st := range all {
		if planned[st.Stage.ID] != st.State || st.Stage.ID == "polish" && st.Need != plan.NeedViolation {
			return false
		}
	}
	return len(all) == len(planned)
}

// LookAtPlan is what to type after the plan.
func LookAtPlan(dir, repo string, all []plan.Standing) []string {
	worker := map[string]string{}
	for _, st := range all {
		worker[st.Stage.ID] = st.Worker
	}
	return lookAround(dir, repo, [][2]string{
		{"cordon plan check " + dir + "/plan.yaml", "what each stage may do"},
		{"cordon quarantine show " + worker["polish"], "the evidence"},
		{"cordon logs " + worker["polish"], "how main was out of reach"},
		{"cordon briefing " + worker["thanks"], "what an agent is told about its stage"},
		{"cordon inbox", "what needs you"},
		{"cordon plan skip " + PlanName + " polish", "leave it out; cordon plan run " + PlanName + " goes on"},
	})
}
