//go:build !amd64

package channels

import (
	"errors"

	"cordon/internal/escape/arena"
)

// changesCalls is false where the registers of a call have other names.
const changesCalls = false

func changeCall(*arena.Arena) error { return errors.New("not written for this processor") }
