package main

import (
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
)

// The act of the probe that begins a TLS connection in its own way.

// helloAct sends a hello as Go writes it, altered, and says whether a server spoke.
func helloAct(to, how string) (string, error) {
	b, err := clientHello("allowed.example.com", how)
	if err != nil {
		return "", err
	}
	c, err := dial(to)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Write(b); err != nil {
		return "", err
	}
	first := make([]byte, 7)
	if n, err := io.ReadFull(c, first); err != nil {
		return hex.EncodeToString(first[:n]), err
	}
	if first[0] == 22 {
		return "the server spoke", nil
	}
	return fmt.Sprintf("alert %d", first[6]), nil
}

// clientHello is a hello for a name, altered: "ech" adds an encrypted one, "records"
// cuts it in two, "names" puts a second name into it and "twice" a second extension
// with one.
func clientHello(name, how string) ([]byte, error) {
	ours, theirs := net.Pipe()
	go func() { _ = tls.Client(ours, &tls.Config{ServerName: name}).Handshake() }() // ends with the pipe
	defer theirs.Close()
	head := make([]byte, 5)
	if _, err := io.ReadFull(theirs, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(theirs, body); err != nil {
		return nil, err
	}
	const other = "refused.example.net"
	switch how {
	case "ech":
		body = withExtension(body, 0xfe0d, append([]byte{0, 0, 1, 0, 1, 7, 0, 32}, make([]byte, 64)...))
	case "twice":
		body = withExtension(body, 0, serverNames(other))
	case "names":
		body = withExtension(withoutNames(body), 0, serverNames(name, other))
	case "turned":
		body = withExtension(withoutNames(body), 0, serverNames(other, name))
	case "records":
		return append(inRecord(body[:50]), inRecord(body[50:])...), nil
	}
	return inRecord(body), nil
}

// inRecord is a record of TLS around a part of a handshake.
func inRecord(part []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{22, 3, 1}, uint16(len(part))), part...)
}

// serverNames is the extension with names of servers.
func serverNames(names ...string) []byte {
	var list []byte
	for _, name := range names {
		list = binary.BigEndian.AppendUint16(append(list, 0), uint16(len(name)))
		list = append(list, name...)
	}
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(list))), list...)
}

// extensionsAt is where the length of a hello's extensions is.
func extensionsAt(body []byte) int {
	at := 4 + 2 + 32
	at += 1 + int(body[at])
	at += 2 + int(binary.BigEndian.Uint16(body[at:]))
	return at + 1 + int(body[at])
}

// withoutNames makes an extension of no known kind of the one with the server's name.
func withoutNames(body []byte) []byte {
	for at := extensionsAt(body) + 2; at+4 <= len(body); at += 4 + int(binary.BigEndian.Uint16(body[at+2:])) {
		if binary.BigEndian.Uint16(body[at:]) == 0 {
			binary.BigEndian.PutUint16(body[at:], 0xeeee)
			break
		}
	}
	return body
}

// withExtension adds an extension at the end of a hello's and mends its lengths.
func withExtension(body []byte, kind uint16, data []byte) []byte {
	at := extensionsAt(body)
	extra := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, kind), uint16(len(data)))
	extra = append(extra, data...)
	binary.BigEndian.PutUint16(body[at:], binary.BigEndian.Uint16(body[at:])+uint16(len(extra)))
	body = append(body, extra...)
	size := len(body) - 4
	body[1], body[2], body[3] = byte(size>>16), byte(size>>8), byte(size)
	return body
}
