// Package mount builds the file system that a cell sees: the overlays, binds and masks
// of a plan, one after the other, in a mount namespace of its own.
//
// It refuses to follow a link, because a worker may have put it there since the plan
// was made, and to leave a part of the plan out silently. What is to be mounted was
// decided in package plan; rights are taken away in package walls.
package mount
