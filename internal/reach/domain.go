package reach

import (
	"cordon/internal/strictyaml"
	"net/netip"
	"strconv"
	"strings"
)

// Domain is one entry of allowed_domains, taken apart: a host name or a prefix.
type Domain struct {
	name   string       // clean
	below  bool         // names below it, and not itself
	prefix netip.Prefix // of one address, where one was written
	port   uint16       // 0: 80 and 443
}

// ParseDomain reads an entry of allowed_domains that is not a preset.
func ParseDomain(s string) (Domain, error) {
	if strings.Contains(s, "://") {
		return Domain{}, strictyaml.Fault(strconv.Quote(s)+" is a URL, not a host", "write the host alone, such as api.example.com")
	}
	host, port, err := splitPort(s)
	if err != nil {
		return Domain{}, err
	}
	d := Domain{port: port}
	if isAddress(host) {
		d.prefix, err = parsePrefix(s, host)
	} else {
		d.name, d.below, err = parseName(s, host)
	}
	if err != nil {
		return Domain{}, err
	}
	return d, nil
}

// String is the normal form, from which ParseDomain makes the same again.
func (d Domain) String() string {
	host := d.name
	switch {
	case d.below:
		host = "*." + host
	case d.prefix.IsSingleIP():
		host = d.prefix.Addr().String()
	case d.prefix.IsValid():
		host = d.prefix.String()
	}
	if d.port == 0 {
		return host
	}
	if d.prefix.IsValid() && d.prefix.Addr().Is6() {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(d.port))
}

// splitPort takes the port from the end, and the brackets from around what would
// otherwise run into it.
func splitPort(s string) (host string, port uint16, err error) {
	host, after, found := s, "", false
	if rest, bracket := strings.CutPrefix(s, "["); bracket {
		host, after, found = strings.Cut(rest, "]")
		if !found || !strings.Contains(host, ":") || after != "" && after[0] != ':' {
			return "", 0, strictyaml.Fault(strconv.Quote(s)+" is not an address with a port", "write [2001:db8::1]:443 or [2001:db8::/32]:443")
		}
		after, found = strings.CutPrefix(after, ":")
	} else if strings.Count(s, ":") == 1 {
		host, after, found = strings.Cut(s, ":")
	}
	if !found {
		return host, 0, nil
	}
	port, ok := ParsePort(after)
	if !ok {
		return "", 0, strictyaml.Fault(strconv.Quote(s)+" does not end in a port", "write host:1 to host:65535")
	}
	return host, port, CheckPort(port)
}

// ParsePort reads a port that is written in digits.
func ParsePort(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), isNumber(s) && err == nil
}

// CheckPort refuses the one port that is never passed on.
func CheckPort(port uint16) error {
	if port == 53 {
		return strictyaml.Fault("port 53 is never passed on: names are resolved by cordon itself", "leave it out")
	}
	return nil
}

// isAddress reports whether a text was meant as an address or a prefix: the last
// part of a name is never a number.
func isAddress(host string) bool {
	_, _, prefix := strings.Cut(host, "/")
	return strings.Contains(host, ":") || endsInNumber(host) || prefix && !strings.ContainsAny(host, "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ")
}

// parseName reads a host name with an optional *. before it. What holds of the
// names that programs ask for holds here too, and more: a policy must not open
// more than whoever reads it expects, nor what can never be resolved.
func parseName(s, host string) (name string, below bool, err error) {
	rest, below := strings.CutPrefix(host, "*.")
	switch {
	case host == "*":
		return "", false, strictyaml.Fault(strconv.Quote(s)+" is every host there is", "write the hosts, or *.example.com for those below one")
	case strings.Contains(rest, "*"):
		return "", false, strictyaml.Fault(strconv.Quote(s)+" has a * that is not its whole first part", "write *.example.com")
	case strings.Contains(rest, "/"):
		return "", false, strictyaml.Fault(strconv.Quote(s)+" is neither a host nor a prefix", "write the host alone, such as api.example.com, or 10.1.0.0/16")
	}
	if name, err = CleanName(rest); err != nil {
		return "", false, err
	}
	_, top, dotted := cutLast(name)
	switch {
	case top == "localhost":
		err = strictyaml.Fault(strconv.Quote(s)+" is this machine", "use network.host_ports")
	case top == "local" || top == "arpa":
		err = strictyaml.Fault(strconv.Quote(s)+" is not a name that cordon resolves", "write its address")
	case !dotted && below:
		err = strictyaml.Fault(strconv.Quote(s)+" is too wide", "write at least two parts after the *, such as *.example.com")
	case !dotted:
		err = strictyaml.Fault(strconv.Quote(s)+" has only one part", "write the whole name, such as api.example.com")
	}
	return name, below, err
}

// cutLast cuts a name before its last part.
func cutLast(name string) (before, last string, dotted bool) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:], i >= 0
}

// parsePrefix reads an address or a prefix, without its port.
func parsePrefix(s, host string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(host)
	if !strings.Contains(host, "/") {
		var a netip.Addr
		a, err = netip.ParseAddr(host)
		p = netip.PrefixFrom(a.WithZone(""), a.BitLen())
		if a.Zone() != "" {
			return netip.Prefix{}, strictyaml.Fault(strconv.Quote(s)+" has a zone", "an address of one link cannot be leased")
		}
	}
	if most := tooNarrow(host); err != nil && most > 0 {
		return netip.Prefix{}, strictyaml.Fault(strconv.Quote(s)+" is not a prefix", "one has at most "+strconv.Itoa(most)+" bits")
	}
	if err != nil {
		return netip.Prefix{}, strictyaml.Fault(strconv.Quote(s)+" is not an address",
			"write 203.0.113.7, 10.1.0.0/16, 2001:db8::1 or 2001:db8::/32, with a port as in 10.1.0.0/16:5432 or [2001:db8::1]:443")
	}
	return p, checkPrefix(s, p)
}

// tooNarrow is how many bits there can be, where a prefix has a number of more.
func tooNarrow(host string) int {
	at, bits, _ := strings.Cut(host, "/")
	a, err := netip.ParseAddr(at)
	if n, wrong := strconv.Atoi(bits); err == nil && wrong == nil && isNumber(bits) && n > a.BitLen() {
		return a.BitLen()
	}
	return 0
}

// checkPrefix refuses what cannot be reached by its address.
func checkPrefix(s string, p netip.Prefix) error {
	a := p.Addr()
	switch {
	case a.Is4In6():
		return strictyaml.Fault(strconv.Quote(s)+" is an IPv4 address in IPv6 form", "write it as IPv4: "+a.Unmap().String())
	case p != p.Masked():
		return strictyaml.Fault(strconv.Quote(s)+" has more bits than its prefix", "write "+p.Masked().String()+", or "+a.String()+" for the one address")
	case inside(p, known().loopback):
		return strictyaml.Fault(strconv.Quote(s)+" is this machine's loopback", "use network.host_ports")
	case inside(p, known().nowhere):
		return strictyaml.Fault(strconv.Quote(s)+" is not the address of a host", "")
	case inside(p, known().naming):
		return strictyaml.Fault(strconv.Quote(s)+" is where cordon puts the names that a worker resolves", "write the name")
	}
	return nil
}

// Meet is the entry that opens what both open, if there is something.
func (d Domain) Meet(b Domain) (Domain, bool) {
	both := Domain{}
	switch {
	case d.port == b.port, d.port == 0 && (b.port == 80 || b.port == 443):
		both.port = b.port
	case b.port == 0 && (d.port == 80 || d.port == 443):
		both.port = d.port
	default:
		return both, false
	}
	if d.prefix.IsValid() || b.prefix.IsValid() {
		both.prefix = narrower(d.prefix, b.prefix)
		return both, both.prefix.IsValid()
	}
	under := func(x, y Domain) bool { // all names of x are names of y
		return x.name == y.name && x.below == y.below || y.below && strings.HasSuffix(x.name, "."+y.name)
	}
	switch {
	case under(d, b):
		both.name, both.below = d.name, d.below
	case under(b, d):
		both.name, both.below = b.name, b.below
	default:
		return both, false
	}
	return both, true
}

// narrower is the one of two prefixes that lies in the other; the zero prefix if none does.
func narrower(a, b netip.Prefix) netip.Prefix {
	switch {
	case !a.IsValid() || !b.IsValid() || !a.Overlaps(b):
		return netip.Prefix{}
	case a.Bits() >= b.Bits():
		return a
	}
	return b
}
