package view

// Open is cordon.open/1.
type Open struct {
	Head
	Worker string      `json:"worker" doc:"Name of the worker."`
	Ports  []Published `json:"ports" doc:"The ports that were asked for."`
}

// Published is a port that a worker publishes.
type Published struct {
	Port      int    `json:"port" doc:"The port in the worker's cell."`
	URL       string `json:"url" doc:"Address for a browser, good for one use."`
	Listening bool   `json:"listening" doc:"Whether something in the cell listens on the port now."`
}
