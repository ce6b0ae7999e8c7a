// Package channels has the attempts on other processes and the ways to them: signals,
// inherited descriptors, sockets, queues, shared memory, the network and terminals.
//
// It judges nothing by itself: package arena does, on the host.
package channels
