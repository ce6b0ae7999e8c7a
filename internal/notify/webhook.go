package notify

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// SignatureHeader holds "sha256=" and the HMAC-SHA256 of the body, in hexadecimal.
const SignatureHeader = "Cordon-Signature"

// posted is the body of the request. The time is in it, so that a receiver can refuse a
// request that is sent again later.
type posted struct {
	Schema     string    `json:"schema"`
	Time       time.Time `json:"time"`
	Worker     string    `json:"worker"`
	State      string    `json:"state"`
	Repository string    `json:"repository"`
	Message    string    `json:"message"`
}

// webhook posts the message, signed.
func (s Sender) webhook(ctx context.Context, m Message) error {
	key, err := s.Own.Secret()
	if err != nil {
		return err
	}
	body, err := json.Marshal(posted{
		Schema: "cordon.notification/1", Time: s.Now().UTC(), Worker: m.Worker, State: m.State, Repository: clean(m.Repository), Message: m.Text(),
	})
	if err != nil {
		return err
	}
	if err := post(ctx, s.Own.Notify.Webhook.URL, body, sign(strings.TrimSpace(string(key)), body)); err != nil {
		return fmt.Errorf("notify.webhook: %w", err)
	}
	return nil
}

func sign(key string, body []byte) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// post sends one request and looks at the status of the answer, and at nothing else of
// it: no redirection is followed. It is written out here because the library for HTTP
// takes long to start, in a program that starts before every tool call of an agent.
func post(ctx context.Context, address string, body []byte, signature string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	c, err := connect(ctx, u)
	if err != nil {
		return err
	}
	defer c.Close()
	if until, ok := ctx.Deadline(); ok {
		if err := c.SetDeadline(until); err != nil {
			return err
		}
	}
	head := []string{
		"POST " + u.RequestURI() + " HTTP/1.1", "Host: " + u.Host, "User-Agent: cordon", "Content-Type: application/json",
		fmt.Sprintf("Content-Length: %d", len(body)), SignatureHeader + ": " + signature, "Connection: close", "", "",
	}
	if _, err := io.WriteString(c, strings.Join(head, "\r\n")+string(body)); err != nil {
		return err
	}
	line, err := bufio.NewReader(io.LimitReader(c, 1<<16)).ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s did not answer: %w", u.Host, err)
	}
	words := strings.Fields(line)
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/1.") || !strings.HasPrefix(words[1], "2") {
		return fmt.Errorf("%s answered %s", u.Host, clean(line))
	}
	return nil
}

func connect(ctx context.Context, u *url.URL) (net.Conn, error) {
	var plain net.Dialer
	if u.Scheme == "https" {
		port := u.Port()
		if port == "" {
			port = "443"
		}
		d := tls.Dialer{NetDialer: &plain, Config: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}}
		return d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return plain.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
}
