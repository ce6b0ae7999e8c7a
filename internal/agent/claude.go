package agent

import (
	"errors"

	"cordon/internal/client"
)

var claude = Adapter{Name: client.Claude, Program: "claude", kit: func(Order) (Kit, error) { return Kit{}, errors.New("not yet") }}
