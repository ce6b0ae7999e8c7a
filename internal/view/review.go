package view

import "time"

// Review is cordon.review/1.
type Review struct {
	Head
	Worker     string       `json:"worker" doc:"Name of the worker."`
	Status     string       `json:"status" doc:"State of the worker, one of the words in the table of states."`
	Group      string       `json:"group" doc:"What the worker needs: needs you, running, landed or over."`
	Title      string       `json:"title" doc:"First line of the prompt of an agent client, or of the command."`
	Says       string       `json:"says,omitempty" doc:"First line of what the worker itself says of its result, with cordon done."`
	Since      time.Time    `json:"since" doc:"Time since which the worker is in this state."`
	Verdict    string       `json:"verdict" doc:"What happened and where the result is now, in one or two sentences."`
	Facts      []Fact       `json:"facts" doc:"Six facts, always in this order: audit, acceptance, cell, guard, network, base."`
	Reasons    []Breach     `json:"reasons" doc:"Everything that keeps the result from landing, with the rule and the evidence."`
	Why        *Fact        `json:"why,omitempty" doc:"Why nothing keeps the result from landing; absent if reasons has entries."`
	Changes    []Change     `json:"changes" doc:"Every change of the recorded audit with its rule: violations first, then what may land."`
	More       *Counts      `json:"more,omitempty" doc:"Changes that the audit counted and did not list."`
	Acceptance []Acceptance `json:"acceptance" doc:"The acceptance commands that ran, with the end of their output."`
	Guard      *Guard       `json:"guard,omitempty" doc:"Number of tool calls that the guard judged."`
	Denied     []Decision   `json:"denied" doc:"The last 200 tool calls that the guard did not simply allow, oldest first."`
	Network    *Tally       `json:"network,omitempty" doc:"Summary of the connections that the worker tried."`
	Refused    []Attempt    `json:"refused" doc:"The last 200 connections that were refused or failed, oldest first."`
	Questions  []Question   `json:"questions" doc:"Questions that nobody has answered."`
	Unread     []string     `json:"unread,omitempty" doc:"Records that could not be read, and why: what they hold is missing here."`
	Digests    Digests      `json:"digests" doc:"What a decision is about: if one of these has changed, look again."`
	Choices    []Choice     `json:"choices" doc:"What can be decided now, each with its command. None is preferred."`
}

// How a fact is to be taken.
const (
	FactGood = "good"
	FactBad  = "bad"
	FactNote = "note"
	FactNone = "none"
)

// Fact is one of the six facts of a review.
type Fact struct {
	Name  string `json:"name" doc:"What the fact is about: audit, acceptance, cell, guard, network, base or why."`
	State string `json:"state" doc:"How to take it: good, bad, note (worth a look) or none (nothing is known or nothing was done)."`
	Text  string `json:"text" doc:"The fact in a few words."`
}

// Breach is something that keeps a result from landing.
type Breach struct {
	Cause    string `json:"cause" doc:"Kind of reason: lease, outside, host, unproven, acceptance or unjudged."`
	What     string `json:"what" doc:"What is wrong, in a line, with hidden characters written out."`
	Path     Text   `json:"path,omitempty" doc:"The path, if it is about one."`
	Kind     string `json:"kind,omitempty" doc:"What happened at the path."`
	Rule     string `json:"rule,omitempty" doc:"The rule that was broken."`
	Evidence string `json:"evidence,omitempty" doc:"What was found: the objects before and after, or the commit."`
	Origin
}

// Origin is where a rule comes from.
type Origin struct {
	Setting string `json:"setting,omitempty" doc:"The entry of the policy that the rule comes from, as it holds; absent if the rule is built in."`
	Policy  string `json:"policy,omitempty" doc:"Where that entry stands: a file with its line and commit, or the option that gave it."`
	Line    int    `json:"line,omitempty" doc:"Line of the entry in cordon.yaml at the base commit, if it stands there."`
}

// Change is a change in a review.
type Change struct {
	Finding
	Shown  string `json:"shown" doc:"The path with hidden characters written out."`
	Lands  bool   `json:"lands" doc:"Whether the lease lets it land."`
	Inside bool   `json:"inside" doc:"Whether it breaks no rule."`
	Origin
}

// Digests name what a review shows.
type Digests struct {
	Audit   string `json:"audit,omitempty" doc:"Digest of the changes that may land."`
	Report  string `json:"report,omitempty" doc:"SHA-256 of the stored audit."`
	Lease   string `json:"lease" doc:"Hash of the sealed lease."`
	Attempt int    `json:"attempt,omitempty" doc:"Number of the attempt, 0 being the first."`
	Result  string `json:"result,omitempty" doc:"Commit that holds the result, if it is stored as one."`
	Target  string `json:"target" doc:"Full name of the branch on which the result is to land."`
	Tip     string `json:"tip,omitempty" doc:"Commit of that branch now; absent if there is no such branch."`
	Seen    string `json:"seen" doc:"All of these, the state and the open questions in one word, for --seen of the commands that decide."`
}

// The names of choices.
const (
	ChooseAnswer  = "answer"
	ChooseMerge   = "merge"
	ChooseInside  = "land what is inside"
	ChooseWait    = "land when clean"
	ChooseRelease = "release"
	ChooseBack    = "send back"
	ChooseResume  = "resume"
	ChooseRetry   = "retry"
	ChooseStop    = "stop"
	ChooseDiscard = "discard"
)

// Choice is something that a person can decide about a worker.
type Choice struct {
	Name    string   `json:"name" doc:"What is decided: answer, merge, land what is inside, land when clean, release, send back, resume, retry, stop or discard."`
	Does    string   `json:"does" doc:"What happens then, in words."`
	Command string   `json:"command" doc:"The command that decides it; words to fill in are in capitals or …."`
	Needs   []string `json:"needs,omitempty" doc:"Words that a person has to add: answer, comments, reason or roots."`
	Roots   []Text   `json:"roots,omitempty" doc:"Of a release: the paths outside the lease that would have to be added to the write_roots."`
	Accepts []string `json:"accepts,omitempty" doc:"Of a release: the options that name what else is wrong, such as --accept-host."`
}
