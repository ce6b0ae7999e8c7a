package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// act is something that the probe does: its name and its arguments. The probe is this
// test binary by another name, so that the same bytes are sent in a cell and outside.
type act []string

// finding is what came of an act.
type finding struct {
	Text   string
	Err    string
	Millis int64
}

func (f finding) String() string { return fmt.Sprintf("%s|%s (%d ms)", f.Text, f.Err, f.Millis) }

// findingMark begins the line of a finding.
const findingMark = "FINDING "

// patience is how long an act waits for an answer. What takes that long is a hang, also
// on a machine that has much else to do.
const patience = 60 * time.Second

// probe does acts, one after the other.
func probe(args []string) int {
	var acts []act
	if err := json.Unmarshal([]byte(args[0]), &acts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	known := repertoire()
	for _, a := range acts {
		start := time.Now()
		f := finding{Err: "no such act"}
		if do := known[a[0]]; do != nil {
			text, err := attempt(do, a[1:])
			f = finding{Text: text}
			if err != nil {
				f.Err = err.Error()
			}
		}
		f.Millis = time.Since(start).Milliseconds()
		line, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s%s\n", findingMark, line)
	}
	return 0
}

// gaveUp is the end of an act that waited in vain.
type gaveUp string

// acting is the test that an act waits in.
type acting struct{}

func (acting) Helper() {}

func (acting) Fatalf(format string, args ...any) { panic(gaveUp(fmt.Sprintf(format, args...))) }

// attempt does an act, which fails when it waits in vain.
func attempt(do func([]string) (string, error), args []string) (text string, err error) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case gaveUp:
			err = errors.New(string(why))
		default:
			panic(why)
		}
	}()
	return do(args)
}

func repertoire() map[string]func([]string) (string, error) {
	return map[string]func([]string) (string, error){
		"tcp":      func(a []string) (string, error) { return tcp(a[0], []byte(a[1]), false) },
		"halfopen": func(a []string) (string, error) { return tcp(a[0], []byte(a[1]), true) },
		"bytes":    rawBytes,
		"https":    httpsAct,
		"http":     func(a []string) (string, error) { return tcp(a[0], []byte(plainRequest(a[1])), false) },
		"hello":    func(a []string) (string, error) { return helloAct(a[0], a[1]) },
		"ask":      ask,
		"lookup":   lookup,
		"udp":      udp,
		"ping":     ping,
		"twice":    twice,
		"get":      get,
		"socket":   socketAct,
		"option":   optionAct,
		"route":    routeAct,
		"bind":     bindAct,
		"abstract": abstractAct,
		"many":     many,
		"loris":    loris,
		"keep":     keeping,
		"flood":    flood,
		"listen":   listenAct,
		"upgrade":  upgradeAct,
		"outlive":  outlive,
		"until":    until,
		"hold":     hold,
		"often":    often,
	}
}

func plainRequest(host string) string {
	return "GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"
}

func dial(to string) (*net.TCPConn, error) {
	c, err := net.DialTimeout("tcp", to, patience)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), c.SetDeadline(time.Now().Add(patience))
}

// tcp sends bytes and gives everything that comes back.
func tcp(to string, send []byte, shut bool) (string, error) {
	c, err := dial(to)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Write(send); err != nil {
		return "", err
	}
	if shut {
		if err := c.CloseWrite(); err != nil {
			return "", err
		}
	}
	b, err := io.ReadAll(io.LimitReader(c, 64<<10))
	return string(b), err
}

// rawBytes is tcp with bytes that are written in base64, in pieces. Each but the last is answered before
// the next is sent.
func rawBytes(a []string) (string, error) {
	c, err := dial(a[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	var b []byte
	for i, piece := range a[1:] {
		send, err := base64.StdEncoding.DecodeString(piece)
		if err != nil {
			return "", err
		}
		if i > 0 {
			answer := make([]byte, 64)
			n, err := c.Read(answer)
			if b = append(b, answer[:n]...); err != nil {
				return hex.EncodeToString(b[:min(len(b), 16)]) + string(b), err
			}
		}
		if _, err := c.Write(send); err != nil {
			return "", err
		}
	}
	rest, err := io.ReadAll(io.LimitReader(c, 64<<10))
	b = append(b, rest...)
	return hex.EncodeToString(b[:min(len(b), 16)]) + string(b), err
}

// httpsAct asks a server for / with a server name and a Host, which is the same name
// unless a third is given.
func httpsAct(a []string) (string, error) {
	c, err := dial(a[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	s := tls.Client(c, &tls.Config{ServerName: a[1], InsecureSkipVerify: true})
	if err := s.Handshake(); err != nil {
		return "", err
	}
	if _, err := io.WriteString(s, plainRequest(a[len(a)-1])); err != nil {
		return "", err
	}
	b, err := io.ReadAll(s)
	return string(b), err
}

// ask puts a question to a server of names.
func ask(a []string) (string, error) {
	query, err := question(a[2], a[3])
	if err != nil {
		return "", err
	}
	c, err := net.DialTimeout(a[1], a[0], patience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	reply := make([]byte, 4096)
	if a[1] == "tcp" {
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)); err != nil {
			return "", err
		}
		if _, err := io.ReadFull(c, reply[:2]); err != nil {
			return "", err
		}
		reply = reply[:binary.BigEndian.Uint16(reply)]
		if _, err := io.ReadFull(c, reply); err != nil {
			return "", err
		}
		return told(reply)
	}
	if _, err := c.Write(query); err != nil {
		return "", err
	}
	n, err := c.Read(reply)
	if err != nil {
		return "", err
	}
	return told(reply[:n])
}

// question is a query; the type is A, AAAA or a number.
func question(name, kind string) ([]byte, error) {
	types := map[string]dnsmessage.Type{"A": dnsmessage.TypeA, "AAAA": dnsmessage.TypeAAAA, "TXT": dnsmessage.TypeTXT}
	t, ok := types[kind]
	if !ok {
		n, err := strconv.Atoi(kind)
		if err != nil {
			return nil, err
		}
		t = dnsmessage.Type(n)
	}
	if !strings.HasSuffix(name, ".") {
		name += "."
	}
	full, err := dnsmessage.NewName(name)
	if err != nil {
		return nil, err
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: full, Type: t,
		Class: dnsmessage.ClassINET}}}
	return m.Pack()
}

// told is what a reply says, in words.
func told(reply []byte) (string, error) {
	var m dnsmessage.Message
	if err := m.Unpack(reply); err != nil {
		return "", err
	}
	words := []string{m.RCode.String()}
	for _, r := range m.Answers {
		switch b := r.Body.(type) {
		case *dnsmessage.AResource:
			words = append(words, net.IP(b.A[:]).String())
		case *dnsmessage.AAAAResource:
			words = append(words, net.IP(b.AAAA[:]).String())
		default:
			words = append(words, fmt.Sprint(r.Header.Type))
		}
	}
	return strings.Join(words, " "), nil
}

// lookup resolves as programs do.
func lookup(a []string) (string, error) {
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	list, err := net.DefaultResolver.LookupHost(ctx, a[0])
	slices.Sort(list)
	return strings.Join(list, " "), err
}

func udp(a []string) (string, error) {
	c, err := net.Dial("udp", a[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, a[1]); err != nil {
		return "", err
	}
	b := make([]byte, 2048)
	n, err := c.Read(b)
	return string(b[:n]), err
}

// ping sends an echo request as an ordinary user may.
func ping(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet4{}
	copy(to.Addr[:], net.ParseIP(a[0]).To4())
	if err := unix.Sendto(fd, []byte{8, 0, 0, 0, 0, 0, 0, 1}, 0, to); err != nil {
		return "", err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return "", err
	}
	b := make([]byte, 64)
	if _, _, err := unix.Recvfrom(fd, b, 0); err != nil {
		return "", err
	}
	return "answered", nil
}

// twice puts two requests with two hosts on one connection, the second when the
// first was answered.
func twice(a []string) (string, error) {
	c, err := dial(a[0])
	if err != nil {
		return "", err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	text := ""
	for _, host := range a[1:] {
		if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
			return text, err
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return text, err
		}
		b, err := io.ReadAll(resp.Body)
		text += fmt.Sprintf("%d %s", resp.StatusCode, b)
		if err != nil {
			return text, err
		}
	}
	return text, nil
}

// get fetches an address with Go's own client, which heeds proxies.
func get(a []string) (string, error) {
	tr := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	resp, err := (&http.Client{Transport: tr, Timeout: 2 * patience}).Get(a[0])
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if len(b) > 1000 {
		return fmt.Sprintf("%d with %d bytes", resp.StatusCode, len(b)), err
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, b), err
}
