package post

import (
	"context"
	"net"
)

// Conns are the connections of a listener, for a server with a protocol of its own. Only
// this user's come through: others are closed unread.
func (l *Listener) Conns() net.Listener { return conns{l} }

type conns struct{ *Listener }

// Accept waits for the next connection of this user.
func (c conns) Accept() (net.Conn, error) {
	for {
		conn, err := c.inner.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if known(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}

// Addr is the address of the socket.
func (c conns) Addr() net.Addr { return c.inner.Addr() }

// Dial connects to the socket of a directory, however long its path is.
func Dial(ctx context.Context, dir string) (net.Conn, error) { return dial(ctx, dir) }
