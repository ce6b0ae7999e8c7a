package confine

import (
	"os"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/egress/record"
)

// connect gives an execution the network of its policy, and returns what says
// afterwards what it tried to reach. Nothing of it is kept.
func (x Execution) connect(c *cell.Command) (tally func() string, err error) {
	none := func() string { return "" }
	n, err := cellnet.For(x.Policy)
	if err != nil {
		return none, err
	}
	names, err := os.MkdirTemp("", "cordon-exec-")
	if err != nil {
		return none, err
	}
	remove := func() { _ = os.RemoveAll(names) } // made just now; what stays is three small files
	if n == nil {
		nothing, err := cellnet.JoinNothing(c, x.Policy, names, remove)
		if err != nil {
			remove()
			return none, err
		}
		return func() string { remove(); return nothing.Missed() }, nil
	}
	k := record.NewKeeper(nil)
	err = n.Join(c, names, func() (*record.Keeper, func(), error) {
		remove() // they are mounted
		return k, func() {}, nil
	})
	if err != nil {
		remove()
		return none, err
	}
	return func() string {
		remove()
		t := k.Tally()
		if t.Refused+t.Failed == 0 && !x.Loud {
			return "" // it had what it wanted
		}
		return strings.Join(t.Lines(), "\n")
	}, nil
}
