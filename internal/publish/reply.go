package publish

import (
	"fmt"
	"strings"
)

// reply is an answer of cordon's own.
type reply struct {
	status string
	kind   string
	fields []string
	text   string
}

// say is an answer in a sentence.
func say(status, text string) *reply {
	return &reply{status: status, kind: "text/plain; charset=utf-8", text: text + "\n"}
}

// bytes is the whole answer. The connection ends with it.
func (r *reply) bytes() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %s\r\n", r.status)
	for _, f := range r.fields {
		b.WriteString(f + "\r\n")
	}
	fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"+
		"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nConnection: close\r\n\r\n%s", r.kind, len(r.text), r.text)
	return []byte(b.String())
}
