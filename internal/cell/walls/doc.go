// Package walls takes from the first process of a cell everything that the worker must
// not have: capabilities, keys, and what Landlock and seccomp refuse. Then it proves
// each wall: it tries what must fail and what must work.
//
// It refuses to believe that a wall stands because a call succeeded. It builds no view
// and knows no policy: the walls are those of the plan.
package walls
