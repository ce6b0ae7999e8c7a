//go:build !linux

package testnet

import (
	"errors"
	"net"
)

func tellTarget(*net.UDPConn) error { return errors.New("testnet: only on Linux") }
