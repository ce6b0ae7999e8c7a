package cell

import (
	"os"
)

// Sockets are what a cell's network is served through. They stay the cell's, which
// closes them when it has ended; whoever serves may do so before.
type Sockets struct {
	Pid     int        // the first process of the cell, as this machine numbers it
	TCP     []*os.File // listening
	Queries *os.File   // UDP, port 53; nil where programs are told of a proxy
	Watch   *os.File   // packets; nil where that is refused
	Proxy   *os.File   // listening; nil where every address leads here
	Token   string     // what a client of Proxy has to show; "": nothing
	Inward  []*os.File // TCP, not connected; nil where nothing is published
}
