package view

import "time"

// Tally sums up the connections that a worker tried.
type Tally struct {
	Allowed  int     `json:"allowed" doc:"Number of connections that were allowed."`
	Refused  int     `json:"refused" doc:"Number of connections that were refused."`
	Failed   int     `json:"failed,omitempty" doc:"Number of allowed connections that failed."`
	Sent     int64   `json:"sent" doc:"Bytes that the worker sent."`
	Received int64   `json:"received" doc:"Bytes that the worker received."`
	Resolved int     `json:"resolved,omitempty" doc:"Number of names that were looked up and not connected to."`
	Tried    []Tried `json:"tried,omitempty" doc:"Destinations, those with a name first, then by frequency."`
	More     int     `json:"more,omitempty" doc:"Number of connections that are not part of tried."`
	Left     int     `json:"left,omitempty" doc:"Number of refused destinations that are not part of tried."`
	Crowded  bool    `json:"crowded,omitempty" doc:"Whether there were more refused destinations than cordon counts."`
	Damaged  int     `json:"damaged,omitempty" doc:"Number of lines of the record that could not be read."`
	Digest   string  `json:"digest,omitempty" doc:"SHA-256 of the record."`
}

// Tried is a destination.
type Tried struct {
	Kind     string `json:"kind,omitempty" doc:"What was tried: connect, resolve or packet."`
	Name     string `json:"name,omitempty" doc:"Name or address."`
	Port     int    `json:"port,omitempty" doc:"Port."`
	Verdict  string `json:"verdict" doc:"The decision: allow, refuse or fail."`
	Reason   string `json:"reason,omitempty" doc:"The first reason."`
	Various  bool   `json:"various,omitempty" doc:"Whether there were other reasons."`
	Allow    string `json:"allow,omitempty" doc:"Entry of the policy that would allow it."`
	Count    int    `json:"count" doc:"How often it was tried."`
	Sent     int64  `json:"sent,omitempty" doc:"Bytes that the worker sent."`
	Received int64  `json:"received,omitempty" doc:"Bytes that the worker received."`
}

// Network is cordon.network/1.
type Network struct {
	Head
	Worker    string    `json:"worker" doc:"Name of the worker."`
	Tally     Tally     `json:"tally" doc:"Totals."`
	Decisions []Attempt `json:"decisions" doc:"The decisions, oldest first."`
}

// Attempt is one decision about the network.
type Attempt struct {
	Time     time.Time `json:"time" doc:"Time of the decision."`
	Kind     string    `json:"kind" doc:"What was tried: connect, resolve or packet; end is the end of a connection."`
	ID       int64     `json:"id,omitempty" doc:"Number of the connection; its end has the same number."`
	Name     string    `json:"name,omitempty" doc:"Name as the worker resolved it."`
	Address  string    `json:"address,omitempty" doc:"The real address."`
	Port     int       `json:"port,omitempty" doc:"Port."`
	Verdict  string    `json:"verdict" doc:"The decision: allow, refuse or fail."`
	Reason   string    `json:"reason,omitempty" doc:"Why."`
	Various  bool      `json:"various,omitempty" doc:"Whether this line also stands for attempts with other reasons."`
	Allow    string    `json:"allow,omitempty" doc:"Entry of allowed_domains, or :port of host_ports, that would allow it."`
	Process  string    `json:"process,omitempty" doc:"Name of the process that tried."`
	Sent     int64     `json:"sent,omitempty" doc:"Bytes that the worker sent."`
	Received int64     `json:"received,omitempty" doc:"Bytes that the worker received."`
	Millis   int64     `json:"ms,omitempty" doc:"Duration of the connection in milliseconds."`
	Count    int       `json:"count,omitempty" doc:"Number of attempts that this line stands for, if more than one."`
}

// Suggestion is cordon.suggestion/1.
type Suggestion struct {
	Head
	Worker  string   `json:"worker" doc:"Name of the worker."`
	Domains []string `json:"allowed_domains" doc:"Entries for network.allowed_domains."`
	Ports   []int    `json:"host_ports" doc:"Entries for network.host_ports."`
}

// PolicySuggestion is cordon.policy-suggestion/1.
type PolicySuggestion struct {
	Head
	Path        string          `json:"path" doc:"The policy file that the diff is for."`
	Workers     []string        `json:"workers" doc:"The runs that were looked at."`
	Quarantined []string        `json:"quarantined" doc:"Those in quarantine that a line comes from: their workers chose what they tried."`
	Lines       []SuggestedLine `json:"lines" doc:"The changes, each with its reason."`
	Diff        string          `json:"diff" doc:"The changes as a patch of the file; empty if there are none."`
}

// SuggestedLine is one change of a policy.
type SuggestedLine struct {
	Key     string   `json:"key" doc:"The list, such as network.allowed_domains."`
	Value   string   `json:"value" doc:"The entry."`
	Remove  bool     `json:"remove,omitempty" doc:"Whether the entry is to be removed instead of added."`
	Reason  string   `json:"reason" doc:"Why, in one line."`
	Workers []string `json:"workers" doc:"The runs that it comes from."`
}
