package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// part is another process of a measurement: a server, a proxy, a client.
type part struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// newPart starts this program as another one. It ends with its input.
func newPart(self string, args ...string) (*part, error) {
	cmd := exec.Command(self, append([]string{"net"}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &part{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (p *part) end() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// words is the line that it says.
func (p *part) words(into ...any) error {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return err
	}
	_, err = fmt.Sscan(line, into...)
	return err
}

// ask puts a question to a client.
func (p *part) ask(q question) (reply, error) {
	var r reply
	if err := json.NewEncoder(p.in).Encode(q); err != nil {
		return r, err
	}
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err == nil && r.Error != "" && r.Failed == 0 {
		err = fmt.Errorf("%s %s: %s", q.Act, q.Route.To, r.Error)
	}
	return r, err
}

// spent is the processor time that it has used.
func (p *part) spent() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system time.Duration
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, err
	}
	const tick = 10 * time.Millisecond // for every program that looks there, whatever the kernel's is
	return (user + system) * tick, nil
}

// memory is a line of what the kernel says of it, in bytes; 0 when it says nothing.
func (p *part) memory(key string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\n"+key+":")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}

// way is one that is measured.
type way struct {
	name   string
	client *part
	route  route
	relay  *part // what stands between; nil: nothing
	figures
	moved map[string]*moved
}

// moved is what streams in one direction came to.
type moved struct {
	bits      float64
	took, cpu time.Duration
	rates     []float64 // of each stream
}

// theatre is all that a measurement needs.
type theatre struct {
	dir, self, cordon  string
	server, proxy      *part
	outside, inside    *part  // clients
	at, names, through string // the server's streams and datagrams, the proxy
	ways               []*way
	rounds, turns      int
}

// nets measures the network of a cell against plain loopback and a proxy. The
// targets: at least 2 Gbit in a second of one core, a connection at most 1 ms above
// a direct one, and at most 2 MB for a cell that idles.
func nets(rounds, turns int) (err error) {
	t := &theatre{rounds: rounds, turns: turns}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.build(); err != nil {
		return err
	}
	describe()
	for _, measured := range []func() error{t.streamsAndConnections, t.many, t.nameQueries, t.idleCells, t.startsOfCells} {
		if err := measured(); err != nil {
			return err
		}
	}
	return nil
}

func (t *theatre) build() (err error) {
	if t.dir, err = place(); err != nil {
		return err
	}
	t.self, t.cordon = filepath.Join(t.dir, "bench"), filepath.Join(t.dir, "cordon")
	if err := errors.Join(build(t.self, "./bench"), build(t.cordon, "./cmd/cordon")); err != nil {
		return err
	}
	if t.server, err = newPart(t.self, "serve"); err != nil {
		return err
	}
	if err := t.server.words(&t.at, &t.names); err != nil {
		return err
	}
	if t.proxy, err = newPart(t.self, "proxy"); err != nil {
		return err
	}
	if err := t.proxy.words(&t.through); err != nil {
		return err
	}
	if t.outside, err = newPart(t.self, "ask"); err != nil {
		return err
	}
	if t.inside, err = newPart(t.self, "one", filepath.Join(t.dir, "work"), t.at); err != nil {
		return err
	}
	t.ways = t.everyWay()
	return nil
}

func (t *theatre) close() error {
	var errs []error
	for _, p := range []*part{t.inside, t.outside, t.proxy, t.server} {
		if p != nil {
			errs = append(errs, p.end())
		}
	}
	if t.dir != "" {
		errs = append(errs, os.RemoveAll(t.dir)) // made by place
	}
	return errors.Join(errs...)
}

// everyWay is how the server is reached.
func (t *theatre) everyWay() []*way {
	list := []*way{
		{name: "plain loopback", client: t.outside, route: route{To: t.at}},
		{name: "a plain CONNECT proxy", client: t.outside, route: route{To: t.at, Proxy: t.through}, relay: t.proxy},
		{name: "cell: a host port", client: t.inside, route: route{To: t.at}, relay: t.inside},
		{name: "cell: an address", client: t.inside, route: route{To: fmt.Sprint(netip.AddrPortFrom(netip.MustParseAddr(allowedAddr), addrPort))}, relay: t.inside},
		{name: "cell: a name, TLS", client: t.inside, route: route{To: allowedName + ":443", Name: allowedName, TLS: true}, relay: t.inside},
		{name: "cell: a name, HTTP", client: t.inside, route: route{To: allowedName + ":80", Name: allowedName}, relay: t.inside},
	}
	for _, w := range list {
		w.figures, w.moved = figures{}, map[string]*moved{"download": {}, "upload": {}}
	}
	return list
}

// streamsAndConnections measures both in turns: a cell has to wait when it opens
// more than some hundred connections in a second.
func (t *theatre) streamsAndConnections() error {
	for range t.turns {
		for _, w := range t.ways {
			if err := errors.Join(w.connects(200), w.streams("download"), w.streams("upload")); err != nil {
				return err
			}
		}
	}
	t.showStreams()
	t.showConnections()
	return nil
}

func (w *way) connects(n int) error {
	r, err := w.client.ask(question{Act: "connect", Route: w.route, Count: n})
	w.at("connected").times = append(w.at("connected").times, r.Connected...)
	w.at("first").times = append(w.at("first").times, r.First...)
	return err
}

// streams measures one, with the processor time of what stands between.
func (w *way) streams(act string) error {
	before, err := w.cpu()
	if err != nil {
		return err
	}
	r, err := w.client.ask(question{Act: act, Route: w.route, For: time.Second})
	if err != nil {
		return err
	}
	after, err := w.cpu()
	m := w.moved[act]
	bits := float64(r.Bytes) * 8
	m.bits, m.took, m.cpu = m.bits+bits, m.took+r.Took, m.cpu+after-before
	m.rates = append(m.rates, bits/r.Took.Seconds())
	return err
}

func (w *way) cpu() (time.Duration, error) {
	if w.relay == nil {
		return 0, nil
	}
	return w.relay.spent()
}
