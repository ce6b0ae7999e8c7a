package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Net is a network for a cell. Its namespace stays connected to nothing: what it
// has are sockets that are opened in it before the worker runs and that somebody
// outside serves.
type Net struct {
	Ports []uint16 `json:"ports,omitempty"` // TCP, listened to at every address
	Host  []uint16 `json:"host,omitempty"`  // TCP, listened to at the cell's loopback
	// Anywhere makes every address lead to this cell itself, so that programs need
	// to know nothing, and listens for names at port 53. Otherwise programs are told
	// of a proxy by the usual variables.
	Anywhere bool `json:"anywhere,omitempty"`
	// Names is of a cell that reaches nothing: it listens for names at port 53 of the
	// loopback, so that programs hear that there are none, and has nothing else.
	Names bool `json:"names,omitempty"`
	// Spare is of a network that leads nowhere and only shows what is tried: a cell that
	// cannot have it is no weaker without it.
	Spare bool `json:"-"`
}

// NamePort is where names are asked for.
const NamePort = 53

// Wide are the ports that are listened to at every address.
func (n Net) Wide() []uint16 {
	if !n.Anywhere {
		return nil
	}
	return distinct(append(slices.Clone(n.Ports), NamePort))
}

// Narrow are those that are listened to at the loopback only.
func (n Net) Narrow() []uint16 {
	wide := n.Wide()
	return slices.DeleteFunc(distinct(n.Host), func(p uint16) bool { return slices.Contains(wide, p) })
}

func distinct(ports []uint16) []uint16 {
	list := slices.Clone(ports)
	slices.Sort(list)
	return slices.Compact(list)
}

// FreePort is the first port from one on that nothing in a network listens to.
func FreePort(from uint16, n Net) uint16 {
	for slices.Contains(n.Wide(), from) || slices.Contains(n.Host, from) {
		from++
	}
	return from
}

// MaxPorts bounds what one cell listens to: each costs descriptors, here and where
// it is served.
const MaxPorts = 256

// listensToPorts refuses what is no port, and too many.
func listensToPorts(o Order) error {
	if o.Net == nil {
		return nil
	}
	if slices.Contains(o.Net.Ports, 0) || slices.Contains(o.Net.Host, 0) {
		return errors.New("0 is not a port")
	}
	if n := len(o.Net.Ports) + len(o.Net.Host); n > MaxPorts {
		return fmt.Errorf("a network with %d ports, but a cell listens to at most %d", n, MaxPorts)
	}
	return nil
}

// proxyPort is where programs find a proxy that they are told of, unless the
// operator's machine is reached there.
const proxyPort = 3128

// elsewhere is a port that nobody listens to, unless it is leased.
const elsewhere = 9

// network puts the network of an order into a plan that has its layers.
func (s *Spec) network(o Order) {
	s.Inward = o.Inward && s.Has(Namespaces) // elsewhere its ports are the machine's
	if o.Net == nil {
		return
	}
	n := *o.Net
	if n.Names {
		if s.Has(Namespaces) { // the loopback of the host has a resolver of its own
			s.Net = &n
		}
		return
	}
	n.Anywhere = s.Has(Network)
	s.Net, s.Env = &n, withoutProxies(s.Env)
	switch {
	case n.Anywhere:
		s.Proof.Elsewhere = FreePort(elsewhere, n)
	case s.Has(Namespaces):
		n.Ports = nil // nobody comes there
		s.TellProxy(FreePort(proxyPort, n), "")
	default:
		n.Ports = nil
		s.Dial = distinct(n.Host)
	}
}

// TellProxy tells programs of a proxy on the loopback.
func (s *Spec) TellProxy(port uint16, token string) {
	who := ""
	if token != "" {
		who = "cordon:" + token + "@"
	}
	at := fmt.Sprintf("%s127.0.0.1:%d", who, port)
	s.Proxy = port
	env := slices.Clone(s.Env)
	for _, v := range proxyVariables {
		value := v.scheme + at
		if v.scheme == "" {
			value = "localhost,127.0.0.1,::1"
		}
		env = append(env, v.name+"="+value, strings.ToUpper(v.name)+"="+value)
	}
	s.Env = env
}

// proxyVariables are what programs look at, in either case.
var proxyVariables = [...]struct{ name, scheme string }{
	{"http_proxy", "http://"}, {"https_proxy", "http://"}, {"all_proxy", "socks5h://"}, {"no_proxy", ""},
}

// withoutProxies takes out what tells of the operator's own proxy, which no cell
// reaches.
func withoutProxies(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		for _, v := range proxyVariables {
			if strings.EqualFold(name, v.name) {
				return true
			}
		}
		return false
	})
}
