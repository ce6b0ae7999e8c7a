package view

import "time"

// Question is a question of a worker.
type Question struct {
	ID      string    `json:"question" doc:"Name of the question, such as q1."`
	Text    string    `json:"text" doc:"The question."`
	Options []string  `json:"options" doc:"Answers to choose from; may be empty."`
	By      string    `json:"by" doc:"The client's tool that asked; empty if cordon ask did."`
	Asked   time.Time `json:"asked" doc:"Time of the question."`
}

// Inbox is cordon.inbox/1.
type Inbox struct {
	Head
	Questions []Inquiry   `json:"questions" doc:"The open questions, oldest first."`
	Stages    []Attention `json:"stages" doc:"Stages of open plans that need a person: those first that most others wait for, then the oldest."`
}

// Attention is a stage of a plan that needs a person.
type Attention struct {
	Plan   string    `json:"plan" doc:"Name of the plan."`
	Stage  string    `json:"stage" doc:"Name of the stage."`
	Need   string    `json:"need" doc:"Why it needs a person: question, review, conflict, failed, checkout, unproven, stopped, violation, over budget or silent."`
	Why    string    `json:"why" doc:"The reason, in a sentence."`
	Blocks int       `json:"blocks" doc:"How many stages wait for it, directly or not."`
	Worker string    `json:"worker" doc:"Name of its last worker; empty if it had none."`
	Since  time.Time `json:"since" doc:"Time of the last event."`
	Next   string    `json:"next" doc:"The command that resolves it."`
}

// Inquiry is a question and the worker that asked it.
type Inquiry struct {
	Worker string `json:"worker" doc:"Name of the worker."`
	Status string `json:"status" doc:"State of the worker."`
	Waits  string `json:"worker_is" doc:"Whether the worker waits for the answer: waiting, running or ended."`
	Question
}

// Answer is cordon.answer/1.
type Answer struct {
	Head
	Worker   string `json:"worker" doc:"Name of the worker."`
	Question string `json:"question" doc:"Name of the question."`
	Answer   string `json:"answer" doc:"The answer."`
	Waits    string `json:"worker_is" doc:"Whether the worker waited for the answer: waiting, running or ended."`
}

// Ask is cordon.ask/1.
type Ask struct {
	Head
	Question string `json:"question" doc:"Name of the question."`
	Answered bool   `json:"answered" doc:"Whether there is an answer."`
	Answer   string `json:"answer" doc:"The answer; empty if there is none."`
}

// Done is cordon.done/1.
type Done struct {
	Head
	Done bool `json:"done" doc:"Always true."`
}

// Status is cordon.status/1.
type Status struct {
	Head
	Worker     string     `json:"worker" doc:"Name of the worker."`
	Branch     string     `json:"branch" doc:"Branch of the worker."`
	Base       string     `json:"base" doc:"Commit from which the worker started."`
	WriteRoots []string   `json:"write_roots" null:"yes" doc:"Paths that the worker may write."`
	Domains    []string   `json:"allowed_domains" null:"yes" doc:"Hosts that the worker may reach."`
	Expires    time.Time  `json:"expires" doc:"Time at which the lease ends."`
	Ends       time.Time  `json:"ends" doc:"Time at which limits.time ends the command; the year 1 if it is not known."`
	Questions  []Answered `json:"questions" null:"yes" doc:"The worker's questions."`
	Done       bool       `json:"done" doc:"Whether the worker has said that it is done."`
}

// Answered is a question with its answer.
type Answered struct {
	ID       string   `json:"id" doc:"Name of the question."`
	Text     string   `json:"text" doc:"The question."`
	Options  []string `json:"options,omitempty" doc:"Answers to choose from."`
	Answered bool     `json:"answered" doc:"Whether there is an answer."`
	Answer   string   `json:"answer,omitempty" doc:"The answer."`
}

// Briefing is cordon.briefing/1.
type Briefing struct {
	Head
	Worker string `json:"worker" doc:"Name of the worker."`
	Text   string `json:"text" doc:"The briefing."`
}
