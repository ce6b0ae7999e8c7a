package testnet

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Question is one that the server of names was asked.
type Question struct {
	Name string // as it came, without the dot at its end
	Type dnsmessage.Type
	TCP  bool
}

// Names is the server of names, and the zone it answers from.
type Names struct {
	mu    sync.Mutex
	zone  map[string]func(asked int) []netip.Addr
	count map[string]int
	log   []Question
}

func newNames() *Names {
	return &Names{zone: map[string]func(int) []netip.Addr{}, count: map[string]int{}}
}

// Set gives a name its addresses; without any it exists and has none.
func (n *Names) Set(name string, addrs ...string) {
	list := parse(addrs)
	n.Answer(name, func(int) []netip.Addr { return list })
}

// Answer gives a name addresses that depend on how often they were asked for, by
// type. A name that begins with "*." stands for every name below it.
func (n *Names) Answer(name string, answer func(asked int) []netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.zone[strings.ToLower(name)] = answer
}

// Asked is every question that came, in order.
func (n *Names) Asked() []Question {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.log)
}

// AskedBelow counts the questions about a name and those below it.
func (n *Names) AskedBelow(name string) int {
	count := 0
	for _, q := range n.Asked() {
		asked := strings.ToLower(q.Name)
		if asked == name || strings.HasSuffix(asked, "."+name) {
			count++
		}
	}
	return count
}

func parse(addrs []string) []netip.Addr {
	list := []netip.Addr{}
	for _, a := range addrs {
		list = append(list, netip.MustParseAddr(a))
	}
	return list
}

// addresses are those of a question, which is kept.
func (n *Names) addresses(q Question) (list []netip.Addr, exists bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log = append(n.log, q)
	name := strings.ToLower(q.Name)
	answer, exists := n.zone[name]
	for at := name; !exists && strings.Contains(at, "."); {
		_, at, _ = strings.Cut(at, ".")
		answer, exists = n.zone["*."+at]
	}
	if !exists {
		return nil, false
	}
	key := name + q.Type.String()
	n.count[key]++
	return answer(n.count[key] - 1), true
}

// answer is the reply to a query; nil is none.
func (n *Names) answer(query []byte, tcp bool) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	addrs, exists := n.addresses(Question{strings.TrimSuffix(q.Name.String(), "."), q.Type, tcp})
	reply := dnsmessage.Header{ID: head.ID, Response: true, Authoritative: true, RecursionDesired: head.RecursionDesired, RecursionAvailable: true}
	if !exists {
		reply.RCode = dnsmessage.RCodeNameError
	}
	return build(reply, q, addrs)
}

// build writes a reply. What cannot be built is a bug of the test's.
func build(head dnsmessage.Header, q dnsmessage.Question, addrs []netip.Addr) []byte {
	m := dnsmessage.Message{Header: head, Questions: []dnsmessage.Question{q}}
	for _, a := range addrs {
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// serveNames answers at port 53 of every address.
func (n *Net) serveNames() error {
	if err := n.Serve(":53", n.namesTCP); err != nil {
		return err
	}
	return n.ServeUDP(":53", func(query []byte) []byte { return n.Names.answer(query, false) })
}

func (n *Net) namesTCP(c net.Conn) {
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		reply := n.Names.answer(query, true)
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// ServeUDP answers packets, from the address that each was sent to.
func (n *Net) ServeUDP(at string, answer func([]byte) []byte) error {
	addr, err := net.ResolveUDPAddr("udp", at)
	if err != nil {
		return err
	}
	c, err := net.ListenUDP("udp", addr)
	if err != nil {
		return err
	}
	n.atEnd(func() { c.Close() })
	if err := tellTarget(c); err != nil {
		return err
	}
	go func() {
		buf, told := make([]byte, 64<<10), make([]byte, 256)
		for {
			size, extra, _, from, err := c.ReadMsgUDP(buf, told)
			if err != nil {
				return
			}
			if reply := answer(buf[:size]); reply != nil {
				_, _, _ = c.WriteMsgUDP(reply, told[:extra], from) // what is lost is lost: it is UDP
			}
		}
	}()
	return nil
}
