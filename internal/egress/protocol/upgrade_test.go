package protocol

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const upgrade = get + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

func TestAnswersTellOfTheSwitch(t *testing.T) {
	for _, c := range []struct {
		said     string
		told     bool
		switched bool
	}{
		{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81", true, true},
		{"HTTP/1.1 101\r\n\r\n", true, true},
		{"HTTP/1.1 101 ", true, true},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n", true, true},
		{"HTTP/1.1 103 Early\r\nLink: </101>\r\n\r\nHTTP/1.1 100\r\n\r\nHTTP/1.1 101 \r\n", true, true},
		{"HTTP/1.1 100\n\nHTTP/1.1 101\n", true, true},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n", true, false},
		{"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n", true, false},
		{"HTTP/1.1 100 Continue\r\nX: HTTP/1.1 101 \r\n", false, false},
		{"HTTP/1.1 426 Upgrade Required\r\n", true, false},
		{"HTTP/1.0 101 Switching Protocols\r\n", true, false},
		{"HTTP/1.1 1010\r\n", true, false},
		{"HTTP/1.1  101 \r\n", true, false},
		{"HTTP/1.1 10\r\n", true, false},
		{"HTTP/1.1 1xx \r\n", true, false},
		{"\r\nHTTP/1.1 101 \r\n", true, false},
		{"101\n", true, false},
		{"HTTP/1.1 10", false, false},
		{"", false, false},
	} {
		for how, r := range ways(c.said) {
			q := NewRequests(strings.NewReader(""), nil, "a.example", 80)
			block := make(chan struct{})
			a := q.Answers(io.MultiReader(r, hush(block))).(*answers)
			got := make([]byte, len(c.said))
			if _, err := io.ReadFull(a, got); err != nil || string(got) != c.said {
				t.Fatalf("%q, %s: %q %v", c.said, how, got, err)
			}
			if a.done != c.told || a.done && q.Verdict.switched != c.switched || (a.Settled() != nil) != c.told {
				t.Errorf("%q, %s: told %v, switched %v", c.said, how, a.done, q.Verdict.switched)
			}
			close(block)
			if _, err := io.ReadAll(a); err != nil || !a.done {
				t.Errorf("%q, %s: at its end %v, told %v", c.said, how, err, a.done)
			}
		}
	}
}

// hush has nothing to say until it is over.
type hush chan struct{}

func (p hush) Read([]byte) (int, error) { <-p; return 0, io.EOF }

func TestNothingPassesBeforeTheAnswer(t *testing.T) {
	const frames = "\x81\x05hello\x00\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n"
	for _, c := range []struct {
		what, answer, then, passes string
		bad                        bool
	}{
		{"switched", "HTTP/1.1 101 Switching Protocols\r\n\r\n", frames, frames, false},
		{"refused", "HTTP/1.1 403 Forbidden\r\n\r\n", frames, "", true},
		{"refused, and another request", "HTTP/1.1 403 Forbidden\r\n\r\n", get + "\r\n", get + "\r\n", false},
		{"gone", "", frames, "", true},
	} {
		q := NewRequests(strings.NewReader(c.then), []byte(upgrade), "a.example", 80)
		server, answer := io.Pipe()
		a := q.Answers(server)
		head := make([]byte, len(upgrade))
		if _, err := io.ReadFull(q, head); err != nil || string(head) != upgrade {
			t.Fatalf("%s: %q %v", c.what, head, err)
		}
		type result struct {
			b   []byte
			err error
		}
		rest := make(chan result)
		go func() { b, err := io.ReadAll(q); rest <- result{b, err} }()
		select {
		case r := <-rest:
			t.Fatalf("%s: %q passed before the answer (%v)", c.what, r.b, r.err)
		case <-time.After(20 * time.Millisecond):
		}
		go io.Copy(io.Discard, a)
		io.WriteString(answer, c.answer)
		answer.Close()
		var strange *StrangerError
		if r := <-rest; string(r.b) != c.passes || errors.As(r.err, &strange) != c.bad {
			t.Errorf("%s: %q %v", c.what, r.b, r.err)
		}
	}
}

// A client that leaves while the server is silent is noticed at once; one that
// goes on is not waited for without an end.
func TestWaitingForTheAnswerEnds(t *testing.T) {
	q := NewRequests(iotest.ErrReader(io.EOF), []byte(upgrade), "a.example", 80)
	if b, err := io.ReadAll(q); err != nil || string(b) != upgrade {
		t.Errorf("%q %v", b, err)
	}
	q = NewRequests(strings.NewReader(""), nil, "a.example", 80)
	var strange *StrangerError
	if _, err := q.Verdict.wait(time.Millisecond); !errors.As(err, &strange) {
		t.Errorf("waited without an answer: %v", err)
	}
}

func TestTunnelNeedsNoLookingAt(t *testing.T) {
	r := strings.NewReader("raw")
	q := NewRequests(r, []byte(upgrade+"some"), "a.example", 80)
	q.Verdict.Tell(true)
	p := make([]byte, len(upgrade)+4)
	if _, err := io.ReadFull(q, p[:len(upgrade)+2]); err != nil || q.Settled() != nil {
		t.Errorf("%q %v: the rest of it would be lost", p, err)
	}
	if _, err := io.ReadFull(q, p[len(upgrade)+2:]); err != nil || q.Settled() != io.Reader(r) {
		t.Errorf("%q %v", p, err)
	}
	if rest, err := io.ReadAll(q); err != nil || string(rest) != "raw" {
		t.Errorf("%q %v", rest, err)
	}
	q = NewRequests(r, []byte(get+"\r\n"), "a.example", 80)
	if _, err := io.ReadFull(q, p[:len(get)]); err != nil || q.Settled() != nil {
		t.Errorf("requests need no looking at (%v)", err)
	}
}
