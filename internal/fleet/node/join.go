package node

import (
	"context"

	"cordon/internal/fleet/protocol"
)

// Join asks the home of a token to take this node in, under a name.
func (n *Node) Join(ctx context.Context, t protocol.Token, name string) (protocol.Answer, error) {
	key, err := n.Key.PublicKey()
	if err != nil {
		return protocol.Answer{}, err
	}
	return n.ask(ctx, func(h protocol.Header) any { return t.Join(h, key, name) })
}
