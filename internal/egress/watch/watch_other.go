//go:build !linux

package watch

import (
	"context"
	"net/netip"
	"os"
)

// Packets sees nothing: there are no cells with a network of their own here.
func Packets(context.Context, *os.File, func(to netip.AddrPort, what Sighting)) {}
