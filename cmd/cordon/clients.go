package main

import (
	"fmt"
	"strings"

	"cordon/internal/agent/clients"
)

// exampleClient is the client that the examples in the help name.
const exampleClient = "claude"

// clientList names the clients in a sentence.
func clientList() string {
	var names []string
	for _, n := range clients.Names() {
		names = append(names, string(n))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// hookForms are lines that say in which form each client reads its hooks.
func hookForms() string {
	var b strings.Builder
	for _, d := range clients.Dialects() {
		fmt.Fprintf(&b, "  %-9s %s\n", d.Name, d.Form)
	}
	return b.String()
}
