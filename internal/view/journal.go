package view

import "time"

// Journal is cordon.journal/1.
type Journal struct {
	Head
	Events []Event `json:"events" doc:"The events, oldest first."`
}

// Event is one line of the journal.
type Event struct {
	Seq    uint64    `json:"seq" doc:"Number of the event, from 1."`
	Time   time.Time `json:"time" doc:"Time of the event."`
	Worker string    `json:"worker,omitempty" doc:"Name of the worker."`
	Type   string    `json:"type" doc:"Type of the event, such as lease.sealed."`
	Data   Document  `json:"data,omitempty" doc:"Data of the event; the fields depend on the type and version."`
	Prev   string    `json:"prev" doc:"SHA-256 of the line before."`
	Hash   string    `json:"hash" doc:"SHA-256 of this line up to the hash."`
}

// Verify is cordon.verify/1.
type Verify struct {
	Head
	Events  int     `json:"events" doc:"Number of sound events."`
	Last    string  `json:"head" doc:"Hash of the last sound event; empty if there is no journal."`
	Torn    bool    `json:"torn" doc:"Whether the last append was interrupted; the next one repairs it."`
	Sound   bool    `json:"sound" doc:"Whether the hash chain is intact."`
	Problem *Damage `json:"problem,omitempty" doc:"The first damage, if there is any."`
}

// Damage is a place where a journal is damaged.
type Damage struct {
	Line    int    `json:"line" doc:"Line of the journal, from 1."`
	Offset  int64  `json:"offset" doc:"Offset of the line in bytes."`
	Seq     uint64 `json:"seq" doc:"Number of the event that belongs there."`
	Problem string `json:"problem" doc:"The damage."`
}

// Repair is cordon.repair/1.
type Repair struct {
	Head
	Kept    int    `json:"kept" doc:"Number of sound events that are kept."`
	Problem string `json:"problem" doc:"The damage; empty if the journal is sound."`
	Workers []Fate `json:"workers" doc:"What becomes of each worker."`
	Done    bool   `json:"done" doc:"Whether the repair was made; false with --dry-run."`
}

// Fate is what becomes of a worker in a repair.
type Fate struct {
	Worker string `json:"worker" doc:"Name of the worker."`
	What   string `json:"what" doc:"What becomes of it."`
	Why    string `json:"why" doc:"Why."`
}
