// Package arena has the two sides of an attempt to escape. The Arena is what an attack
// is told inside the cell. The Fixture is its world on the host: prepared before the
// attack, and looked at afterwards.
//
// It refuses to judge by what an attack says of itself: an Arena never holds the secret
// that the attack is after. It has no attempts of its own.
package arena
