package cell

import "errors"

// A visitor enters a cell that runs. Its command is started by the first process
// of the cell, and so has every wall around it that the worker has; nothing of
// the visitor's enters but what it asks for, and what comes back are the outer
// ends of a terminal or of pipes that the cell has made. The way is
//
//	visitor → the door, a socket in a place that no cell sees → cordon → the cell
//
// What the cell says of a visit can end it or garble it, and decides nothing.

// ErrNoDoor says that no cell takes visitors at a place.
var ErrNoDoor = errors.New("no cell takes visitors there")

// doorName is the socket in the directory that a door is opened in.
const doorName = "visitors"

// maxVisits is how many visitors a cell takes at once.
const maxVisits = 8
