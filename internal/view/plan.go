package view

import (
	"fmt"
	"time"
)

// PlanCheck is cordon.plan-check/1.
type PlanCheck struct {
	Head
	Plan     string      `json:"plan" doc:"Name of the plan."`
	Target   string      `json:"target" doc:"Branch that the results are for."`
	Base     string      `json:"base" doc:"Commit whose policy the plan was checked against."`
	Land     string      `json:"land" doc:"When results land: each or together."`
	Parallel int         `json:"parallel" doc:"The most stages that run at once."`
	Critical []string    `json:"critical_path" doc:"The chain of stages that takes longest."`
	Pairs    []PlanPair  `json:"serialised" null:"yes" doc:"Stages that never run at once, because they may change the same paths."`
	Stages   []PlanStage `json:"stages" doc:"The stages, in an order in which they could run."`
	Notes    []string    `json:"notes" null:"yes" doc:"Things in the document that have no effect or look like a mistake, in sentences."`
}

// PlanNew is cordon.plan-new/1.
type PlanNew struct {
	Head
	Path    string `json:"path" doc:"The file."`
	Written bool   `json:"written" doc:"Whether it was written."`
	Plan    string `json:"plan" doc:"The text of the plan."`
}

// PlanEvent is cordon.plan-event/1.
type PlanEvent struct {
	Head
	Plan  string    `json:"plan" doc:"Name of the plan."`
	Stage string    `json:"stage" doc:"Name of the stage; empty if it is about the plan."`
	Event string    `json:"event" doc:"start, again, verify, resolve, review, feedback, land, done, needs or another word for what happened."`
	Text  string    `json:"text" doc:"What happened, for a person."`
	Time  time.Time `json:"time" doc:"When."`
}

// PlanPair is two stages that may change the same paths.
type PlanPair struct {
	A      string   `json:"a" doc:"One stage."`
	B      string   `json:"b" doc:"The other stage."`
	Shared []string `json:"shared" doc:"The paths."`
}

// PlanStage is a stage with what its worker may do.
type PlanStage struct {
	ID         string   `json:"id" doc:"Name of the stage."`
	Kind       string   `json:"kind" doc:"worktree, survey or verify."`
	After      []string `json:"after" null:"yes" doc:"Stages that it waits for."`
	Writes     []string `json:"write_roots" doc:"Paths that it may change."`
	Domains    []string `json:"allowed_domains" doc:"Servers that it may reach, beside those of its client."`
	Acceptance []string `json:"acceptance" doc:"Commands that must succeed on the merged tree."`
	Review     string   `json:"review" doc:"Who reviews its result, in words; empty if nobody does."`
	Lands      string   `json:"lands" doc:"How its result lands, in words: lands by itself, waits for you, or another sentence."`
}

// WaitsForYou is of a stage whose result lands only when a person says so.
const WaitsForYou = "waits for you"

// Plans is cordon.plans/1.
type Plans struct {
	Head
	Plans []PlanSummary `json:"plans" doc:"The plans that were run, the newest first."`
}

// PlanSummary is a plan in a list.
type PlanSummary struct {
	Plan   string    `json:"plan" doc:"Name of the plan."`
	Run    int       `json:"run" doc:"How often it was opened."`
	State  string    `json:"state" doc:"running, open, done or stopped."`
	Done   int       `json:"done" doc:"Stages that are done or skipped."`
	Total  int       `json:"total" doc:"Stages."`
	Needs  int       `json:"needs" doc:"Stages that need a person."`
	Opened time.Time `json:"opened" doc:"Time at which it was opened."`
}

// Plan is cordon.plan/1.
type Plan struct {
	Head
	PlanSummary
	Target   string     `json:"target" doc:"Branch that the results are for."`
	Source   string     `json:"source" doc:"Where the plan came from."`
	Digest   string     `json:"digest" doc:"SHA-256 of the plan's text."`
	Critical []string   `json:"critical_path" doc:"The chain of stages that takes longest."`
	Stages   []StageNow `json:"stages" doc:"The stages, in an order in which they could run."`
}

// StageNow is a stage and where it stands.
type StageNow struct {
	ID     string    `json:"id" doc:"Name of the stage."`
	Kind   string    `json:"kind" doc:"worktree, survey or verify."`
	After  []string  `json:"after" doc:"Stages that it waits for, directly."`
	State  string    `json:"state" doc:"waiting, ready, running, done, skipped, blocked or needs (a person)."`
	Why    string    `json:"why" doc:"The reason; empty if there is none to give."`
	Need   string    `json:"need" doc:"Why it needs a person; empty if it does not."`
	Blocks int       `json:"blocks" doc:"How many stages wait for it, directly or not."`
	Worker string    `json:"worker" doc:"Name of its last worker; empty if it had none."`
	Began  time.Time `json:"began" doc:"When its first worker was made; the year 1 if it had none."`
	Since  time.Time `json:"since" doc:"Time of the last event; the year 1 if there is none."`
	Next   string    `json:"next" doc:"The command that helps; empty if nothing has to be done."`
	Truths []Truth   `json:"truths" doc:"Claims about its result that no command can show."`
	Tokens int64     `json:"tokens" doc:"Tokens that its clients say they used; 0 if they say nothing."`
	Cost   float64   `json:"cost" doc:"US dollars that its clients say they used; 0 if they say nothing."`
	// Reviews are of its last result.
	Reviews []Opinion `json:"reviews" doc:"What reviewers said about its last result, in their order."`
}

// Path is the critical path for a person: each stage with the time that it took, or has taken so far.
func (p Plan) Path(now time.Time) (list []string) {
	for _, id := range p.Critical {
		for _, s := range p.Stages {
			if s.ID == id {
				id += s.took(now)
				break
			}
		}
		list = append(list, id)
	}
	return list
}

// took is the time that a stage took, in brackets; "": it has not begun, or nobody knows when it ended.
func (s StageNow) took(now time.Time) string {
	if s.Began.IsZero() {
		return ""
	}
	end, more := now, " so far"
	if s.State == "done" || s.State == "skipped" {
		end, more = s.Since, ""
	}
	d := end.Sub(s.Began)
	switch {
	case d < 0:
		return ""
	case d < time.Minute:
		return fmt.Sprintf(" (%ds%s)", int(d.Seconds()), more)
	case d < time.Hour:
		return fmt.Sprintf(" (%dm%s)", int(d.Minutes()), more)
	}
	return fmt.Sprintf(" (%dh %dm%s)", int(d.Hours()), int(d.Minutes())%60, more)
}

// Opinion is what a reviewer says about a result.
type Opinion struct {
	Verdict string    `json:"verdict" doc:"approve, feedback or escalate."`
	By      string    `json:"by" doc:"Whose word that is: person, or agent (evidence only)."`
	Who     string    `json:"who" doc:"The person, or the name of the reviewer."`
	Text    string    `json:"text" doc:"What they say."`
	Time    time.Time `json:"time" doc:"When."`
}

// Truth is a claim that somebody must confirm.
type Truth struct {
	Number int    `json:"number" doc:"Its number in the stage, from 1."`
	Claim  string `json:"claim" doc:"What is claimed."`
	Answer string `json:"answer" doc:"yes, no, or empty: nobody has answered."`
	By     string `json:"by" doc:"Whose word that is: person, or agent (evidence only); empty if nobody has answered."`
	Who    string `json:"who" doc:"The person, or the name of the verifier."`
	Why    string `json:"why" doc:"The reason that they gave."`
}
