package view

// Detached is cordon.detached/1.
type Detached struct {
	Head
	Worker      string `json:"worker" doc:"Name of the worker."`
	Process     int    `json:"process" doc:"Process ID of the cordon process in the background."`
	Interactive bool   `json:"interactive" doc:"Whether the worker has a terminal for cordon attach."`
}

// Stop is cordon.stop/1.
type Stop struct {
	Head
	Workers []Stopped `json:"workers" doc:"The workers, in the order in which they were named."`
}

// Stopped is a worker that was stopped.
type Stopped struct {
	Worker  string   `json:"worker" doc:"Name of the worker."`
	Outcome string   `json:"outcome" doc:"What happened: stopped, killed (the supervisor did not react), or not running."`
	Status  string   `json:"status" doc:"State of the worker now."`
	Next    []string `json:"next" doc:"Commands that continue from here."`
}

// Demo is cordon.demo/1.
type Demo struct {
	Head
	Directory string  `json:"directory" doc:"Directory of the demo."`
	Workers   []Actor `json:"workers" doc:"The scripted agents, in order."`
}

// Actor is an agent of the demo.
type Actor struct {
	Worker     string `json:"worker" doc:"Name of the worker."`
	Status     string `json:"status" doc:"State of the worker at the end."`
	Agent      string `json:"agent" doc:"What the agent does."`
	AsExpected bool   `json:"as_expected" doc:"Whether the state is the expected one."`
	Reason     string `json:"reason" doc:"Why the worker is in this state, as a sentence."`
}

// Printed is the output of a worker.
type Printed struct {
	Worker string `json:"worker" doc:"Name of the worker."`
	Status string `json:"status,omitempty" doc:"State of the worker at the end; only with --follow."`
	Text   string `json:"text" doc:"The output; bytes that are not UTF-8 are replaced."`
	Base64 []byte `json:"text_base64,omitempty" doc:"The output byte for byte; only if it is not UTF-8."`
}

// Transcript is cordon.transcript/1.
type Transcript struct {
	Head
	Printed
}

// Stream is cordon.stream/1.
type Stream struct {
	Head
	Printed
}

// Output is a Transcript or a Stream.
type Output interface {
	Object
	Fill(Printed)
}

// Fill sets what was printed.
func (p *Printed) Fill(q Printed) { *p = q }
