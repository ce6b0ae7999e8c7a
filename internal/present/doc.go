// Package present turns what cordon knows of a worker into what is shown of it: the structs
// of package view, the reason for a state in a sentence, rows of tables, and the commands
// that an operator may want to type next.
//
// It refuses to print, to change anything and to decide anything: package ledger derives
// the state, package terminal lays text out, and commands choose what they show.
package present
