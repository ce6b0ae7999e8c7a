package protocol

import (
	"strings"
	"testing"
)

func TestAsksAgain(t *testing.T) {
	retry := tlsRecord(recordHandshake, serverSays(retryRandom))
	for _, c := range []struct {
		said         string
		again, known bool
	}{
		{"", true, false}, {retry, true, true}, {retry[:20], true, false},
		{tlsRecord(recordHandshake, serverSays(strings.Repeat("r", 32))), false, true},
		{tlsRecord(recordAlert, "\x02\x28"), true, false}, {"HTTP/1.1 400", false, true},
		{tlsRecord(recordAlert, "\x01\x00") + tlsRecord(recordChange, "\x01") + retry, true, true},
		{tlsRecord(recordHandshake, "\x0b\x00\x00\x00"), false, true},
		{strings.Repeat(tlsRecord(recordHandshake, ""), maxOpening), true, true},
	} {
		if again, known := asksAgain([]byte(c.said)); known != c.known || known && again != c.again {
			t.Errorf("%.60q: %v %v", c.said, again, known)
		}
	}
}

// record is one of TLS.
func tlsRecord(kind byte, payload string) string {
	return string([]byte{kind, 3, 3, byte(len(payload) >> 8), byte(len(payload))}) + payload
}

// serverSays is a server's hello with a random number.
func serverSays(random string) string {
	body := "\x03\x03" + random + "\x00\x13\x01\x00\x00\x00"
	return string([]byte{serverHello, 0, 0, byte(len(body))}) + body
}
