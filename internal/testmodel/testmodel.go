// Package testmodel is a scripted model for tests with the real agent clients: it
// speaks the wire protocols that they speak, plays a list of tool calls and records
// what the clients say came of them.
package testmodel
