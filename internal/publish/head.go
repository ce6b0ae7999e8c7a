package publish

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/egress/protocol"
)

// maxHead bounds the head of a request and of an answer.
const maxHead = 64 << 10

// field is a line of a head.
type field struct{ name, value string }

func (f field) is(name string) bool { return strings.EqualFold(f.name, name) }

func (f field) oneOf(names []string) bool { return slices.ContainsFunc(names, f.is) }

// readBlock reads a head to its empty line. Lines end with CR LF.
func readBlock(r *bufio.Reader) ([]byte, error) {
	var block []byte
	scan := protocol.HeadScan{Limit: maxHead}
	for {
		line, err := r.ReadSlice('\n')
		block = append(block, line...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return block, err
		}
		if n, err := scan.Find(block); err != nil || n > 0 {
			return block, err
		}
	}
}

// perHop are the fields that are about one connection and not about the request.
var perHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer", "Upgrade", "HTTP2-Settings"}

// requestFor is the head of a request as the server gets it: without our cookie, and with
// what is about this connection instead of that of the browser.
func requestFor(h *protocol.Head, cookies []string, upgrade bool, b body) []byte {
	drop := append(slices.Clone(perHop), "Cookie", "Content-Length", "Transfer-Encoding")
	for _, value := range h.All("Connection") {
		for _, name := range strings.Split(value, ",") {
			drop = append(drop, strings.Trim(name, " \t"))
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\n", h.Method, h.Target)
	for _, f := range h.Fields {
		if !(field{f.Name, f.Value}).oneOf(drop) || strings.EqualFold(f.Name, "Host") {
			fmt.Fprintf(&out, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	if len(cookies) > 0 {
		fmt.Fprintf(&out, "Cookie: %s\r\n", strings.Join(cookies, "; "))
	}
	switch {
	case upgrade:
		out.WriteString("Connection: Upgrade\r\nUpgrade: websocket\r\n")
	case b.chunked:
		out.WriteString("Connection: close\r\nTransfer-Encoding: chunked\r\n")
	case b.stated:
		fmt.Fprintf(&out, "Connection: close\r\nContent-Length: %d\r\n", b.length)
	default:
		out.WriteString("Connection: close\r\n")
	}
	out.WriteString("\r\n")
	return []byte(out.String())
}

// upgrades reports whether a request asks for a WebSocket. Any other protocol is not relayed.
func upgrades(h *protocol.Head) bool {
	wanted := h.All("Upgrade")
	if h.Method != "GET" || h.Minor == 0 || len(wanted) != 1 || !strings.EqualFold(wanted[0], "websocket") {
		return false
	}
	return named(h.All("Connection"), "upgrade")
}

// closes reports whether no request follows.
func closes(h *protocol.Head) bool { return h.Minor == 0 || named(h.All("Connection"), "close") }

// named reports whether a word is in comma-separated lists.
func named(values []string, word string) bool {
	for _, value := range values {
		for _, one := range strings.Split(value, ",") {
			if strings.EqualFold(strings.Trim(one, " \t"), word) {
				return true
			}
		}
	}
	return false
}

// answer is the head of what a server says.
type answer struct {
	code   int
	reason string
	fields []field
}

var errNotHTTP = errors.New("the server in the worker did not answer in HTTP/1")

// readAnswer reads the head of an answer.
func readAnswer(r *bufio.Reader) (*answer, error) {
	block, err := readBlock(r)
	if err != nil {
		if len(block) > 0 {
			err = errNotHTTP
		}
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(block), "\r\n\r\n"), "\r\n")
	version, rest, _ := strings.Cut(lines[0], " ")
	digits, reason, _ := strings.Cut(rest, " ")
	code, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 3 || code < 100 || version != "HTTP/1.1" && version != "HTTP/1.0" {
		return nil, errNotHTTP
	}
	a := &answer{code: code, reason: reason}
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !token(name) {
			return nil, errNotHTTP
		}
		a.fields = append(a.fields, field{name, strings.Trim(value, " \t")})
	}
	return a, nil
}

func token(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }) < 0
}

func (a *answer) all(name string) (values []string) {
	for _, f := range a.fields {
		if f.is(name) {
			values = append(values, f.value)
		}
	}
	return values
}

// elsewhere are the fields that would have the browser talk to other servers.
var elsewhere = []string{"Alt-Svc", "NEL", "Report-To", "Reporting-Endpoints", "Set-Cookie2", "Content-Security-Policy-Report-Only"}

// bytesFor is the head as the browser gets it.
func (a *answer) bytesFor(p *port, more ...string) []byte {
	drop := slices.Concat(perHop, elsewhere, []string{"Content-Length", "Transfer-Encoding"})
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", a.code, a.reason)
	for _, f := range a.fields {
		switch {
		case f.is("Set-Cookie"):
			if f.value = cleanCookie(f.value); f.value == "" {
				continue
			}
		case f.is("Content-Security-Policy"):
			f.value = withoutReports(f.value)
		case f.is("Location"):
			f.value = p.homeward(f.value)
		case f.oneOf(drop):
			continue
		}
		fmt.Fprintf(&out, "%s: %s\r\n", f.name, f.value)
	}
	fmt.Fprintf(&out, "Content-Security-Policy: %s\r\n", p.site.csp)
	for _, line := range more {
		out.WriteString(line + "\r\n")
	}
	out.WriteString("\r\n")
	return []byte(out.String())
}

// cleanCookie is a cookie for the exact name of the page, or "" if it has the name of ours.
func cleanCookie(value string) string {
	parts := strings.Split(value, ";")
	name, _, has := strings.Cut(parts[0], "=")
	if name = strings.Trim(name, " \t"); !has || name == "" || strings.EqualFold(name, cookieName) {
		return "" // one without a name is sent like one with the name that its value begins with
	}
	kept := slices.DeleteFunc(parts, func(attribute string) bool {
		key, _, _ := strings.Cut(attribute, "=")
		return strings.EqualFold(strings.Trim(key, " \t"), "domain")
	})
	return strings.Join(kept, ";")
}

// withoutReports is a policy of the server's own that sends no reports to anybody.
func withoutReports(value string) string {
	policies := strings.Split(value, ",")
	for i, policy := range policies {
		kept := slices.DeleteFunc(strings.Split(policy, ";"), func(directive string) bool {
			name, _, _ := strings.Cut(strings.Trim(directive, " \t")+" ", " ")
			return strings.HasPrefix(strings.ToLower(name), "report-")
		})
		policies[i] = strings.Join(kept, ";")
	}
	return strings.Join(policies, ",")
}

// homeward leads a redirect to the server's own name in the cell back to the page.
func (p *port) homeward(location string) string {
	for _, host := range []string{"localhost", "127.0.0.1", "0.0.0.0", "[::1]"} {
		path, ok := strings.CutPrefix(location, fmt.Sprintf("http://%s:%d", host, p.number))
		if ok && (path == "" || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "?")) {
			return "http://" + p.authority + path
		}
	}
	return location
}

// policyOfPages keeps pages from loading from and sending to other servers than the lease
// names, for the browser has the operator's network.
func policyOfPages(ports []*port, sources []string) string {
	allowed := []string{"'self'"}
	for _, p := range ports {
		allowed = append(allowed, "http://"+p.authority, "ws://"+p.authority)
	}
	list := strings.Join(append(allowed, sources...), " ")
	return "default-src " + list + " 'unsafe-inline' 'unsafe-eval' data: blob:; form-action " + list + "; frame-ancestors 'self'; webrtc 'block'"
}
