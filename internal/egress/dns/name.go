package dns

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"cordon/internal/egress/target"
)

// judge decides what a query is answered, or names the name of the lease that is to
// be looked up for it. A type of record that is not an address is answered with
// nothing at all, where the name has an address: there are no records for services
// that would hide a server's name, and no texts.
func (d *Server) judge(q *query) (r reply, lookup string) {
	name := q.name()
	switch {
	case q.question.Class != dnsmessage.ClassINET:
		return reply{code: dnsmessage.RCodeRefused}, ""
	case name == "":
		return reply{}, "" // that the root does not exist would be true of all
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return q.addressed(netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback(), reply{ttl: allowedTTL}), ""
	case name == "arpa" || strings.HasSuffix(name, ".arpa"):
		return d.judgeReverse(q, name), ""
	case !target.IsHostName(name):
		return d.deny(q, name, "it is not the name of a machine"), ""
	case d.reach.KnowsName(name):
		if !q.wantsAddress() {
			name = ""
		}
		return reply{}, name
	}
	if why := target.WhyReserved(name); why != "" {
		return d.deny(q, name, why), ""
	}
	return d.judgeRefused(q, name), ""
}

// judgeRefused gives a name that is refused an address too, so that the reason
// reaches who connects to it.
func (d *Server) judgeRefused(q *query, name string) reply {
	if name == canary || d.isService(name) {
		return reply{code: dnsmessage.RCodeNameError}
	}
	why := name + " is not in network.allowed_domains"
	if d.reach.KnowsName("any." + name) {
		why += " (only names below it are)"
	}
	v4, v6, ok := d.book.Addresses(name, true)
	if !ok {
		return d.deny(q, name, why)
	}
	d.refused(name, why)
	return q.addressed(v4, v6, reply{ttl: refusedTTL, why: why})
}

// canary is asked for by browsers that want to resolve names by HTTPS: if it does
// not exist, they leave that.
const canary = "use-application-dns.net"

// isService reports whether a name is that of a service of a name of the lease, as
// _http._tcp is of some. There is none; that is no attempt at anything.
func (d *Server) isService(name string) bool {
	host := name
	for strings.HasPrefix(host, "_") {
		_, host, _ = strings.Cut(host, ".")
	}
	return host != name && d.reach.KnowsName(host)
}

// deny answers that a name does not exist, and tells of it.
func (d *Server) deny(q *query, name, why string) reply {
	if !isNoise(q, name) {
		d.refused(printable(name), why)
	}
	return reply{code: dnsmessage.RCodeNameError, why: why}
}

// isNoise reports whether a query is one that programs make of themselves, without
// anybody who wants to reach something.
func isNoise(q *query, name string) bool {
	return q.question.Type == dnsmessage.TypePTR || q.question.Type == dnsmessage.TypeSOA && name == "local"
}

// judgeReverse answers what name an address has, for those that got theirs here.
func (d *Server) judgeReverse(q *query, name string) reply {
	a, ok := reversed(name)
	if !ok {
		return reply{code: dnsmessage.RCodeNameError}
	}
	known, ok := d.book.Name(a)
	if a.IsLoopback() {
		known, ok = "localhost", true
	}
	switch {
	case !ok:
		return reply{code: dnsmessage.RCodeNameError}
	case q.question.Type != dnsmessage.TypePTR:
		return reply{}
	}
	return reply{name: known, ttl: allowedTTL}
}

// printable is a name in a form that can be shown: it may hold anything.
func printable(name string) string {
	if target.IsHostName(name) {
		return name
	}
	s := strings.Trim(strconv.QuoteToASCII(name), `"`)
	return s[:min(len(s), 253)]
}
