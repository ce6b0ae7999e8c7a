package agent

import (
	"errors"

	"cordon/internal/client"
)

var openCode = Adapter{Name: client.OpenCode, Program: "opencode", kit: func(Order) (Kit, error) { return Kit{}, errors.New("not yet") }}
