package main

import (
	"context"
	"io"
	"os"

	"cordon/internal/cell"
	"cordon/internal/policy"
	"cordon/internal/session"
)

// checkNetwork starts a real cell that has a network and may reach nothing, and says
// how programs in it would find the way out.
func checkNetwork(ctx context.Context) check {
	dir, err := os.MkdirTemp("", "cordon-doctor-")
	if err != nil {
		return failed("network", err, "")
	}
	defer os.RemoveAll(dir) // made just now, and nothing is written to it
	p := policy.Default()
	p.Isolation, p.Network.Observe = policy.Degraded, true
	c, notice, err := session.Exec(ctx, session.Execution{Dir: dir, Policy: p, Argv: []string{"true"}})
	if err != nil {
		return failed("network", err, "")
	}
	defer notice() // it leaves nothing behind
	if c.Serve == nil {
		return check{"network", statusInfo, "not tried: cells are for Linux", ""}
	}
	var had *cell.Sockets
	serve := c.Serve
	c.Serve = func(s cell.Sockets) (func(), error) { had = &s; return serve(s) }
	c.Stdout, c.Stderr = io.Discard, io.Discard
	_, err = cell.Run(ctx, c)
	return networkCheck(had, err)
}

func networkCheck(had *cell.Sockets, err error) check {
	switch {
	case err != nil:
		return check{"network", statusWarn, "a cell cannot have one here: " + err.Error(), "policies without network.allowed_domains and host_ports do not need it"}
	case had == nil:
		return check{"network", statusWarn, "a cell was given none here", ""}
	case had.Queries == nil:
		return check{"network", statusWarn, "through a proxy: programs that ignore proxy variables reach nothing", ""}
	case had.Watch == nil:
		return check{"network", statusWarn, "every program in a cell can reach what its policy names", "refused packets cannot be seen (AF_PACKET), so logs --net shows connections and names only"}
	}
	return check{"network", statusOK, "every program in a cell can reach what its policy names; what is refused is seen", ""}
}
