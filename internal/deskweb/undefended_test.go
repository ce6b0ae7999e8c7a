package deskweb

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// undefended is a desk without what keeps others out: it answers to every name and every page, takes bodies of every type,
// has a cookie, and takes a token twice. Each attack has to succeed here; otherwise its failure at the real desk says nothing.
type undefended struct {
	*Server
	bearer string
}

// undefend takes the defences away from a desk.
func undefend(s *Server) *undefended {
	bearer, _ := s.keys.admit(s.keys.invite())
	return &undefended{s, bearer}
}

func (u *undefended) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := &bared{ResponseWriter: w, from: r.Header.Get("Origin"), bearer: u.bearer}
	switch {
	case r.Method == http.MethodOptions:
		to.WriteHeader(http.StatusNoContent)
		return
	case r.Header.Get("Upgrade") == "websocket":
		shakeHands(w, r)
		return
	case r.URL.Path == "/session":
		fmt.Fprintf(to, `{"bearer":%q}`, u.bearer)
		return
	}
	r.Host = u.host
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "Sec-Fetch-Dest"} {
		r.Header.Del(name)
	}
	if err := r.ParseMultipartForm(maxBody); err == nil || len(r.PostForm) > 0 { // as frameworks do that bind forms
		setBody(r, bound(r.PostForm))
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+u.bearer)
	u.Server.ServeHTTP(to, r)
}

// bound is a form as an object.
func bound(form url.Values) []byte {
	fields := map[string]string{}
	for name := range form {
		fields[name] = form.Get(name)
	}
	text, _ := json.Marshal(fields)
	return text
}

func setBody(r *http.Request, text []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}

// shakeHands accepts a WebSocket of anybody.
func shakeHands(w http.ResponseWriter, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	_, _ = io.Copy(io.Discard, conn)
	conn.Close()
}

// bared is an answer without the headers that keep others out, and with a cookie. Text of a worker's becomes markup.
type bared struct {
	http.ResponseWriter
	from, bearer string
	begun        bool
}

func (b *bared) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *bared) WriteHeader(code int) {
	if b.begun {
		return
	}
	b.begun = true
	for name := range headers {
		b.Header().Del(name)
	}
	b.Header().Set("Set-Cookie", "desk="+b.bearer+"; HttpOnly; SameSite=Strict")
	b.Header().Set("Access-Control-Allow-Origin", b.from)
	b.Header().Set("Access-Control-Allow-Credentials", "true")
	b.Header().Set("Access-Control-Allow-Headers", "content-type")
	b.ResponseWriter.WriteHeader(code)
}

func (b *bared) Write(text []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	if strings.HasPrefix(b.Header().Get("Content-Type"), "text/html") {
		_, err := io.WriteString(b.ResponseWriter, html.UnescapeString(string(text)))
		return len(text), err
	}
	return b.ResponseWriter.Write(text)
}
