// Package view holds the objects that cordon shows: one struct for each schema of
// --json, and for everything inside them. They are a public contract. Terminal
// output is made from the same values.
//
// Every field has a json tag and a doc tag, one sentence about its meaning. The files
// in docs/schema and the page docs/json.md are generated from these tags
// (go test ./internal/view -update).
//
// The package is pure. It imports nothing of cordon's, so that a change of an internal
// struct cannot change what is printed: package present converts one into the other. It
// refuses to decide anything, and within a version of a schema it only gains fields.
package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Head is the first field of every object.
type Head struct {
	Schema string `json:"schema" doc:"Name and version of the schema of this object."`
}

func (h *Head) head() *Head { return h }

// Object is what one --json call prints: a pointer to one of the structs of Schemas.
type Object interface{ head() *Head }

// Schema is a published schema.
type Schema struct {
	Name   string // with its version
	Object Object
	By     string // the commands that print it
	About  string // one sentence
}

// Schemas lists every schema, in the order of the documentation.
func Schemas() []Schema {
	return []Schema{
		{"cordon.worker/1", &OneWorker{}, "run, resume, merge, show, quarantine release", "One worker."},
		{"cordon.workers/1", &Workers{}, "ls, wait, status (outside a worker), quarantine ls", "A list of workers."},
		{"cordon.review/1", &Review{}, "show --review", "One result for review, verdict first."},
		{"cordon.comments/1", &Comments{}, "comments add, comments ls, comments rm", "The comments on the result of a worker."},
		{"cordon.decided/1", &Decided{}, "serve (routes that decide)", "A decision that was taken."},
		{"cordon.happened/1", &Happened{}, "mcp (cordon_wait)", "The workers that something happened to."},
		{"cordon.short/1", &Short{}, "ls --short", "How many workers need a person, and how many run."},
		{"cordon.detached/1", &Detached{}, "run --detach", "A worker that was started in the background."},
		{"cordon.stop/1", &Stop{}, "stop", "The workers that were stopped."},
		{"cordon.demo/1", &Demo{}, "demo", "The scripted agents of the demo and their results."},
		{"cordon.audit/1", &Audit{}, "audit", "Everything that an audit found."},
		{"cordon.diff/1", &Diff{}, "diff, quarantine diff", "The changes of a worker as a patch."},
		{"cordon.open/1", &Open{}, "open", "The addresses of the ports that a worker publishes."},
		{"cordon.checkout/1", &Checkout{}, "checkout", "The place to which a worker's files were written."},
		{"cordon.quarantine/1", &Quarantine{}, "quarantine show", "The manifest of a quarantined result, as it is stored with the evidence."},
		{"cordon.discard/1", &Discard{}, "discard, quarantine discard", "A worker whose result was discarded."},
		{"cordon.gc/1", &GC{}, "gc", "The files and refs that gc removes or keeps."},
		{"cordon.transcript/1", &Transcript{}, "logs", "The output of a worker, its setup and its acceptance commands."},
		{"cordon.stream/1", &Stream{}, "logs --stream", "The output of a worker's agent client as the client printed it."},
		{"cordon.decisions/1", &Decisions{}, "logs --guard", "The decisions of a worker's guard."},
		{"cordon.network/1", &Network{}, "logs --net", "The connections that a worker tried."},
		{"cordon.suggestion/1", &Suggestion{}, "logs --suggest", "Entries for the policy that would allow the refused connections."},
		{"cordon.policy-suggestion/1", &PolicySuggestion{}, "policy suggest", "Changes of the policy that past runs suggest."},
		{"cordon.inbox/1", &Inbox{}, "inbox", "The open questions of all workers, oldest first."},
		{"cordon.answer/1", &Answer{}, "answer", "The answer that was recorded."},
		{"cordon.ask/1", &Ask{}, "ask (inside a worker)", "A question to the operator, and its answer if there is one."},
		{"cordon.done/1", &Done{}, "done (inside a worker)", "The worker's claim that it is done was recorded."},
		{"cordon.status/1", &Status{}, "status (inside a worker)", "The worker's own lease and questions."},
		{"cordon.briefing/1", &Briefing{}, "briefing", "The text that tells an agent its rules."},
		{"cordon.lease.show/1", &LeaseShow{}, "lease show", "A sealed lease. The command always prints JSON."},
		{"cordon.lease.settings/1", &LeaseSettings{}, "lease settings", "The settings of an agent client that express a lease."},
		{"cordon.warrant/1", &Warrant{}, "lease warrant", "The file that `cordon hook` reads. The command always prints JSON."},
		{"cordon.policy/1", &Policy{}, "policy show", "The policy that applies, and the built-in rules."},
		{"cordon.policy-check/1", &PolicyCheck{}, "policy check", "The result for each policy file."},
		{"cordon.queue/1", &Queue{}, "queue", "The results that wait for their landing, by branch."},
		{"cordon.fleet/1", &Fleet{}, "fleet ls, fleet show", "The nodes of a fleet."},
		{"cordon.plan-check/1", &PlanCheck{}, "plan check", "A plan with what its stages may do."},
		{"cordon.plan-new/1", &PlanNew{}, "plan new", "A plan to begin with."},
		{"cordon.plan-event/1", &PlanEvent{}, "plan run --events", "Something happened to a plan: one object on a line."},
		{"cordon.plan/1", &Plan{}, "plan run, plan show, plan stop, plan retry, plan skip, plan accept, plan truth, demo --plan",
			"A plan and where its stages stand."},
		{"cordon.plans/1", &Plans{}, "plan ls", "The plans that were run."},
		{"cordon.config/1", &Config{}, "config show", "The operator's configuration, and where each value came from."},
		{"cordon.share/1", &Share{}, "config share", "What of the operator's own a repository's workers may get."},
		{"cordon.config-check/1", &ConfigCheck{}, "config check", "The result for each configuration file."},
		{"cordon.presets/1", &Presets{}, "policy presets", "The presets of network.allowed_domains."},
		{"cordon.check/1", &Check{}, "check", "The guard's decision about a tool call."},
		{"cordon.init/1", &Init{}, "init", "The policy that init wrote."},
		{"cordon.journal/1", &Journal{}, "journal", "The events of the journal, oldest first."},
		{"cordon.event/1", &OneEvent{}, "serve (HTTP)", "One event of the journal."},
		{"cordon.lines/1", &Lines{}, "serve (HTTP)", "A page of a diff or a transcript."},
		{"cordon.serve/1", &Serve{}, "serve", "Where the server answers."},
		{"cordon.token/1", &NewToken{}, "token new", "A new token of the HTTP interface."},
		{"cordon.tokens/1", &Tokens{}, "token ls, token rm", "The tokens of the HTTP interface."},
		{"cordon.verify/1", &Verify{}, "journal verify", "The result of checking the hash chain."},
		{"cordon.repair/1", &Repair{}, "journal repair", "What a repair of the journal does."},
		{"cordon.doctor/1", &Doctor{}, "doctor", "The checks of this machine and this repository."},
		{"cordon.probe/1", &Probe{}, "doctor --probe", "The attempts to escape from a cell."},
		{"cordon.calls/1", &Calls{}, "doctor --calls", "The system calls that a cell refuses."},
		{"cordon.version/1", &Version{}, "version", "The version of this program."},
		{"cordon.error/1", &Error{}, "every command, if it fails", "The error that ended the command."},
	}
}

// Encode is an object as it is printed, with the name of its schema.
func Encode(o Object) ([]byte, error) {
	name, err := nameOf(o)
	if err != nil {
		return nil, err
	}
	o.head().Schema = name
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err = enc.Encode(o)
	return text.Bytes(), err
}

func nameOf(o Object) (string, error) {
	for _, s := range Schemas() {
		if reflect.TypeOf(s.Object) == reflect.TypeOf(o) {
			return s.Name, nil
		}
	}
	return "", fmt.Errorf("%T has no schema; this is a bug", o)
}
