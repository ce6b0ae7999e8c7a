// Package host looks at the machine for a cell: the mounts, files and sockets that an
// order names, the version of the kernel, and the settings and containers that keep a
// cell from being built.
//
// It refuses to change anything, and to guess: what it cannot read is missing. It says
// what would help, and leaves it to package cell whether a command may run without.
package host
