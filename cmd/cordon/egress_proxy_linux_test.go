package main

import (
	"os/exec"
	"strings"
	"testing"

	"cordon/internal/egress/record"
	"cordon/internal/testnet"
)

// The weaker form: programs that heed the usual variables get out, and nothing else.
func TestEgressProxy(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		n.Names.Set("private.example.com", "10.0.0.5")
		n.Names.Set("raw.example.com", "93.184.216.36")
		s := newSite(t)
		policy := policyText(allowing("allowed.example.com", "private.example.com", "raw.example.com:7000"), "via: proxy", "host_ports: [11434]")
		cases := proxyAttacks()
		var acts []act
		for _, c := range cases {
			acts = append(acts, c.act)
		}
		v, f := s.probeCell(policy, acts)
		for i, c := range cases {
			wants(t, strings.Join(c.act, " "), f[i].String(), c.inside)
			if f[i].Millis > soon {
				t.Errorf("%v took %d ms", c.act, f[i].Millis)
			}
			if c.whom != "" {
				v.recorded(c.whom, c.port, record.Refused, c.reason)
			}
		}
		if n.Web.Visited("refused.example.net") != 0 {
			t.Error("it was reached")
		}
	})
}

// proxyAttacks are what is asked of the proxy, and attempts to do without it.
func proxyAttacks() []attack {
	const proxy = "127.0.0.1:3128"
	return []attack{
		{"", act{"get", "https://allowed.example.com/"}, "200 hello from allowed", "", "", 0, ""},
		{"", act{"get", "http://allowed.example.com/"}, "200 hello from allowed", "", "", 0, ""},
		{"", act{"get", "http://refused.example.net/"}, "403 cordon refused this", "", "refused.example.net", 80, "not in network.allowed_domains"},
		{"", act{"get", "https://refused.example.net/"}, "Forbidden", "", "refused.example.net", 443, "not in network.allowed_domains"},
		{"", act{"get", "http://private.example.com/"}, "403 cordon refused this", "", "private.example.com", 80, "10.0.0.5"},
		{"", act{"get", "http://93.184.216.34/"}, "403 cordon refused this", "", "93.184.216.34", 80, ""},
		{"", act{"get", "http://169.254.169.254/"}, "403 cordon refused this", "", "169.254.169.254", 80, ""},
		{"", act{"https", "93.184.216.34:443", "allowed.example.com"}, "unreachable|refused", "", "", 0, ""},
		{"", act{"http", "93.184.216.34:80", "allowed.example.com"}, "unreachable|refused", "", "", 0, ""},
		{"", act{"lookup", "allowed.example.com"}, "no such host|refused|unreachable|misbehaving", "", "", 0, ""},
		{"", act{"udp", "8.8.8.8:53", "x"}, "unreachable|refused", "", "", 0, ""},
		{"", act{"http", "127.0.0.1:11434", "x"}, "hello from the model", "", "", 0, ""},
		{"", act{"tcp", "127.0.0.1:7777", ""}, seesRefused, "", "", 0, ""},
		{"", act{"tcp", proxy, "CONNECT 127.0.0.1:7777 HTTP/1.1\r\nHost: x\r\n\r\n"}, sees403, "", "localhost", 7777, "host_ports"},
		{"", act{"tcp", proxy, "CONNECT localhost:7777 HTTP/1.1\r\nHost: x\r\n\r\n"}, sees403, "", "localhost", 7777, "host_ports"},
		{"", act{"tcp", proxy, "CONNECT raw.example.com:7000 HTTP/1.1\r\nHost: x\r\n\r\n"}, "200 Connection established\r\n\r\nhello from 7000", "", "", 0, ""},
		{"", act{"tcp", proxy, "CONNECT allowed.example.com:7000 HTTP/1.1\r\nHost: x\r\n\r\n"}, sees403, "", "allowed.example.com", 7000, ""},
		{"", act{"tcp", proxy, "GET http://allowed.example.com/ HTTP/1.1\r\nHost: refused.example.net\r\nConnection: close\r\n\r\n"}, sees403, "", "allowed.example.com", 80, "refused.example.net"},
		{"", act{"halfopen", proxy, "CONNECT allowed.example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n" + plainRequest("refused.example.net")}, "(?s)200 Conn.*403 Forbidden", "", "allowed.example.com", 80, "refused.example.net"},
		{"", act{"halfopen", proxy, "GET / HTTP/1.1\r\nHost: allowed.example.com\r\n\r\n"}, "HTTP/1.1 4", "", "", 0, ""},
		{"", act{"bytes", proxy, "BQEA", "BQEAAxNhbGxvd2VkLmV4YW1wbGUuY29tAFA=", "R0VUIC8gSFRUUC8xLjENCkhvc3Q6IGFsbG93ZWQuZXhhbXBsZS5jb20NCkNvbm5lY3Rpb246IGNsb3NlDQoNCg=="}, "^0500050000.*hello from allowed|(?s)^0500.*hello from allowed", "", "", 0, ""},
		{"", act{"bytes", proxy, "BQEA", "BQEAAxNyZWZ1c2VkLmV4YW1wbGUubmV0AFA="}, "^05000502", "", "refused.example.net", 80, ""},
		{"", act{"bytes", proxy, "BQEA", "BQEAAV242CIAUA=="}, "^05000502", "", "93.184.216.34", 80, ""},
	}
}

// Without namespaces there is a proxy on the host's own loopback, for those who have
// its token.
func TestEgressWithoutNamespaces(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		need(t, "curl")
		s := newSite(t)
		file := s.write("policy.yaml", "isolation: degraded\n"+policyText(allowing("allowed.example.com"), "host_ports: [11434]"))
		lines := strings.Join([]string{
			"curl -sS https://allowed.example.com/",
			"curl -sS http://refused.example.net/",
			`curl -sS -x "$(echo "$http_proxy" | sed 's/:[^:@]*@/:wrong@/')" http://allowed.example.com/`,
			"curl -sS --noproxy '*' -m 4 http://allowed.example.com/; echo ended $?",
			"curl -sS http://127.0.0.1:11434/",
		}, "\n")
		cmd := exec.Command("without-userns", "cordon", "run", "--no-merge", "--policy", file, "--", "sh", "-c", lines)
		cmd.Dir, cmd.Env = s.repo, s.env
		o := s.try(cmd)
		if o.code == 99 {
			t.Skipf("no stage without namespaces here: %s", o.err)
		}
		m := workerName.FindStringSubmatch(o.err)
		if m == nil {
			t.Fatalf("no worker: %+v", o)
		}
		v := visit{site: s, id: m[1], out: s.cordon([]int{0}, "logs", m[1]).out}
		wants(t, "what it says", v.out, "(?s)hello from allowed.*cordon refused this: refused.example.net.*for another program.*ended [1-9].*hello from the model")
		wants(t, "what cordon says", o.err, "(?s)weaker.*through a proxy; without namespaces, programs that ignore it are not all stopped")
		v.recorded("allowed.example.com", 443, record.Allowed, "")
		v.recorded("refused.example.net", 80, record.Refused, "not in network.allowed_domains")
	})
}

// Real programs by the proxy.
func TestEgressProxyPrograms(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		policy := policyText(allowing("allowed.example.com"), "via: proxy")
		s := newSite(t)
		for _, c := range []struct{ program, text, want string }{
			{"curl", "curl -sS https://allowed.example.com/ http://allowed.example.com/", "(?s)hello from allowed.*hello from allowed"},
			{"curl", "env -u http_proxy -u HTTP_PROXY curl -sS --noproxy '*' -m 4 http://allowed.example.com/ 2>&1; echo ended $?", "ended [1-9]"},
			{"curl", "curl -sS -x socks5h://127.0.0.1:3128 https://allowed.example.com/", "hello from allowed"},
			{"curl", "curl -sS http://refused.example.net/", "cordon refused this"},
			{"wget", "wget -q -O- https://allowed.example.com/", "hello from allowed"},
			{"python3", "SSL_CERT_FILE=" + testnet.CA + " python3 -c 'import urllib.request; print(urllib.request.urlopen(\"https://allowed.example.com/\").read())'", "hello from allowed"},
		} {
			t.Run(c.program, func(t *testing.T) {
				need(t, c.program)
				wants(t, c.text, s.dispatch(policy, "sh", "-c", c.text).out, c.want)
			})
		}
	})
}
