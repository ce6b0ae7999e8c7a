//go:build !linux

package escape

import (
	"context"
	"errors"
)

var errSystem = errors.New("there is no cell on this system to get out of")

type attempt struct{}

// Attempts lists every attempt.
func Attempts() []Attempt { return nil }

// Place finds a directory for fixtures.
func Place() (string, error) { return "", errSystem }

// Run runs the attempts.
func Run(context.Context, Options) ([]Result, error) { return nil, errSystem }

// Main runs one attack.
func Main([]string) int { return 2 }
