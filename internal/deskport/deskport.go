// Package deskport knows the ports of the desks that are open in a browser, of all repositories
// of this user. A desk announces its port while it lives; whoever makes or starts a lease asks
// whether it would let a worker reach one.
//
// The file of a desk holds its port and no token. A desk is open as long as its process holds the
// lock of its file: a file that nobody locks is left over and means nothing.
package deskport

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/policy"
	"cordon/internal/state"
)

// folder is where the files are, beside the states of the repositories.
const folder = "desks"

func dir() (string, error) {
	root, err := state.Root()
	return filepath.Join(root, folder), err
}

// Announce says that a desk is open at a port, until close.
func Announce(port int) (close func(), err error) {
	in, err := dir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(in, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(in, strconv.Itoa(port))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(0o600), unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)); err != nil {
		f.Close()
		return nil, fmt.Errorf("announce port %d: %w", port, err)
	}
	return func() { os.Remove(name); f.Close() }, nil
}

// Open lists the ports of the desks that are open.
func Open() ([]uint16, error) {
	in, err := dir()
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(in)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var list []uint16
	for _, f := range files {
		port, mistake := strconv.ParseUint(f.Name(), 10, 16)
		if mistake == nil && port > 0 && held(filepath.Join(in, f.Name())) {
			list = append(list, uint16(port))
		}
	}
	return list, err
}

// held reports whether somebody has the lock of a file. What cannot be asked counts as held.
func held(name string) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

// Named is the first key of a network section that opens a port of this machine's loopback to a
// worker, or nothing.
func Named(n policy.Network, port uint16) (string, error) {
	r, err := n.Reach()
	if err != nil {
		return "", err
	}
	if r.HostPort(port) {
		return "network.host_ports", nil
	}
	for _, loopback := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		if r.AllowsAddr(loopback, port) {
			return "network.allowed_domains", nil
		}
	}
	for _, entry := range n.Expanded().AllowedDomains {
		if name, at, ok := strings.Cut(entry, ":"); ok && at == strconv.Itoa(int(port)) && isLocal(name) {
			return "network.allowed_domains", nil
		}
	}
	return "", nil
}

// isLocal knows the names that a browser or a resolver takes for this machine.
func isLocal(name string) bool {
	name = strings.ToLower(strings.Trim(name, "[]."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || name == "localhost.localdomain" || name == "*"
}

// Refusal is why a worker may not have a network section: it names a desk that is open.
func Refusal(n policy.Network) error {
	ports, err := Open()
	if err != nil {
		return fmt.Errorf("the ports of open desks: %w", err)
	}
	for _, port := range ports {
		key, err := Named(n, port)
		if err != nil {
			return err
		}
		if key != "" {
			return fmt.Errorf("%s names port %d, where a desk is open in your browser: no worker may reach it (close that desk, or name another port)", key, port)
		}
	}
	return nil
}
