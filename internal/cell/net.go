package cell

import "os"

// Net is a network for a cell. Its namespace stays connected to nothing: what it
// has are sockets that are opened in it before the worker runs and that somebody
// outside serves.
type Net struct {
	Ports []uint16 `json:"ports,omitempty"` // TCP, listened to at every address
	Host  []uint16 `json:"host,omitempty"`  // TCP, listened to at the cell's loopback
	// Anywhere makes every address lead to this cell itself, so that programs need
	// to know nothing, and listens for names at port 53. Otherwise programs are told
	// of a proxy by the usual variables.
	Anywhere bool `json:"anywhere,omitempty"`
}

// Sockets are what a cell's network is served through.
type Sockets struct {
	Pid     int        // the first process of the cell, as this machine numbers it
	TCP     []*os.File // listening
	Queries *os.File   // UDP, port 53; nil where programs are told of a proxy
	Watch   *os.File   // packets; nil where that is refused
	Proxy   *os.File   // listening; nil where every address leads here
	Token   string     // what a client of Proxy has to show; "": nothing
}
