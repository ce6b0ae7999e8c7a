package publish

import (
	"strings"

	"cordon/internal/egress/protocol"
)

// judge decides about a request: nil lets it pass. cookies are those that go on to the
// server.
func (p *port) judge(h *protocol.Head) (refused *reply, cookies []string) {
	for _, check := range []func(*protocol.Head) *reply{p.checkForm, p.checkHost} {
		if r := check(h); r != nil {
			return r, nil
		}
	}
	cookies, entered := p.site.entries.splitCookies(h.All("Cookie"))
	if token, ok := strings.CutPrefix(h.Target, enterPath); ok {
		return p.enter(h, token, entered), nil
	}
	if !entered {
		return say("403 Forbidden", "This page belongs to a worker of cordon. Type cordon open to get an address that opens it."), nil
	}
	return p.checkSource(h), cookies
}

// checkForm refuses requests that are not for a path of a server.
func (p *port) checkForm(h *protocol.Head) *reply {
	switch {
	case h.Method == "CONNECT" || h.Method == "TRACE":
		return say("405 Method Not Allowed", "cordon does not relay "+h.Method+".")
	case !strings.HasPrefix(h.Target, "/"):
		return say("400 Bad Request", "cordon relays requests for paths only.")
	}
	return nil
}

// checkHost refuses requests for any other name: a page whose name was led to the loopback
// has its own name in it.
func (p *port) checkHost(h *protocol.Head) *reply {
	if hosts := h.All("Host"); len(hosts) != 1 || hosts[0] != p.authority {
		return say("421 Misdirected Request", "Nothing is published under this name.")
	}
	return nil
}

// checkSource refuses requests that a page of another site caused. Its requests have no
// cookie where browsers know SameSite; this is the second wall.
func (p *port) checkSource(h *protocol.Head) *reply {
	sites := h.All("Sec-Fetch-Site")
	for _, site := range sites {
		if site != "same-origin" && site != "same-site" && site != "none" {
			return foreign()
		}
	}
	within := len(sites) == 1 && sites[0] == "same-origin"
	for _, origin := range h.All("Origin") {
		if !p.site.has(origin) && (origin != "null" || !within) { // a page without a referrer says null of itself
			return foreign()
		}
	}
	return nil
}

func foreign() *reply {
	return say("403 Forbidden", "A page of another site caused this request, and cordon does not relay it.")
}

// has reports whether an origin is one of the worker's own.
func (s *Site) has(origin string) bool {
	for _, p := range s.ports {
		if origin == "http://"+p.authority {
			return true
		}
	}
	return false
}

// enter answers whoever has an address of a port. A browser that came from another page
// would not send the cookie along if it were redirected; it is told to go on by itself.
func (p *port) enter(h *protocol.Head, token string, entered bool) *reply {
	if h.Method != "GET" {
		return say("405 Method Not Allowed", "Open this address with a browser.")
	}
	if !p.site.entries.use(token) && !entered {
		return say("403 Forbidden", "This address was used already, or is not valid. Type cordon open to get another one.")
	}
	r := &reply{
		status: "303 See Other", kind: "text/html; charset=utf-8",
		fields: []string{"Location: /", "Set-Cookie: " + p.site.entries.setCookie(), "Referrer-Policy: no-referrer"},
		text:   `<!doctype html><meta http-equiv="refresh" content="0;url=/"><a href="/">Open the page</a>` + "\n",
	}
	if sites := h.All("Sec-Fetch-Site"); len(sites) > 0 && sites[0] != "none" {
		r.status, r.fields = "200 OK", r.fields[1:]
	}
	return r
}
