package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"cordon/internal/cell"
)

func TestNetworkCheck(t *testing.T) {
	whole := cell.Launch{Layers: cell.Every()}
	bare := cell.Launch{Missing: []cell.Missing{{Layer: cell.Namespaces, Means: "one"}, {Layer: cell.Network, Means: "TCP is not restricted"}}}
	none := &cell.MissingError{Missing: cell.Missing{Layer: cell.Namespaces, Fix: "another system"}}
	for want, c := range map[string]check{
		"ok every program":               networkCheck(cell.Sockets{Queries: os.Stdin, Watch: os.Stdin}, whole, nil),
		"warn every program":             networkCheck(cell.Sockets{Queries: os.Stdin}, whole, nil),
		"warn through a proxy: programs": networkCheck(cell.Sockets{Proxy: os.Stdin}, whole, nil),
		"warn through a proxy, and without namespaces not all that ignores it is held: UDP is not stopped, TCP is not restricted": networkCheck(cell.Sockets{Proxy: os.Stdin}, bare, nil),
		"warn a cell cannot have":         networkCheck(cell.Sockets{}, cell.Launch{}, errors.New("no lo")),
		"info not tried: it needs a cell": networkCheck(cell.Sockets{}, cell.Launch{}, fmt.Errorf("a cell: %w", none)),
	} {
		if c.Status == statusInfo && c.Hint != "" {
			t.Errorf("what is to be done is said of the cell: %q", c.Hint)
		}
		if got := string(c.Status) + " " + c.Detail; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
