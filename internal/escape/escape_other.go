//go:build !linux

package escape

import (
	"context"
	"errors"

	"cordon/internal/escape/arena"
)

var errSystem = errors.New("there is no cell on this system to get out of")

// Attempts lists every attempt.
func Attempts() []arena.Attempt { return nil }

// Place finds a directory for fixtures.
func Place() (string, error) { return "", errSystem }

// Run runs the attempts.
func Run(context.Context, Options) ([]Result, error) { return nil, errSystem }

// Main runs one attack.
func Main([]string) int { return 2 }
