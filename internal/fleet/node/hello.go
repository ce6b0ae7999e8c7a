package node

import (
	"context"

	"cordon/internal/fleet/protocol"
)

// Hello tells the home that the node is there, until it answers how the node stands.
func (n *Node) Hello(ctx context.Context) (protocol.Answer, error) {
	a, err := n.ask(ctx, func(h protocol.Header) any {
		h.Kind = protocol.HelloKind
		return protocol.Hello{Header: h, Can: n.can()}
	})
	if err == nil {
		n.counts.draining.Store(a.Verdict == protocol.Draining)
	}
	return a, err
}
