package protocol

import (
	"fmt"
	"strings"
	"unicode"
)

// StrangerError is a request or a hello that is for somebody else, or of which
// that cannot be told.
type StrangerError struct {
	name string // that was asked for; "" where it cannot be told
	why  string // a whole sentence, for people
}

func (e *StrangerError) Error() string { return e.why }

// Strangef makes a StrangerError that names nobody.
func Strangef(format string, args ...any) *StrangerError {
	return &StrangerError{"", fmt.Sprintf(format, args...)}
}

// longestReason bounds what a client is told: some of it is what the client said.
const longestReason = 1024

// RefusalHTTP is a whole answer that says why a request was refused.
func RefusalHTTP(why string) []byte {
	body := "cordon refused this: " + harmless(why) + "\n" +
		"Only the operator can allow it (network in the policy): ask, and do not look for another way.\n"
	return fmt.Appendf(nil, "HTTP/1.1 403 Forbidden\r\n"+
		"Content-Type: text/plain; charset=utf-8\r\n"+
		"Content-Length: %d\r\n"+
		"Cache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\n"+
		"Connection: close\r\n"+
		"\r\n%s", len(body), body)
}

// harmless is a text on one line, without anything that a terminal obeys.
func harmless(s string) string {
	if len(s) > longestReason {
		s = s[:longestReason] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// RefusalTLS is the alert that the server does not want this client: fatal,
// access_denied. No other is as close, and clients name it in their error.
func RefusalTLS() []byte {
	return []byte{recordAlert, recordMajor, 3, 0, 2, 2, 49}
}
