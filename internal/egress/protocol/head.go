package protocol

import (
	"strconv"
	"strings"
)

// What a head is bounded by. Its length is maxOpening's.
const (
	longestMethod = 32
	maxFields     = 200
	maxTrailer    = 8 << 10
)

// HeadScan finds the end of a head, or of a trailer: the first empty line. Lines
// end with CR LF and have no other control character than a tab: where those are
// something else is what servers differ in.
type HeadScan struct {
	Limit int
	at    int // how much was looked at
	line  int // where the line begins
}

// Find is how long the head at the beginning of b is, 0 while it has no end. It is
// called again with the same bytes and more.
func (s *HeadScan) Find(b []byte) (int, error) {
	for ; s.at < len(b); s.at++ {
		c := b[s.at]
		if s.at >= s.Limit {
			return 0, Strangef("the head or trailer of the request is longer than %d KiB", s.Limit>>10)
		}
		ended := s.at > s.line && b[s.at-1] == '\r'
		switch {
		case ended != (c == '\n'):
			return 0, Strangef("a line of the request ends with a bare %s", bare(c))
		case ended && s.at == s.line+1:
			return s.at + 1, nil
		case ended:
			s.line = s.at + 1
		case c < ' ' && c != '\t' && c != '\r', c == 0x7f:
			return 0, Strangef("the head of the request has the control character 0x%02x", c)
		}
	}
	return 0, nil
}

func bare(c byte) string {
	if c == '\n' {
		return "LF"
	}
	return "CR"
}

// Head is that of a request, in its parts.
type Head struct {
	Method, Target string
	Minor          byte // of HTTP/1
	Fields         []field
}

type field struct{ Name, Value string }

// is compares the name of a field. Names are tokens, and so ASCII.
func (f field) is(name string) bool { return strings.EqualFold(f.Name, name) }

// ParseHead reads a whole head, as headScan found it.
func ParseHead(block []byte) (*Head, error) {
	line, rest, _ := strings.Cut(string(block), "\r\n")
	h, err := parseRequestLine(line)
	if err != nil {
		return nil, err
	}
	h.Fields, err = parseFields(rest)
	if err != nil {
		return nil, err
	}
	return h, nil
}

func parseRequestLine(line string) (*Head, error) {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	h := &Head{Method: method, Target: target}
	switch version {
	case "HTTP/1.1":
		h.Minor = 1
	case "HTTP/1.0":
	default:
		if strings.HasPrefix(version, "HTTP/2") {
			return nil, Strangef("it is HTTP/2 without TLS, whose requests are not checked here: use HTTP/1.1")
		}
		return nil, Strangef("the request line %.100q is not HTTP/1.0 or HTTP/1.1", line)
	}
	if method == "" || len(method) > longestMethod || strings.IndexFunc(method, notOfMethod) >= 0 {
		return nil, Strangef("the request's method %.100q is invalid", method)
	}
	if target == "" || strings.IndexFunc(target, notOfTarget) >= 0 {
		return nil, Strangef("the request's target %.100q is invalid", target)
	}
	return h, nil
}

func notOfMethod(r rune) bool { return (r < 'A' || r > 'Z') && r != '-' && r != '_' }
func notOfTarget(r rune) bool { return r <= ' ' || r >= 0x7f }

// parseFields reads the lines of a head after the first, or those of a trailer,
// with the empty line at their end.
func parseFields(block string) ([]field, error) {
	var fields []field
	for {
		line, rest, _ := strings.Cut(block, "\r\n")
		if line == "" {
			return fields, nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !token(name) {
			return nil, Strangef("the request has an invalid field: %.100q", line)
		}
		if ambiguous(name) {
			return nil, Strangef("the request has a field %.100q, which some servers read as another field", name)
		}
		if len(fields) == maxFields {
			return nil, Strangef("the request has more than %d fields", maxFields)
		}
		fields = append(fields, field{name, strings.Trim(value, " \t")})
		block = rest
	}
}

// token reports whether s is one, as RFC 9110 has it. A line that continues the
// one before, and a name with a space behind it, are none.
func token(s string) bool {
	for i := range len(s) {
		if !tokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func tokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// ambiguous reports whether a name is, but for its underscores, one that decides
// what a request is for or where it ends: programs behind a gateway see no
// difference.
func ambiguous(name string) bool {
	return strings.Contains(name, "_") && decides(strings.ReplaceAll(name, "_", "-"))
}

func decides(name string) bool {
	for _, d := range [...]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "HTTP2-Settings", "Trailer", "TE", "Expect"} {
		if strings.EqualFold(name, d) {
			return true
		}
	}
	return false
}

// All is the values of every field of a name.
func (h *Head) All(name string) []string {
	var values []string
	for _, f := range h.Fields {
		if f.is(name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// host is the one that a request is for, clean, and its port where that is given.
func (h *Head) host() (name string, port uint16, err error) {
	hosts := h.All("Host")
	switch len(hosts) {
	case 0:
		return "", 0, Strangef("the request names no Host")
	case 1:
		return parseAuthority(hosts[0])
	}
	return "", 0, Strangef("the request names several Hosts")
}

// parseAuthority reads a name, or a name and a port. Addresses of IPv6, users and
// anything else that may stand there make it none.
func parseAuthority(s string) (name string, port uint16, err error) {
	host, digits, numbered := strings.Cut(s, ":")
	if numbered {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != digits {
			return "", 0, Strangef("the request is for %.300q, which is not a host name and port", s)
		}
		port = uint16(n)
	}
	name, err = wireName(host)
	if err != nil {
		return "", 0, Strangef("the request is for %.300q, which is not a host name", s)
	}
	return name, port, nil
}
