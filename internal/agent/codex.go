package agent

import (
	"errors"

	"cordon/internal/client"
)

var codex = Adapter{Name: client.Codex, Program: "codex", kit: func(Order) (Kit, error) { return Kit{}, errors.New("not yet") }}
