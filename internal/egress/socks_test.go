package egress

import (
	"bytes"
	"io"
	"net/netip"
	"strings"
	"testing"
)

func TestSocks(t *testing.T) {
	const (
		ask     = "GET /s HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n"
		hello   = "\x05\x01\x00"
		shown   = "\x05\x01\x02\x01\x06cordon\x10" + testToken
		welcome = "\x05\x00"
		granted = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	)
	reply := func(code byte) string { return string(socksReply(code)) }
	for _, c := range []struct{ name, token, send, want, reason string }{
		{"a name", "", hello + "\x05\x01\x00\x03\x0cgood.example\x00\x50" + ask, welcome + granted + "HTTP/1.1 200", ""},
		{"a name in upper case", "", hello + "\x05\x01\x00\x03\x0dGOOD.example.\x00\x50" + ask, welcome + granted + "HTTP/1.1 200", ""},
		{"another name", "", hello + "\x05\x01\x00\x03\x0bbad.example\x00\x50", welcome + reply(2), "bad.example"},
		{"the name of another in its request", "", hello + "\x05\x01\x00\x03\x0cgood.example\x00\x50" + strings.Replace(ask, "good", "evil", 1), welcome + granted + "HTTP/1.1 403", "evil.example"},
		{"another port", "", hello + "\x05\x01\x00\x03\x0cgood.example\x00\x51", welcome + reply(2), "port 81"},
		{"an address", "", hello + "\x05\x01\x00\x01\x08\x08\x08\x08\x00\x50", welcome + reply(2), "8.8.8.8"},
		{"an address of IPv6", "", hello + "\x05\x01\x00\x04" + strings.Repeat("\x20", 16) + "\x00\x50", welcome + reply(2), "2020:2020"},
		{"a mapped loopback", "", hello + "\x05\x01\x00\x04" + strings.Repeat("\x00", 10) + "\xff\xff\x7f\x00\x00\x01\x00\x50", welcome + reply(2), "port 80 of this machine"},
		{"an address as a name", "", hello + "\x05\x01\x00\x03\x09127.0.0.1\x00\x50", welcome + reply(2), "port 80 of this machine"},
		{"a host port", "", hello + "\x05\x01\x00\x01\x7f\x00\x00\x01\x1e\x61" + ask, welcome + granted + "HTTP/1.1 200", ""},
		{"a name with a NUL", "", hello + "\x05\x01\x00\x03\x0dgood.example\x00\x00\x50", welcome + reply(2), "not a host name"},
		{"no name", "", hello + "\x05\x01\x00\x03\x00\x00\x50", welcome + reply(1), ""},
		{"port 0", "", hello + "\x05\x01\x00\x03\x0cgood.example\x00\x00", welcome + reply(1), ""},
		{"listening", "", hello + "\x05\x02\x00\x03\x0cgood.example\x00\x50", welcome + reply(7), ""},
		{"UDP", "", hello + "\x05\x03\x00\x01\x00\x00\x00\x00\x00\x50", welcome + reply(7), ""},
		{"another kind of address", "", hello + "\x05\x01\x00\x05abcdef", welcome + reply(8), ""},
		{"another version", "", hello + "\x04\x01\x00\x01abcdef", welcome + reply(1), ""},
		{"a token where there is none", "", shown + "\x05\x01\x00\x03\x0cgood.example\x00\x50" + ask, "\x05\x02\x01\x00" + granted + "HTTP/1.1 200", ""},
		{"no way", "", "\x05\x01\x01", "\x05\xff", ""},
		{"no ways", "", "\x05\x00", "\x05\xff", ""},

		{"the token", testToken, shown + "\x05\x01\x00\x03\x0cgood.example\x00\x50" + ask, "\x05\x02\x01\x00" + granted + "HTTP/1.1 200", ""},
		{"no token", testToken, hello + "\x05\x01\x00\x03\x0cgood.example\x00\x50" + ask, "\x05\xff", ""},
		{"another token", testToken, "\x05\x02\x00\x02\x01\x06cordon\x01x" + "\x05\x01\x00\x03\x0cgood.example\x00\x50", "\x05\x02\x01\x01", ""},
		{"an empty token", testToken, "\x05\x02\x00\x02\x01\x06cordon\x00" + "\x05\x01\x00\x03\x0cgood.example\x00\x50", "\x05\x02\x01\x01", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			lease := named
			lease.HostPorts = []int{7777}
			cell, at := proxyOf(t, lease, plainServer(t).Listener.Addr().String(), c.token)
			got := tellProxy(t, at, c.send)
			if !strings.HasPrefix(got, c.want) || !strings.Contains(c.want, "HTTP") && got != c.want {
				t.Errorf("answered %q, want %q", got, c.want)
			}
			if got := cell.refusals(); !strings.Contains(got, c.reason) || c.reason == "" && got != "" {
				t.Errorf("recorded %q, want %q", got, c.reason)
			}
		})
	}
}

// conversation is a client that does not wait for answers.
type conversation struct {
	io.Reader
	bytes.Buffer
}

func (c *conversation) Read(p []byte) (int, error) { return c.Reader.Read(p) }

// Nobody passes without the token, and what is granted has a host and a port.
func FuzzSocks(f *testing.F) {
	f.Add("", []byte("\x01\x00\x05\x01\x00\x03\x0cgood.example\x00\x50"))
	f.Add(testToken, []byte("\x01\x02\x01\x06cordon\x10"+testToken+"\x05\x01\x00\x01\x08\x08\x08\x08\x00\x50"))
	f.Add("t", []byte("\x02\x00\x02\x01\x06cordon\x01t\x05\x01\x00\x04"+strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, token string, b []byte) {
		c := &conversation{Reader: bytes.NewReader(b)}
		p := &caller{token: token}
		if !p.greet(c) {
			return
		}
		if token != "" && !bytes.Contains(b, append([]byte("\x06cordon"), append([]byte{byte(len(token))}, token...)...)) {
			t.Error("somebody passed without the token")
		}
		host, port, code := readSocks(c)
		if (code == socksGranted) != (host != "" && port != 0) || len(host) > 255 {
			t.Errorf("%q %d %d", host, port, code)
		}
		if a, err := netip.ParseAddr(host); err == nil && a.Is4In6() {
			t.Errorf("%s has two forms", a)
		}
		if c.Len() < 2 || c.Bytes()[0] != socks5 {
			t.Errorf("answered %q", c.Bytes())
		}
	})
}
