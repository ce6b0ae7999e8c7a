package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/agent/facts"
	"cordon/internal/journal"
	"cordon/internal/plan"
	"cordon/internal/policy"
)

// Agent is an agent client as the operator asked for it. Part of Lease.
type Agent struct {
	Client string          `json:"client"`
	Args   []string        `json:"args,omitempty"`
	Prompt string          `json:"prompt,omitempty"`
	Hooks  json.RawMessage `json:"hooks,omitempty"` // the operator's own, in the form that package client reads
	// Servers are the operator's MCP servers, in the form that package agent reads. They may hold keys: the
	// journals of earlier versions have them, and Kept says that a file of the worker's has them now.
	Servers json.RawMessage `json:"mcp,omitempty"`
	Kept    bool            `json:"+mcp_kept,omitempty"`
}

// Model is the model that the arguments name; "": none. Every client takes it so.
func (a *Agent) Model() string { return a.argument("--model", "-m") }

// Provider is who serves the agent's models, by its arguments: what its client's settings on the machine say is not read.
func (a *Agent) Provider() string {
	c := facts.Named(a.Client)
	if c == nil {
		return a.Client
	}
	if c.AnyProvider {
		if name := a.argument("--provider"); name != "" {
			return name
		}
		if name, _, found := strings.Cut(a.Model(), "/"); found && name != "" {
			return name
		}
	}
	return c.Models.Preset
}

// argument is the value of an option that has these names; "": there is none.
func (a *Agent) argument(names ...string) (value string) {
	for i, arg := range a.Args {
		for _, name := range names {
			if text, found := strings.CutPrefix(arg, name+"="); found && strings.HasPrefix(name, "--") {
				value = text
			} else if arg == name && i+1 < len(a.Args) {
				value = a.Args[i+1]
			}
		}
	}
	return value
}

// Recorded is the agent as the journal has it: without the values of its servers.
func (a *Agent) Recorded() *Agent {
	if a == nil || len(a.Servers) == 0 {
		return a
	}
	r := *a
	r.Servers, r.Kept = nil, true
	return &r
}

// Words are what a person sees as its command.
func (a Agent) Words() []string {
	words := append([]string{a.Client}, a.Args...)
	if a.Prompt != "" {
		words = append(words, "--", a.Prompt)
	}
	return words
}

// Wiring is the data of Wired: what the hooks of a launch are made of. The sums are
// compared again at the gate.
type Wiring struct {
	Client  string            `json:"client"`
	Version string            `json:"version"`
	Program string            `json:"program"`
	Guard   string            `json:"guard"` // SHA-256 of the binary that is its guard
	Files   map[string]string `json:"files"` // SHA-256 of what registers it, by name
	Managed []string          `json:"managed,omitempty"`
	Stream  int64             `json:"stream,omitempty"` // where its stream begins in the file of all launches
	Parts   []Part            `json:"+parts,omitempty"`
}

// Part is something of the operator's or the project's setup that a launch gave to its
// client, by its name: the text, and the values of servers, are nowhere.
type Part struct {
	Part    string   `json:"part"` // instructions, skills, agents, commands, mcp
	Name    string   `json:"name"`
	From    string   `json:"from"` // user, project
	Removed []string `json:"removed,omitempty"`
	Left    string   `json:"left,omitempty"` // why it was left out; "": it was given
}

// Proof is the data of Proven.
type Proof struct {
	Canary string        `json:"canary"` // what the guard said to a call that must be denied, in the cell
	Event  string        `json:"event"`  // the first that came from the client itself
	After  time.Duration `json:"after"`  // the start of the client
}

// Question is the data of Asked. Its number is its place among the worker's.
type Question struct {
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
	By      string   `json:"by,omitempty"` // the tool of the client's own that asked; "": cordon ask
}

// Answer is the data of Answered.
type Answer struct {
	Question int    `json:"question"` // from 1
	Text     string `json:"text"`
	Who      string `json:"who"`
}

// Claim is the data of Claimed. Nobody believes it.
type Claim struct {
	Text string `json:"text,omitempty"`
}

// Stream is the data of Summed: the client's own word, and how it agrees with what
// its hooks said.
type Stream struct {
	Calls   int            `json:"calls"`
	Tools   map[string]int `json:"tools,omitempty"`
	Input   int            `json:"input_tokens,omitempty"`
	Output  int            `json:"output_tokens,omitempty"`
	Cached  int            `json:"cached_tokens,omitempty"`
	Cost    float64        `json:"cost_usd,omitempty"`
	Turns   int            `json:"turns,omitempty"`
	Model   string         `json:"model,omitempty"`
	Session string         `json:"session,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Unknown int            `json:"unknown_lines,omitempty"`
	// Gap names the calls that ran and of which no hook has said anything. Why says
	// what could not be compared, where that is so.
	Gap []string `json:"gap,omitempty"`
	// Interactive is one that printed for a screen: it has no stream.
	Interactive bool   `json:"interactive,omitempty"`
	Why         string `json:"why,omitempty"`
	// Limited: it failed because its provider is asked too often.
	Limited bool `json:"+limited,omitempty"`
}

// RateLimit is the data of RateLimited.
type RateLimit struct {
	Text string `json:"text"` // the client's own word
	seq  uint64 // of its event
}

// RateLimitsSince are those that the worker has met since an event.
func (w *Worker) RateLimitsSince(seq uint64) (list []string) {
	for _, l := range w.RateLimits {
		if l.seq > seq {
			list = append(list, l.Text)
		}
	}
	return list
}

// used is what the client says that it used. A number below zero is none.
func (s *Stream) used() plan.Used {
	return plan.Used{Tokens: int64(max(0, s.Input)) + int64(max(0, s.Output)), Cost: max(0, s.Cost)}
}

// Inquiry is a question with its answer, if there is one.
type Inquiry struct {
	Number int
	Question
	At     time.Time
	Seq    uint64 // of its event
	Answer *Answer
	Heard  bool // the worker has got the answer
}

// Hearing is the data of Heard.
type Hearing struct {
	Question int `json:"question"`
}

// ID is the name of a question, of one worker or of all.
func (q Inquiry) ID() string { return fmt.Sprintf("q%d", q.Number) }

// Open lists the questions that have no answer.
func (w *Worker) Open() []Inquiry {
	var list []Inquiry
	for _, q := range w.Questions {
		if q.Answer == nil {
			list = append(list, q)
		}
	}
	return list
}

// Asks reports whether the last launch ended with a question whose answer it has not
// got.
func (w *Worker) Asks() bool {
	for _, q := range w.Questions {
		if q.Seq > w.StartSeq && !q.Heard {
			return true
		}
	}
	return false
}

func inquired(w *Worker, e journal.Event) (err error) {
	w.Questions, err = Inquire(w.Questions, e)
	return err
}

// Inquire does to the questions of a worker what one of its events does. Events that
// are about something else do nothing.
func Inquire(list []Inquiry, e journal.Event) ([]Inquiry, error) {
	switch e.Type {
	case Asked:
		q := Inquiry{Number: len(list) + 1, At: e.Time, Seq: e.Seq}
		err := read(e, &q.Question)
		return append(list, q), err
	case Answered:
		var a Answer
		if err := read(e, &a); err != nil {
			return nil, err
		}
		if a.Question < 1 || a.Question > len(list) || list[a.Question-1].Answer != nil {
			return nil, fmt.Errorf("question %d is not open", a.Question)
		}
		list[a.Question-1].Answer = &a
	case Heard:
		var h Hearing
		if err := read(e, &h); err != nil {
			return nil, err
		}
		return list, heard(list, h.Question)
	}
	return list, nil
}

func heard(list []Inquiry, number int) error {
	if number < 1 || number > len(list) || list[number-1].Answer == nil {
		return fmt.Errorf("question %d has no answer", number)
	}
	list[number-1].Heard = true
	return nil
}

// NewAnswers tells what the operator has said to the questions of a worker since it ran.
func (w *Worker) NewAnswers() string {
	var b strings.Builder
	for _, q := range w.Questions {
		if q.Answer != nil && !q.Heard {
			fmt.Fprintf(&b, "You asked (%s): %s\nThe operator answers: %s\n\n", q.ID(), q.Text, q.Answer.Text)
		}
	}
	return b.String()
}

func (w *Worker) hears(number int) error { return heard(w.Questions, number) }

// Unheard lists the questions with an answer that the worker has not got.
func (w *Worker) Unheard() (list []int) {
	for _, q := range w.Questions {
		if q.Answer != nil && !q.Heard {
			list = append(list, q.Number)
		}
	}
	return list
}

// launchDoubts are the reasons not to believe that the last launch was one of an agent
// under its guard. A launch that changed nothing leaves none about its hooks.
func (w *Worker) launchDoubts() (list []string) {
	if w.Start == nil || !w.Start.Agent || w.Wiring == nil {
		return nil
	}
	unchanged := w.Audit != nil && (w.Audit.Idle || !w.Audit.Whole && w.Audit.Summary.Landing+w.Audit.Summary.Violations == 0)
	if w.Proof == nil && !unchanged && w.Lease.Lease().Policy.Agent.Proof != policy.ProofReported {
		list = append(list, "the hooks of "+w.Wiring.Client+" never reported")
	}
	ended := w.Exit != nil && w.Exit.OK() && w.Lease.Lease().Policy.Agent.Proof != policy.ProofReported
	switch {
	case w.Stream == nil:
		list = append(list, "the end of "+w.Wiring.Client+" was not recorded, so its tool calls could not be compared with the decisions of its guard")
	case ended && !w.Stream.Interactive && (w.Stream.Session == "" || w.Stream.Reason == ""):
		list = append(list, "the output of "+w.Wiring.Client+" is incomplete, so its tool calls could not be compared with the decisions of its guard")
	case len(w.Stream.Gap) > 0:
		list = append(list, fmt.Sprintf("tool calls of %s ran that its guard never saw: %s", w.Wiring.Client, strings.Join(w.Stream.Gap, ", ")))
	}
	return list
}

// AllDoubts are those of every launch.
func (w *Worker) AllDoubts() []string { return append(slices.Clone(w.Doubts), w.launchDoubts()...) }
