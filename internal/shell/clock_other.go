//go:build !linux

package shell

import "time"

var began = time.Now()

// spent is the time since the program began.
func spent() time.Duration { return time.Since(began) }
