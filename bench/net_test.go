package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkNetwork compares a server of this machine seen from a cell, through cordon's relay, with the same
// server seen without one.
func BenchmarkNetwork(b *testing.B) {
	dir := place(b)
	program, me := cordon(b, dir), self(b, dir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go serve(l)
	port := l.Addr().(*net.TCPAddr).Port
	writeFiles(b, dir, map[string]string{"net.yaml": fmt.Sprintf("version: 1\nnetwork: {host_ports: [%d]}\n", port), "work/.keep": ""})
	work := filepath.Join(dir, "work")
	inCell := func(argv ...string) []string {
		return append([]string{program, "exec", "--policy", filepath.Join(dir, "net.yaml"), "--"}, argv...)
	}
	t := turns{}
	for b.Loop() {
		for name, argv := range map[string][]string{"plain": {me}, "cell": inCell(me)} {
			out, err := run(work, append(argv, "ask", l.Addr().String())...)
			var took asked
			if err := errors.Join(err, json.Unmarshal([]byte(out), &took)); err != nil {
				b.Fatal(err)
			}
			t["stream "+name], t["connection "+name] = append(t["stream "+name], took.Stream), append(t["connection "+name], took.Connection)
		}
		t.time(b, "start with", func() error { _, err := run(work, inCell("/bin/true")...); return err })
		t.time(b, "start without", func() error { _, err := run(work, program, "exec", "--", "/bin/true"); return err })
	}
	t.compare(b, "a stream of 1 GiB through a cell, compared with plain loopback", "", "stream cell", "stream plain")
	t.compare(b, "a connection and its first byte through a cell, mean of 200, compared with plain loopback", "", "connection cell", "connection plain")
	t.compare(b, "the start of a cell with a network, compared with one without", "", "start with", "start without")
}

// asked is what a client measured.
type asked struct{ Stream, Connection time.Duration }

const streamed = 1 << 30

// serve sends one byte to who says 1, and a stream to everybody else.
func serve(l net.Listener) {
	block := make([]byte, 1<<20)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			var wish [1]byte
			if _, err := io.ReadFull(conn, wish[:]); err != nil {
				return
			}
			if wish[0] == '1' {
				_, _ = conn.Write(wish[:]) // the client says if it does not come
				return
			}
			for sent := 0; sent < streamed; sent += len(block) {
				if _, err := conn.Write(block); err != nil {
					return
				}
			}
		}()
	}
}

// askPart is the client. It is warm when it counts.
func askPart(args []string) error {
	ask := func(wish string, want int64) error {
		conn, err := net.Dial("tcp", args[0])
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, wish); err != nil {
			return err
		}
		got, err := io.Copy(io.Discard, conn)
		if err == nil && got != want {
			err = fmt.Errorf("%d bytes came instead of %d", got, want)
		}
		return err
	}
	var took asked
	const connections = 200
	for range connections {
		began := time.Now()
		if err := ask("1", 1); err != nil {
			return err
		}
		took.Connection += time.Since(began) / connections
	}
	began := time.Now()
	err := ask("s", streamed)
	took.Stream = time.Since(began)
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(took))
}
