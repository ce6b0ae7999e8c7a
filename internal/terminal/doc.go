// Package terminal writes for a person: one line for each step, tables that fit the
// window, patches and a worker's output without anything that could act on a terminal or
// hide text, and the colours of states and verdicts.
//
// It refuses to pass on a worker's control characters, to use a colour where NO_COLOR is
// set or no terminal is, and to decide what is said: commands do that. Package legible
// makes the characters of a text safe; this package lays the text out.
package terminal
