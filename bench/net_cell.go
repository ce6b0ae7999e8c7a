package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"cordon/internal/cell"
	"cordon/internal/egress"
	"cordon/internal/egress/record"
	"cordon/internal/egress/watch"
	"cordon/internal/policy"
)

// What the cell of a measurement may reach. All of it is the server on this
// machine's loopback.
const (
	allowedName = "model.example.com"
	allowedAddr = "10.77.0.1"
	addrPort    = 8443
)

// stage is the world beyond that cell: every name has a public address, and every
// address but the loopback leads to the server. It is dialled as ever.
type stage struct{ server netip.AddrPort }

func (s stage) Lookup(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 215, 14})}, nil
}

func (s stage) Own(netip.Addr) bool { return false }

func (s stage) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	if !to.Addr().IsLoopback() {
		to = s.server
	}
	return egress.Machine.Dial(ctx, to)
}

// netSection is the part of a policy that allows it. Queries are not what limits
// here.
func netSection(server netip.AddrPort) policy.Network {
	return policy.Network{
		AllowedDomains: []string{allowedName, fmt.Sprintf("%s/32:%d", allowedAddr, addrPort)},
		HostPorts:      []int{int(server.Port())}, Via: policy.Transparent,
		Limits: policy.NetworkLimits{Queries: 1 << 20},
	}
}

// superviseOne runs a client in a cell, with its network.
func superviseOne(dir, server string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c, err := netCommand(dir, server)
	if err != nil {
		return err
	}
	c.Argv, c.Stdin, c.Stdout = []string{self, "net", "ask"}, os.Stdin, os.Stdout
	exit, err := cell.Run(context.Background(), c)
	if err == nil && !exit.OK() {
		err = fmt.Errorf("the client in the cell ended with %d, %s", exit.Code, exit.Reason)
	}
	return err
}

// netCommand is a command in a cell below a directory. Without a server it has no
// network.
func netCommand(dir, server string) (cell.Command, error) {
	c := cell.Command{
		Dir: dir, Env: os.Environ(), Stderr: os.Stderr,
		Cell: &cell.Order{Home: dir + "-home", Write: []string{dir}, Read: []string{"/"}},
	}
	if err := os.MkdirAll(c.Cell.Home, 0o755); err != nil || server == "" {
		return c, err
	}
	at, err := netip.ParseAddrPort(server)
	if err != nil {
		return c, err
	}
	n := netSection(at)
	reach, err := n.Reach()
	if err != nil {
		return c, err
	}
	c.Cell.Net = &cell.Net{Ports: append([]uint16{80, 443}, reach.Ports()...), Host: reach.HostPorts(), Anywhere: true}
	c.Serve = func(s cell.Sockets) (func(), error) {
		out := egress.New(egress.Order{
			Reach: reach, Limits: n.Limits, Out: stage{at},
			Record: record.NewKeeper(io.Discard).Record, Process: watch.Owner(s.Pid),
		})
		return out.Close, out.Serve(egress.Sockets{TCP: s.TCP, Queries: s.Queries, Watch: s.Watch, Proxy: s.Proxy}, s.Token)
	}
	return c, nil
}

// superviseIdle runs cells whose commands wait, and says what is used when all do:
// by this process, and by the first ones of the cells. It ends with its input.
func superviseIdle(dir, server, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	wait, release, err := os.Pipe()
	if err != nil {
		return err
	}
	started, errs := make(chan int, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = idle(fmt.Sprintf("%s-%d", dir, i), server, wait, started) })
	}
	used := int64(0)
	for range n {
		pid := <-started
		if pid == 0 {
			break // its error is told below
		}
		used += resident(pid)
	}
	debug.FreeOSMemory()
	fmt.Println(resident(os.Getpid()), used)
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that matters
	release.Close()
	all.Wait()
	return errors.Join(errs...)
}

// idle runs one of them.
func idle(dir, server string, wait *os.File, started chan<- int) error {
	err := os.Mkdir(dir, 0o755)
	if err != nil {
		started <- 0
		return err
	}
	c, err := netCommand(dir, server)
	if err == nil {
		c.Argv, c.Stdin, c.Stdout = []string{"/bin/cat"}, wait, io.Discard
		c.Started = func(l cell.Launch) error { started <- l.Pid; return nil }
		_, err = cell.Run(context.Background(), c)
	}
	if err != nil {
		started <- 0
	}
	return err
}

// resident is the memory that a process has, in bytes; 0 when it is gone.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// netRole is what this program does as another part of a measurement.
func netRole(args []string) error {
	want := map[string]int{"serve": 0, "proxy": 0, "ask": 0, "one": 2, "idle": 3}
	if n, ok := want[args[0]]; !ok || len(args) != n+1 {
		return fmt.Errorf("no such part: %s", strings.Join(args, " "))
	}
	switch args[0] {
	case "serve":
		return serveAll()
	case "proxy":
		return proxyAll()
	case "one":
		return superviseOne(args[1], args[2])
	case "idle":
		return superviseIdle(args[1], args[2], args[3])
	}
	return askAll()
}
