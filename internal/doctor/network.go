package doctor

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/confine"
	"cordon/internal/policy"
)

// checkNetwork starts a real cell that has a network and can reach nothing, and says
// how programs in it would find the way out.
func checkNetwork(ctx context.Context) check {
	dir, err := os.MkdirTemp("", "cordon-doctor-")
	if err != nil {
		return failed("network", err, "")
	}
	defer os.RemoveAll(dir) // made just now, and nothing is written to it
	p := policy.Default()
	p.Isolation, p.Network.AllowedDomains = policy.Degraded, []string{"doctor.invalid"} // which nobody can have
	c, notice, err := confine.Exec(ctx, confine.Execution{Dir: dir, Policy: p, Trial: true, Argv: []string{"true"}})
	if err != nil {
		return failed("network", err, "")
	}
	defer notice(cell.Exit{}) // it leaves nothing behind
	var had cell.Sockets
	var made cell.Launch
	serve := c.Serve
	c.Serve = func(s cell.Sockets) (func(), error) { had = s; return serve(s) }
	c.Started = func(l cell.Launch) error { made = l; return nil }
	c.Stdout, c.Stderr = io.Discard, io.Discard
	_, err = cell.Run(ctx, c)
	return networkCheck(had, made, err)
}

func networkCheck(had cell.Sockets, made cell.Launch, err error) check {
	var none *cell.MissingError
	switch {
	case errors.As(err, &none): // what is to be done about that is said of the cell
		return check{"network", statusInfo, "not tried: it needs a cell", ""}
	case err != nil:
		return check{"network", statusWarn, "a cell cannot have one here: " + err.Error(), "policies without network.allowed_domains and host_ports do not need it"}
	case !slices.Contains(made.Layers, cell.Namespaces):
		return check{"network", statusWarn, "through a proxy, and without namespaces not all that ignores it is held: " + unheld(made.Missing), ""}
	case had.Queries == nil:
		return check{"network", statusWarn, "through a proxy: programs that ignore proxy variables reach nothing", ""}
	case had.Watch == nil:
		return check{"network", statusWarn, "every program in a cell can reach what its policy names", "refused packets cannot be seen (AF_PACKET), " +
			"so logs --net shows connections and names only"}
	}
	return check{"network", statusOK, "every program in a cell can reach what its policy names; what is refused is seen", ""}
}

// unheld is what a network means that lacks layers which it needs.
func unheld(missing []cell.Missing) string {
	var list []string
	for _, m := range missing {
		if m.Layer == cell.Network {
			list = append(list, m.Means)
		}
	}
	return strings.Join(append([]string{"UDP is not stopped"}, list...), ", ")
}
