package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
// it: no redirection is followed. An error does not show the address, whose path may be secret.
func post(ctx context.Context, address string, body []byte, signature string) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("notify.webhook.url is not a valid URL")
	}
	r.Close = true
	r.Header = http.Header{"User-Agent": {"cordon"}, "Content-Type": {"application/json"}, SignatureHeader: {signature}}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if err != nil {
		return fmt.Errorf("%s did not answer: %w", r.URL.Host, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s", r.URL.Host, clean(answer.Status))
	}
	return nil
}
