package view

// Happened is cordon.happened/1.
type Happened struct {
	Head
	After   uint64   `json:"after" doc:"Number of the last event that this takes into account: wait after it."`
	Workers []Worker `json:"workers" doc:"The workers that the events are about, as they are now."`
}
