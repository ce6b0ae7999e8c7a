package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"cordon/internal/testnet"
)

// The tables of what a worker tries.

func addressAttacks() []attack {
	return []attack{
		{"address 443", act{"https", "93.184.216.34:443", "allowed.example.com"}, seesAlert, seesHello, "93.184.216.34", 443, "no name was resolved"},
		{"address 80", act{"http", "93.184.216.34:80", "allowed.example.com"}, sees403, seesHello, "93.184.216.34", 80, "no name was resolved"},
		{"address 8080", act{"tcp", "93.184.216.34:8080", ""}, seesRefused, seesHello, "93.184.216.34", 8080, "no name was resolved"},
		{"address at a leased port", act{"tcp", "93.184.216.36:7000", ""}, "reset", seesHello, "93.184.216.36", 7000, "no name was resolved"},
		{"address 443 v6", act{"https", "[2606:2800:220:1::34]:443", "allowed.example.com"}, seesAlert, seesHello, "2606:2800:220:1::34", 443, "no name was resolved"},
		{"address 80 v6", act{"http", "[2606:2800:220:1::34]:80", "allowed.example.com"}, sees403, seesHello, "2606:2800:220:1::34", 80, ""},
		{"address 8080 v6", act{"tcp", "[2606:2800:220:1::34]:8080", ""}, seesRefused, seesHello, "2606:2800:220:1::34", 8080, ""},
		{"mapped address", act{"http", "[::ffff:93.184.216.34]:80", "allowed.example.com"}, sees403, seesHello, "93.184.216.34", 80, ""},
		{"metadata", act{"http", "169.254.169.254:80", "169.254.169.254"}, sees403, seesHello, "169.254.169.254", 80, ""},
		{"private", act{"http", "10.0.0.5:80", "10.0.0.5"}, sees403, seesHello, "10.0.0.5", 80, ""},
		{"own", act{"http", testnet.Own + ":80", "own"}, sees403, seesHello, testnet.Own, 80, ""},
		{"link", act{"http", "[fe80::1%lo]:80", "x"}, sees403, seesHello, "fe80::1", 80, ""},
		{"compatible address", act{"http", "[::5db8:d822]:80", "x"}, sees403, seesHello, "::5db8:d822", 80, ""},
		{"translated address", act{"http", "[64:ff9b::5db8:d822]:80", "x"}, sees403, seesHello, "64:ff9b::5db8:d822", 80, ""},
		{"everything", act{"http", "0.0.0.0:80", "allowed.example.com"}, sees403, seesHello, "localhost", 80, "host_ports"},
		{"never given out", act{"http", "198.18.77.77:80", "allowed.example.com"}, sees403, seesHello, "198.18.77.77", 80, "not an address that was given"},
		{"host's loopback", act{"tcp", "127.0.0.1:7777", ""}, seesRefused, seesHello, "", 0, ""},
		{"host's loopback v6", act{"tcp", "[::1]:7777", ""}, seesRefused, seesHello, "", 0, ""},
		{"host's loopback 80", act{"http", "127.0.0.1:80", "localhost"}, sees403, seesHello, "localhost", 80, "host_ports"},
		{"host's loopback 443", act{"https", "[::1]:443", "localhost"}, seesAlert, seesHello, "localhost", 443, "host_ports"},
		{"host's loopback elsewhere", act{"http", "127.9.9.9:80", "localhost"}, sees403, seesHello, "localhost", 80, "host_ports"},
		{"the model at another address", act{"tcp", "127.0.0.2:11434", "GET / HTTP/1.0\r\n\r\n"}, seesRefused, "", "", 0, ""},
		{"the model by the cell's address", act{"tcp", "198.18.0.1:11434", "GET / HTTP/1.0\r\n\r\n"}, seesRefused, "", "", 0, ""},
	}
}

func nameAttacks() []attack {
	const to, other = "allowed.example.com:443", "refused.example.net"
	return []attack{
		{"refused name", act{"https", other + ":443", other}, seesAlert, seesHello, other, 443, "not in network.allowed_domains"},
		{"refused name plain", act{"http", other + ":80", other}, sees403, seesHello, other, 80, "not in network.allowed_domains"},
		{"refused name elsewhere", act{"tcp", other + ":8080", ""}, seesRefused, seesHello, other, 8080, "not in network.allowed_domains"},
		{"allowed name elsewhere", act{"tcp", "allowed.example.com:8080", ""}, seesRefused, seesHello, "allowed.example.com", 8080, "port 8080"},
		{"leased for another name", act{"tcp", "allowed.example.com:7000", ""}, "reset", seesHello, "allowed.example.com", 7000, "port 7000"},
		{"name of one port at 443", act{"https", "raw.example.com:443", "raw.example.com"}, seesAlert, seesHello, "raw.example.com", 443, "port 443"},
		{"wrong SNI", act{"https", to, other}, seesAlert, seesHello, "allowed.example.com", 443, "is for refused.example.net"},
		{"SNI of another that is allowed", act{"https", to, "also.example.com"}, seesAlert, seesHello, "allowed.example.com", 443, "is for also.example.com"},
		{"no SNI", act{"https", to, "", "allowed.example.com"}, seesAlert, seesHello, "allowed.example.com", 443, "names no server"},
		{"encrypted hello", act{"hello", to, "ech"}, "alert 49", "the server spoke", "allowed.example.com", 443, "encrypted client hello"},
		{"hello in two records", act{"hello", to, "records"}, "the server spoke", "the server spoke", "", 0, ""},
		{"hello as it is", act{"hello", to, ""}, "the server spoke", "the server spoke", "", 0, ""},
		{"two names in a hello", act{"hello", to, "names"}, "alert 49", "", "allowed.example.com", 443, ""},
		{"two names in a hello, turned", act{"hello", to, "turned"}, "alert 49", "", "allowed.example.com", 443, ""},
		{"two extensions with a name", act{"hello", to, "twice"}, "alert 49", "", "allowed.example.com", 443, ""},
		{"TLS to the port of HTTP", act{"https", "allowed.example.com:80", other}, seesAlert, "", "allowed.example.com", 80, "is for refused"},
		{"no protocol", act{"halfopen", to, "\x00\x01\x02\x03 nothing that is known\n"}, "reset|not connected", "", "allowed.example.com", 443, "neither TLS nor HTTP"},
		{"ssh at 443", act{"halfopen", to, "SSH-2.0-x\r\n"}, "reset|not connected", "", "allowed.example.com", 443, "neither TLS nor HTTP"},
		{"DNS over HTTPS", act{"https", "8.8.8.8:443", "dns.google"}, seesAlert, seesHello, "8.8.8.8", 443, ""},
		{"DNS over TLS", act{"tcp", "8.8.8.8:853", ""}, seesRefused, "", "8.8.8.8", 853, ""},
		{"below an allowed name", act{"http", "x.allowed.example.com:80", "x.allowed.example.com"}, sees403, seesHello, "x.allowed.example.com", 80, ""},
		{"above an allowed name", act{"lookup", "com"}, "no such host", "", "", 0, ""},
	}
}

// requestAttacks speak to a server that may be reached and mean another one.
func requestAttacks() []attack {
	const to = "allowed.example.com:80"
	list := []attack{
		{"host", act{"http", to, "refused.example.net"}, sees403, seesHello, "allowed.example.com", 80, "refused.example.net"},
		{"second request", act{"twice", to, "allowed.example.com", "refused.example.net"}, `200 hello from allowed(?s:.*)403 `, "200 hello from allowed(?s:.*)200 hello from refused", "allowed.example.com", 80, "refused.example.net"},
		{"kept alive", act{"twice", to, "allowed.example.com", "ALLOWED.example.com:80", "allowed.example.com."}, `(200 (?s:.*)){3}`, `(200 (?s:.*)){3}`, "", 0, ""},
	}
	const bad = "GET /x HTTP/1.1\r\nHost: refused.example.net\r\n\r\n"
	for name, text := range map[string]string{
		"absolute":         "GET http://refused.example.net/ HTTP/1.1\r\nHost: allowed.example.com\r\nConnection: close\r\n\r\n",
		"absolute, agreed": "GET http://refused.example.net/ HTTP/1.1\r\nHost: refused.example.net\r\nConnection: close\r\n\r\n",
		"two hosts":        "GET / HTTP/1.1\r\nHost: allowed.example.com\r\nHost: refused.example.net\r\nConnection: close\r\n\r\n",
		"two hosts turned": "GET / HTTP/1.1\r\nHost: refused.example.net\r\nHost: allowed.example.com\r\nConnection: close\r\n\r\n",
		"no host":          "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
		"no host 1.0":      "GET / HTTP/1.0\r\n\r\n",
		"other port":       "GET / HTTP/1.1\r\nHost: allowed.example.com:81\r\nConnection: close\r\n\r\n",
		"folded":           "GET / HTTP/1.1\r\nHost:\r\n refused.example.net\r\nConnection: close\r\n\r\n",
		"space":            "GET / HTTP/1.1\r\nHost : refused.example.net\r\nHost: allowed.example.com\r\nConnection: close\r\n\r\n",
		"line feeds":       "GET / HTTP/1.1\nHost: refused.example.net\nConnection: close\n\n",
		"NUL":              "GET / HTTP/1.1\r\nHost: allowed.example.com\x00.refused.example.net\r\nConnection: close\r\n\r\n",
		"user":             "GET / HTTP/1.1\r\nHost: allowed.example.com@refused.example.net\r\nConnection: close\r\n\r\n",
		"connect":          "CONNECT refused.example.net:443 HTTP/1.1\r\nHost: allowed.example.com\r\n\r\n",
		"pipelined":        "GET / HTTP/1.1\r\nHost: allowed.example.com\r\n\r\n" + bad,
		"lengths":          "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + bad,
		"two lengths":      "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nContent-Length: 0\r\nContent-Length: 60\r\n\r\n" + bad,
		"signed length":    "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nContent-Length: +0\r\n\r\n" + bad,
		"odd coding":       "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nTransfer-Encoding: xchunked\r\nContent-Length: 90\r\n\r\n" + bad,
		"chunk by tricks":  "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n" + bad,
		"body that lies":   "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nContent-Length: 3\r\n\r\nabc" + bad,
		"upgrade, ignored": "GET / HTTP/1.1\r\nHost: allowed.example.com\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n" + bad,
		"upgrade to plain": "GET / HTTP/1.1\r\nHost: allowed.example.com\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n" + bad,
		"expectation":      "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc" + bad,
		"trailers":         "POST / HTTP/1.1\r\nHost: allowed.example.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: refused.example.net\r\n\r\n" + bad,
		"HTTP/2 in plain":  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"lower case":       "get / HTTP/1.1\r\nhost: refused.example.net\r\nConnection: close\r\n\r\n",
	} {
		list = append(list, attack{"request: " + name, act{"halfopen", to, text}, sees403, `HTTP/1.[01] (200|400|404|405|505|501)|^\|`,
			"allowed.example.com", 80, ""})
	}
	return list
}

// queryAttacks hide something in names.
func queryAttacks() []attack {
	const secret = "c2VjcmV0.tunnel.example.net"
	own := `^(Success|RCodeSuccess) (198\.1[89]\.|fd63:)|NameError`
	var list []attack
	for _, to := range []string{"8.8.8.8:53", "127.0.0.1:53", "198.18.0.1:53", "[2001:4860:4860::8888]:53", "[::1]:53"} {
		for _, how := range []string{"udp", "tcp"} {
			list = append(list,
				attack{"tunnel " + how + " " + to, act{"ask", to, how, how + strings.ReplaceAll(base64.RawURLEncoding.EncodeToString([]byte(to)), "_",
					"-") + "." + secret, "A"}, own, "93.184.216.66", "", 0, ""},
				attack{"direct " + how + " " + to, act{"ask", to, how, "allowed.example.com", "A"}, `Success 198\.18\.`, "93.184.216.34", "", 0, ""})
		}
	}
	for _, kind := range []string{"TXT", "16", "5", "15", "65", "64", "255", "10", "252"} {
		list = append(list,
			attack{"tunnel type " + kind, act{"ask", "8.8.8.8:53", "udp", "t" + kind + "." + secret, kind},
				`Success\||Success 198|NameError|NotImplemented|Refused`, "Success", "", 0, ""},
			attack{"allowed type " + kind, act{"ask", "8.8.8.8:53", "udp", "allowed.example.com", kind}, `Success\||Success 198|NotImplemented|Refused`,
				"Success", "", 0, ""})
	}
	for name, query := range map[string]string{
		"NUL":        "allowed.example.com\x00.refused.example.net",
		"bytes":      "b\xc3\xbccher.example.com",
		"underscore": "_x._y.allowed.example.com",
		"long label": strings.Repeat("a", 63) + ".tunnel.example.net",
		"long name":  strings.Repeat(strings.Repeat("a", 49)+".", 4) + "tunnel.example.net",
		"one label":  "wpad",
		"root":       ".",
		"local":      "printer.local",
		"arpa":       "4.3.2.1.in-addr.arpa",
	} {
		list = append(list, attack{"name: " + name, act{"ask", "198.18.0.1:53", "udp", query, "A"},
			`NameError|FormatError|Refused|Success 198\.18|Success\|`, "Success|NameError", "", 0, ""})
	}
	return append(list,
		attack{"a name that does not exist", act{"lookup", "missing.tunnel.example.org"}, `198\.18\.|no such host`, "no such host", "", 0, ""},
		attack{"upper case", act{"lookup", "ALLOWED.Example.COM."}, `198\.18\.\d+\.\d+.*`, "93.184.216.34", "", 0, ""},
		attack{"localhost", act{"lookup", "localhost"}, `127.0.0.1|::1`, "127.0.0.1", "", 0, ""},
		attack{"kept", act{"lookup", "kept.tunnel.example.net"}, `198\.18\.|no such host`, "93.184", "kept.tunnel.example.net", 0, ""},
	)
}

func packetAttacks() []attack {
	return []attack{
		{"QUIC by address", act{"udp", "93.184.216.34:443", "x"}, seesRefused, "echo x", "93.184.216.34", 443, "UDP"},
		{"QUIC by name", act{"udp", "allowed.example.com:443", "x"}, seesRefused, "echo x", "allowed.example.com", 443, "UDP"},
		{"QUIC v6", act{"udp", "[2606:2800:220:1::34]:443", "x"}, seesRefused, "echo x", "2606:2800:220:1::34", 443, "UDP"},
		{"UDP", act{"udp", "93.184.216.34:9999", "x"}, seesRefused, "echo x", "93.184.216.34", 9999, "UDP"},
		{"UDP to the host", act{"udp", "127.0.0.1:9999", "x"}, seesRefused, "echo x", "", 0, ""},
		{"ICMP", act{"ping", "93.184.216.34"}, "permission denied|not permitted|protocol not supported", "answered", "", 0, ""},
	}
}

func kernelAttacks() []attack {
	root := func(text string) string {
		if os.Geteuid() != 0 {
			return "not permitted"
		}
		return text
	}
	const no = "not permitted|permission denied|not supported"
	list := []attack{
		{"route", act{"route"}, no, "", "", 0, ""},
		{"raw socket", act{"socket", "raw"}, no, root("opened"), "", 0, ""},
		{"raw socket v6", act{"socket", "raw6"}, no, root("opened"), "", 0, ""},
		{"packet socket", act{"socket", "packet"}, no, root("opened"), "", 0, ""},
		{"socket of a virtual machine", act{"socket", "vsock"}, no, "", "", 0, ""},
		{"SO_MARK", act{"option", "mark"}, no, root("set"), "", 0, ""},
		{"IP_TRANSPARENT", act{"option", "transparent"}, no, root("set"), "", 0, ""},
		{"abstract socket", act{"abstract", fmt.Sprintf("cordon-egress-%d", os.Getpid())}, seesRefused, "hello from an abstract", "", 0, ""},
	}
	for _, at := range []string{"0.0.0.0:443", "[::]:443", "127.0.0.1:443", "198.18.0.1:443", "0.0.0.0:80", "0.0.0.0:7000", "[::]:7000",
		"127.0.0.1:11434", "0.0.0.0:53"} {
		list = append(list, attack{"bind " + at, act{"bind", at}, "in use|permission denied", "", "", 0, ""})
	}
	return list
}
