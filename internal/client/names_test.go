package client_test

import (
	"cordon/internal/agent/clients"
	. "cordon/internal/client"
)

// The clients that the tests are about.
const (
	Claude   Name = "claude"
	Codex    Name = "codex"
	Gemini   Name = "gemini"
	Copilot  Name = "copilot"
	OpenCode Name = "opencode"
	Qwen     Name = "qwen"
	Pi       Name = "pi"
)

// of is the dialect of a client. One that is not known has none.
func of(n Name) *Dialect {
	a, err := clients.Of(n)
	if err != nil {
		return &Dialect{Name: n}
	}
	return a.Dialect
}
