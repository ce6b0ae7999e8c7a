// Package supervisor deals with the cordon process that works on a worker, its supervisor:
// it finds the one that works on a worker now, stops it and waits for it.
//
// It refuses to believe a process number that is written somewhere, because the number may
// belong to another process by now: a process is signalled only through a handle on a
// process that the kernel shows with the worker's lock. It refuses to judge or remove what
// a worker left. Package background starts a supervisor where nobody looks; package session
// is what it does.
package supervisor
