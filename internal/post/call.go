package post

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	patience = 5 * time.Second // of a caller who names no end, beyond what the request waits
	between  = 20 * time.Millisecond
)

// Call sends a request to the socket of a directory and returns the reply. A reply
// with an Error is one: err is for what kept it from coming.
func Call(ctx context.Context, dir string, r Request) (Reply, error) {
	line, err := encode(r, maxRequest)
	if err != nil {
		return Reply{}, fmt.Errorf("the request cannot be sent: %w", err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, patience+time.Duration(min(max(r.Wait, 0), 1<<20))*time.Second)
		defer end()
	}
	conn, err := dial(ctx, dir)
	if err != nil {
		return Reply{}, unheard(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // whoever waits on it wakes
	defer stop()
	reply, err := exchange(conn, line)
	if err != nil {
		return Reply{}, unheard(ctx, err)
	}
	return reply, nil
}

// unheard is the error of a call that got no reply.
func unheard(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("cordon does not answer: %w", err)
}

// dial connects. A socket with a full queue says so at once: it is asked again.
func dial(ctx context.Context, dir string) (net.Conn, error) {
	name, release, err := reach(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", name)
		if err == nil || !errors.Is(err, unix.EAGAIN) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(between):
		}
	}
}

func exchange(conn net.Conn, line []byte) (Reply, error) {
	// A reply may come before the request was read to its end: it says why.
	_, sent := conn.Write(line)
	answer, err := readLine(bufio.NewReader(conn), maxReply)
	if err != nil {
		return Reply{}, errors.Join(sent, err)
	}
	var r Reply
	return r, decode(answer, &r)
}
