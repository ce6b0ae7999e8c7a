package session_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cordon/internal/dispatch"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/worksite"
)

// heard is a voice that remembers.
type heard struct {
	worksite.Silent
	lines []string
}

func (h *heard) Step(_ lease.ID, word, detail string) { h.lines = append(h.lines, word+": "+detail) }

// A lease that was sealed before cells had a network means what it meant then: it
// names hosts, of which some are none today, opens nothing, and lands.
func TestOlderLease(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("cells are for Linux")
	}
	s := newShop(t)
	d := s.dispatch("ip=$(wc -l </proc/net/route); echo $ip $https_proxy >src/routes.txt")
	d.Policy.Network = policy.Network{AllowedDomains: []string{"api.anthropic.com", "@npm", "localhost"}}
	d.Policy.Setup, d.Policy.Acceptance = []string{"true"}, []string{"true"}
	voice := &heard{}
	at := s.open()
	at.Voice = voice
	w, err := runAll(context.Background(), at, d, session.Drive{})
	if err != nil {
		t.Fatal(err)
	}
	s.want(w, ledger.MergedIn)
	if n := w.Lease.Lease().Policy.Network; !n.Older() {
		t.Errorf("the lease is none of then: %+v", n)
	}
	const line = "network: the lease was made before cells had a network and opens nothing"
	if !slices.Contains(voice.lines, line) {
		t.Errorf("nobody says it:\n%s", strings.Join(voice.lines, "\n"))
	}
	if got := s.git("show", "main:src/routes.txt"); got != "1" {
		t.Errorf("the cell had something: %q", got)
	}
	if slices.Contains(w.Start.Layers, "network") {
		t.Errorf("the cell had a network: %v", w.Start.Layers)
	}
}

// spoiler does something once, when a line is written. Lines before it may come along with it.
type spoiler struct {
	line string
	act  func()
}

func (s *spoiler) Write(p []byte) (int, error) {
	if s.act != nil && slices.Contains(strings.Split(string(p), "\n"), s.line) {
		s.act()
		s.act = nil
	}
	return len(p), nil
}

// What setup tried is in the journal, also where the worker could not be started then.
func TestSetupTriedAndNotStarted(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS != "linux" {
		t.Skip("bash in a cell opens the connection")
	}
	s := newShop(t)
	d := s.dispatch("true")
	d.Policy.Network.Observe = policy.Observed
	d.Policy.Setup = []string{"bash -c ': </dev/tcp/203.0.113.7/80 && cat'; echo over"}
	at := s.open()
	w, err := dispatch.Lease(context.Background(), at.Site, d)
	if err != nil {
		t.Fatal(err)
	}
	// The cell of the worker is planned after this, with a state directory that is refused.
	out := &spoiler{"over", func() { os.Setenv("XDG_STATE_HOME", "relative") }}
	place := os.Getenv("XDG_STATE_HOME")
	_, err = at.Continue(context.Background(), w.ID, session.Drive{Output: out})
	os.Setenv("XDG_STATE_HOME", place)
	if err == nil || out.act != nil {
		t.Fatalf("it was started: %v", err)
	}
	now, err := s.open().Find(string(w.ID))
	if err != nil {
		t.Fatal(err)
	}
	tally, err := s.open().Reached(now, nil)
	if err != nil || len(tally.Digest) != 64 || now.Net == nil || now.Net.Digest != tally.Digest {
		t.Errorf("the journal has %+v of %+v %v", now.Net, tally, err)
	}
	if now.Start != nil || now.Net == nil || now.Net.Refused == 0 {
		t.Errorf("started %v, tried %+v", now.Start, now.Net)
	}
}
