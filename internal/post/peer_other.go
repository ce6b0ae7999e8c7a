//go:build !linux

package post

import "net"

// known relies on the mode of the socket.
func known(*net.UnixConn) error { return nil }
