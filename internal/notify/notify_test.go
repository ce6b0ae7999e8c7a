package notify

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cordon/internal/config"
)

func TestText(t *testing.T) {
	m := Message{Worker: "calm-yak", Repository: "repo", Says: "has a conflict"}
	if got := m.Text(); got != "calm-yak in repo: has a conflict" {
		t.Error(got)
	}
	m.Agent = "\x1b]0;evil\a\nsecond\u202eline\x9b31m\u2028" + strings.Repeat("é", 300) + "\xff"
	got := m.Text()
	if utf8.RuneCountInString(got) != most || strings.ContainsAny(got, "\x1b\a\n\u202e\u2028\u009b") {
		t.Errorf("%q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a", "b\x1b[31m")
	f.Fuzz(func(t *testing.T, repository, agent string) {
		got := Message{Worker: "calm-yak", Repository: repository, Says: "asks", Agent: agent}.Text()
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > most {
			t.Errorf("%q", got)
		}
		for _, r := range got {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				t.Errorf("%q", got)
			}
		}
	})
}

// Every terminal is rung. What shows a message is in its terminal's words, and tmux hands it on.
func TestSequence(t *testing.T) {
	for _, c := range []struct{ environment, want string }{
		{"TERM=xterm-256color", "\a\x1b]9;cordon: x\a"},
		{"TERM=foot", "\a\x1b]777;notify;cordon;x\a"},
		{"TERM=xterm-256color VTE_VERSION=7600", "\a\x1b]777;notify;cordon;x\a"},
		{"TERM=xterm-kitty", "\a\x1b]99;;cordon: x\x1b\\"},
		{"TERM=tmux-256color TMUX=/tmp/tmux-0/default,1,0", "\a\x1bPtmux;\x1b\x1b]9;cordon: x\a\x1b\\"},
		{"TERM=screen-256color TMUX=/tmp/tmux-0/default,1,0", "\a\x1bPtmux;\x1b\x1b]9;cordon: x\a\x1b\\"},
		{"TERM=tmux-256color TMUX=x KITTY_WINDOW_ID=1", "\a\x1bPtmux;\x1b\x1b]99;;cordon: x\x1b\x1b\\\x1b\\"},
		{"TERM=screen", "\a"}, {"TERM=xterm-256color ZELLIJ=0", "\a"}, {"TERM=linux", "\a"}, {"TERM=dumb TMUX=x", "\a"}, {"", "\a"},
	} {
		set := map[string]string{}
		for _, pair := range strings.Fields(c.environment) {
			name, value, _ := strings.Cut(pair, "=")
			set[name] = value
		}
		if got := sequence("x", func(name string) string { return set[name] }); got != c.want {
			t.Errorf("%s: %q", c.environment, got)
		}
	}
}

// own is a configuration with a secret next to it.
func own(t *testing.T, text string) config.Loaded {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "cordon")
	t.Setenv("XDG_CONFIG_HOME", base)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"config.yaml": text, "key": "hush\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWebhook(t *testing.T) {
	var body []byte
	var signature string
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		signature = r.Header.Get(SignatureHeader)
		if r.Method != http.MethodPost || r.URL.Path != "/hook" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.WriteHeader(http.StatusEarlyHints) // which is no answer yet
		w.WriteHeader(status)
	}))
	defer server.Close()
	s := Sender{Own: own(t, "notify: {webhook: {url: '"+server.URL+"/hook', secret: key}}"), Now: func() time.Time { return time.Unix(1, 0) }}
	m := Message{Worker: "calm-yak", State: "conflict", Repository: "repo", Says: "has a conflict"}
	if err := s.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	h := hmac.New(sha256.New, []byte("hush"))
	h.Write(body)
	if signature != "sha256="+hex.EncodeToString(h.Sum(nil)) {
		t.Errorf("the signature is %s", signature)
	}
	var got posted
	if err := json.Unmarshal(body, &got); err != nil || got.Worker != "calm-yak" || got.State != "conflict" || got.Message != m.Text() || got.Time.Unix() != 1 {
		t.Errorf("%s: %v", body, err)
	}
	status = http.StatusForbidden
	if err := s.Send(t.Context(), m); err == nil || !strings.Contains(err.Error(), "answered 403 Forbidden") {
		t.Error(err)
	}
	server.Close()
	if err := s.Send(t.Context(), m); err == nil || strings.Contains(err.Error(), "/hook") {
		t.Error("nobody is there, and that is no failure, or it shows the path:", err)
	}
}

// The webhook goes through the operator's proxy. The library reads the variables once, so that another process sends it.
func TestWebhookProxy(t *testing.T) {
	if address := os.Getenv("TEST_WEBHOOK"); address != "" {
		s := Sender{Own: own(t, "notify: {webhook: {url: '"+address+"', secret: key}}"), Now: time.Now}
		if err := s.Send(t.Context(), Message{Worker: "calm-yak"}); err == nil || !strings.Contains(err.Error(), "hooks.example.com did not answer: I'm a teapot") {
			t.Error(err)
		}
		return
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect && r.Host == "hooks.example.com:443" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer proxy.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestWebhookProxy$")
	cmd.Env = append(os.Environ(), "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", "TEST_WEBHOOK=https://hooks.example.com/x")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCommandAndTerminal(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	l := own(t, "notify: {command: [sh, -c, 'echo \"$0|$CORDON_STATE\" >>"+out+"', $CORDON_MESSAGE]}")
	var screen bytes.Buffer
	t.Setenv("TERM", "xterm")
	for _, name := range []string{"TMUX", "ZELLIJ", "KITTY_WINDOW_ID", "VTE_VERSION"} {
		t.Setenv(name, "")
	}
	m := Message{Worker: "calm-yak", State: "asks", Repository: "repo", Says: "asks"}
	if err := (Sender{Own: l, Screen: &screen, Dir: t.TempDir()}).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(out); string(text) != "calm-yak in repo: asks|asks\n" || screen.String() != "\a\x1b]9;cordon: calm-yak in repo: asks\a" {
		t.Errorf("%q %q", text, screen.String())
	}
	quiet := own(t, "notify: {terminal: false, command: ['false']}")
	screen.Reset()
	if err := (Sender{Own: quiet, Screen: &screen, Dir: t.TempDir()}).Send(t.Context(), m); err == nil || !strings.Contains(err.Error(), "notify: false ended with 1") || screen.Len() > 0 {
		t.Errorf("%v %q", err, screen.String())
	}
}
