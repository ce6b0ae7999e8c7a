package view

import "time"

// Fleet is cordon.fleet/1.
type Fleet struct {
	Head
	Running bool        `json:"running" doc:"Whether the home runs now."`
	URL     string      `json:"url" doc:"Where nodes reach the home; empty if no home ran yet."`
	Nodes   []FleetNode `json:"nodes" doc:"The nodes, by name."`
	// Waiting is empty if no home runs: nobody knows then.
	Waiting []FleetWaiting `json:"waiting" doc:"Stages that no node has, as the running home sees them."`
}

// FleetWaiting is a stage that waits for a node.
type FleetWaiting struct {
	Worker string `json:"worker" doc:"Worker whose stage it is."`
	Why    string `json:"why" doc:"Why it waits, as a sentence."`
}

// FleetNode is one node of a fleet.
type FleetNode struct {
	Name     string     `json:"name" doc:"Name of the node."`
	Key      string     `json:"key" doc:"Public key of the node."`
	State    string     `json:"state" doc:"ready, draining (it finishes what it has) or removed."`
	Joined   time.Time  `json:"joined" doc:"Time at which it joined."`
	Heard    *time.Time `json:"heard,omitempty" doc:"Time at which the home heard it last; absent if it never did."`
	Program  string     `json:"program,omitempty" doc:"Version of cordon-fleet that the node says it has."`
	Slots    int        `json:"slots,omitempty" doc:"Stages that it runs at the same time; it says so."`
	Clients  []string   `json:"clients,omitempty" doc:"Agent clients that it says it has."`
	Models   []string   `json:"models,omitempty" doc:"Models that it says its clients may use; absent: all."`
	Memory   int64      `json:"memory,omitempty" doc:"Bytes of memory that it says it has for its stages."`
	Holds    []string   `json:"holds" doc:"Workers whose stage it has."`
	Returned int        `json:"returned" doc:"Results of the node that the home took."`
	Refused  int        `json:"refused" doc:"Results of the node that the home refused."`
	Next     string     `json:"next,omitempty" doc:"Command that drains or resumes the node; absent if it was removed."`
}
