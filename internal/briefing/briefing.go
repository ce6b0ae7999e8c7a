// Package briefing writes the rules of a lease for the agent that has to keep them:
// where it works, what it may do, what it may not, what is done wrong most often,
// and what to do when it needs something else.
//
// It is explanation, not protection, and it is read by something untrusted: the
// package refuses to name the operator's repository, its path or anything else of
// the machine that the worker does not need.
package briefing

import "cordon/internal/lease"

// Text is the briefing of a lease, in Markdown. hooked says that a guard judges
// each call and explains its refusals.
func Text(s lease.Sealed, hooked bool) string { return "" }
