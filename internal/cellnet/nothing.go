package cellnet

import (
	"fmt"
	"os"
	"path/filepath"

	"cordon/internal/cell"
	"cordon/internal/egress/dns"
	"cordon/internal/policy"
)

// Nothing is the network of a cell that reaches nothing and whose attempts nobody records:
// a server that says of every name that it does not exist.
type Nothing struct {
	names   dns.Nothing
	mounted func()
}

// JoinNothing gives a command the answer that there are no names, with a file about that
// below a directory, and says when the cell has that file. For is nil for its policy.
func JoinNothing(c *cell.Command, p policy.Policy, dir string, mounted func()) (*Nothing, error) {
	n := &Nothing{mounted: mounted}
	if p.Isolation == policy.None || c.Cell == nil {
		return n, nil
	}
	c.Cell.Net = &cell.Net{Names: true, Spare: true}
	if at, ok := placeFor("/etc/resolv.conf", *c.Cell); ok {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, err
		}
		from := filepath.Join(dir, "resolv.conf")
		if err := writeOnce(from, []byte("# This cell has no network: cordon answers that no name exists.\nnameserver 127.0.0.1\n")); err != nil {
			return nil, err
		}
		c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: from, At: at})
	}
	c.Serve = n.serve
	return n, nil
}

func (n *Nothing) serve(s cell.Sockets) (func(), error) {
	n.mounted()
	end, err := n.names.ServeFile(s.Queries)
	if err != nil {
		return nil, fmt.Errorf("serve names to the cell: %w", err)
	}
	return end, nil
}

// Missed says which names a command asked for in vain, or "".
func (n *Nothing) Missed() string {
	asked := n.names.Asked()
	if len(asked) == 0 {
		return ""
	}
	return "the cell had no network, and the command asked for " + fitList(asked, reachRoom) + " (network.allowed_domains in the policy opens names)"
}
