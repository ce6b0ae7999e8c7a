package agent

import (
	"errors"

	"cordon/internal/client"
)

var gemini = Adapter{Name: client.Gemini, Program: "gemini", kit: func(Order) (Kit, error) { return Kit{}, errors.New("not yet") }}
