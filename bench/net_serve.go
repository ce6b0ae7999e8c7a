package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"strings"
)

// What a client asks of the server, after whatever opens the connection.
const (
	download = 'd' // bytes without end
	upload   = 'u' // to take bytes without end
	echo     = 'e' // this byte, and all that follow, back
)

const chunk = 256 << 10

// serveAll is the other side: a server for streams and one for datagrams, on the
// loopback. It says where, and ends with its input.
func serveAll() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	names, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go each(l, serveOne)
	go echoPackets(names)
	fmt.Println(l.Addr(), names.LocalAddr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// each serves the connections of a listener.
func each(l net.Listener, serve func(*net.TCPConn) error) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			_ = serve(c.(*net.TCPConn)) // the client tells what went wrong
		}()
	}
}

// serveOne does what a client asks for, in whatever way it begins.
func serveOne(c *net.TCPConn) error {
	r := bufio.NewReaderSize(c, 4<<10)
	wish, answer, err := opened(r)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c, answer); err != nil {
		return err
	}
	switch wish {
	case download:
		buf := make([]byte, chunk)
		for err == nil {
			_, err = c.Write(buf)
		}
	case upload:
		buf := make([]byte, chunk)
		for err == nil {
			_, err = c.Read(buf)
		}
	case echo:
		if _, err = c.Write([]byte{echo}); err == nil {
			_, err = io.Copy(c, r)
		}
	default:
		err = errors.New("an unknown wish")
	}
	return err
}

// opened reads the beginning: a TLS record or the head of a request, and the wish.
func opened(r *bufio.Reader) (wish byte, answer string, err error) {
	first, err := r.Peek(1)
	if err != nil {
		return 0, "", err
	}
	switch first[0] {
	case tlsHandshake:
		head, err := r.Peek(5)
		if err != nil {
			return 0, "", err
		}
		if _, err := r.Discard(5 + int(head[3])<<8 + int(head[4]) + 5); err != nil { // and the head of the next
			return 0, "", err
		}
		wish, err = r.ReadByte()
		return wish, "a server", err // that is no wish for another hello
	case 'G', 'P':
		return request(r)
	}
	wish, err = r.ReadByte()
	return wish, "", err
}

// The kinds of TLS records.
const (
	tlsHandshake = 22
	tlsData      = 23
)

// endless is the length of a body that nobody sees the end of.
const endless = 1 << 50

// request reads the head of a request. Its path is the wish.
func request(r *bufio.Reader) (wish byte, answer string, err error) {
	t := textproto.NewReader(r)
	first, err := t.ReadLine()
	if err != nil {
		return 0, "", err
	}
	if _, err := t.ReadMIMEHeader(); err != nil {
		return 0, "", err
	}
	_, path, _ := strings.Cut(first, " /")
	if path == "" {
		return 0, "", fmt.Errorf("%q asks for nothing", first)
	}
	if path[0] == upload {
		return upload, "", nil
	}
	return path[0], fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", endless), nil
}

func echoPackets(c net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		_, _ = c.WriteTo(buf[:n], from) // whoever hears nothing asks again
	}
}

// proxyAll is a plain proxy for CONNECT, as the usual ones are: it judges nothing.
// It says where it is, and ends with its input.
func proxyAll() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go each(l, proxyOne)
	fmt.Println(l.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func proxyOne(c *net.TCPConn) error {
	r := bufio.NewReader(c)
	t := textproto.NewReader(r)
	first, err := t.ReadLine()
	if err != nil {
		return err
	}
	if _, err := t.ReadMIMEHeader(); err != nil {
		return err
	}
	words := strings.Fields(first)
	if len(words) != 3 || words[0] != "CONNECT" || r.Buffered() > 0 {
		return fmt.Errorf("%q is not for this proxy", first)
	}
	conn, err := net.Dial("tcp", words[1])
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return err
	}
	server := conn.(*net.TCPConn)
	go func() {
		_, _ = io.Copy(server, c) // the other direction ends it
		_ = server.CloseWrite()
	}()
	_, err = io.Copy(c, server)
	return err
}
