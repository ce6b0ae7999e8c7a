package agent

import (
	"errors"

	"cordon/internal/client"
)

var copilot = Adapter{Name: client.Copilot, Program: "copilot", kit: func(Order) (Kit, error) { return Kit{}, errors.New("not yet") }}
