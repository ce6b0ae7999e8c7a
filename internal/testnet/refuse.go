package testnet

import (
	"fmt"
	"syscall"
)

// Refusing is an address of the loopback that refuses connections for as long as the test runs. Its port is
// taken and nobody listens: a port that was only closed may be another program's a moment later.
func Refusing(t interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}) string {
	t.Helper()
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(s) })
	if err := syscall.Bind(s, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(s)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}
