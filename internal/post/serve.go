package post

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	atOnce  = 64              // connections that are served at the same time; others wait in the kernel's queue
	silence = 5 * time.Second // for a request, and for taking the reply
	pause   = 50 * time.Millisecond
)

// Handler answers a request. Its context ends when nobody waits for the reply any
// more, or the socket is closed.
type Handler func(context.Context, Request) Reply

// Serve answers requests until the listener is closed: one for each connection.
func Serve(l *Listener, h Handler) error {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.ctx.Done():
			return nil
		}
		conn, err := l.inner.AcceptUnix()
		if err != nil {
			<-l.slots
			if l.ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			time.Sleep(pause) // out of descriptors: those that are open will be closed
			continue
		}
		l.work.Add(1)
		go func() {
			defer func() { conn.Close(); <-l.slots; l.work.Done() }()
			serve(l.ctx, conn, h)
		}()
	}
}

// serve answers one connection.
func serve(ctx context.Context, conn *net.UnixConn, h Handler) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(silence)); err != nil || ctx.Err() != nil {
		return
	}
	in := bufio.NewReader(conn)
	r, err := request(conn, in)
	if err != nil {
		say(conn, Reply{Error: err.Error()})
		return
	}
	if conn.SetReadDeadline(time.Time{}) != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = in.ReadByte() // an end, or more than was agreed: the same
		cancel()
	}()
	say(conn, answer(ctx, h, r))
}

// request reads what a peer wants.
func request(conn *net.UnixConn, in *bufio.Reader) (Request, error) {
	if err := known(conn); err != nil {
		return Request{}, err
	}
	line, err := readLine(in, maxRequest)
	if err != nil {
		return Request{}, fmt.Errorf("no request: %w", err)
	}
	if in.Buffered() > 0 {
		return Request{}, errors.New("one request for each connection")
	}
	return decodeRequest(line)
}

// answer asks the handler. One that fails has said no.
func answer(ctx context.Context, h Handler, r Request) (reply Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = Reply{Error: fmt.Sprintf("the request could not be answered: %v", p)}
		}
	}()
	reply = h(ctx, r)
	if reply.Error != "" {
		reply = Reply{Error: reply.Error}
	}
	return reply
}

// say sends a reply. Whoever does not take it has had it.
func say(conn *net.UnixConn, r Reply) {
	line, err := encode(r, maxReply)
	if err != nil {
		if line, err = encode(Reply{Error: "the reply cannot be sent: " + err.Error()}, maxReply); err != nil {
			return
		}
	}
	if conn.SetWriteDeadline(time.Now().Add(silence)) == nil {
		_, _ = conn.Write(line) // nobody is left to be told
	}
}
