package post

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cordon/internal/testwait"
)

// office is a listener with a handler, in a directory of its own.
func office(t *testing.T, dir string, h Handler) *Listener {
	t.Helper()
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(l, h) }()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l
}

// echo answers with the text of the request.
func echo(_ context.Context, r Request) Reply { return Reply{Answered: true, Answer: r.Text} }

func call(t *testing.T, dir string, r Request) Reply {
	t.Helper()
	reply, err := Call(context.Background(), dir, r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// works is the control: after whatever was done, a request is answered.
func works(t *testing.T, dir string) {
	t.Helper()
	if r := call(t, dir, Request{Verb: Look, Text: "x"}); r.Answer != "x" || r.Error != "" {
		t.Errorf("%+v", r)
	}
}

func TestCall(t *testing.T) {
	dir := t.TempDir()
	l := office(t, dir, echo)
	works(t, dir)
	fi, err := os.Lstat(filepath.Join(dir, Socket))
	if err != nil || fi.Mode().Perm() != 0o600 || fi.Mode().Type() != os.ModeSocket {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, Socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if r, err := Call(context.Background(), dir, Request{Verb: Look}); err == nil {
		t.Errorf("nobody listens: %+v", r)
	}
}

// A path may be longer than the kernel takes for a socket.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 40), strings.Repeat("x", 200))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := office(t, dir, echo)
	works(t, dir)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, Socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// A socket that was left behind is replaced, and nothing else is.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, Socket)
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	office(t, dir, echo)
	works(t, dir)

	for what, make := range map[string]func(string) error{
		"a file":      func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) },
		"a directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"a link":      func(p string) error { return os.Symlink(name, p) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, Socket)); err != nil {
			t.Fatal(err)
		}
		if l, err := Listen(dir); err == nil {
			l.Close()
			t.Errorf("%s is replaced", what)
		}
	}
}

// raw sends bytes and returns what comes back until the other side ends it.
func raw(t *testing.T, dir string, send []byte, finish bool) string {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(dir, Socket))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write(send) // the other side may have had enough
	if finish {
		if err := conn.(*net.UnixConn).CloseWrite(); err != nil && !strings.Contains(err.Error(), "not connected") {
			t.Fatal(err)
		}
	}
	if err := conn.SetReadDeadline(time.Now().Add(testwait.Bound)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%.40q: the connection is kept", send)
	}
	return string(b)
}

// What is no request is refused with a word, and harms nobody.
func TestGarbage(t *testing.T) {
	dir := t.TempDir()
	var handled atomic.Int32
	office(t, dir, func(ctx context.Context, r Request) Reply { handled.Add(1); return echo(ctx, r) })
	for what, send := range map[string]string{
		"nothing":           "",
		"half a line":       `{"verb":"status"`,
		"half a line, zero": "\x00",
		"no JSON":           "x\n",
		"an empty line":     "\n",
		"a list":            "[]\n",
		"no verb":           "{}\n",
		"a member too many": `{"verb":"status","worker":"other"}` + "\n",
		"two objects":       `{"verb":"status"}{"verb":"done"}` + "\n",
		"two lines":         `{"verb":"status"}` + "\n" + `{"verb":"done"}` + "\n",
		"not UTF-8":         `{"verb":"` + "\xff" + `"}` + "\n",
		"a huge line":       `{"verb":"done","text":"` + strings.Repeat("x", 8<<20) + `"}` + "\n",
		"a huge nothing":    strings.Repeat(" ", 8<<20),
		"deep":              `{"verb":"decided","record":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}\n",
	} {
		var r Reply
		got := raw(t, dir, []byte(send), true)
		if err := json.Unmarshal([]byte(got), &r); err != nil || r.Error == "" || r.Answered {
			t.Errorf("%s: %.100q", what, got)
		}
	}
	if n := handled.Load(); n != 0 {
		t.Errorf("%d requests were none", n)
	}
	works(t, dir)
}

// A reply with an error has nothing else, and a handler that fails has said no.
func TestHandlerFails(t *testing.T) {
	dir := t.TempDir()
	office(t, dir, func(_ context.Context, r Request) Reply {
		if r.Text == "panic" {
			panic("oh")
		}
		if r.Text == "long" {
			return Reply{Answer: strings.Repeat("x", 2<<20)}
		}
		return Reply{Error: "no", Answered: true, Answer: "x", Status: &Status{}}
	})
	for text, want := range map[string]string{"panic": "could not be answered: oh", "long": "too long", "": "no"} {
		if r := call(t, dir, Request{Verb: Look, Text: text}); !strings.Contains(r.Error, want) || r.Answered || r.Answer != "" || r.Status != nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if _, err := Call(context.Background(), dir, Request{Verb: Done, Text: strings.Repeat("x", 1<<20)}); err == nil {
		t.Error("a request that is too long is sent")
	}
}

// Peers that say nothing are dropped, and those after them are served.
func TestSilentPeers(t *testing.T) {
	dir := t.TempDir()
	office(t, dir, echo)
	began := time.Now()
	for range atOnce {
		conn, err := net.Dial("unix", filepath.Join(dir, Socket))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Bound)
	defer cancel()
	if r, err := Call(ctx, dir, Request{Verb: Look, Text: "x"}); err != nil || r.Answer != "x" {
		t.Errorf("%+v, %v", r, err)
	}
	if took := time.Since(began); took < silence/2 {
		t.Errorf("after %v: nobody was in the way", took)
	}
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := Call(short, filepath.Join(dir, "nowhere"), Request{Verb: Look}); err == nil {
		t.Error("a directory that is not there answers")
	}
}

// Ten thousand connections at once are served in turn.
func TestFlood(t *testing.T) {
	dir := t.TempDir()
	var now, most atomic.Int32
	office(t, dir, func(ctx context.Context, r Request) Reply {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return echo(ctx, r)
	})
	var all sync.WaitGroup
	var failed atomic.Int32
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Bound)
	defer cancel()
	for w := range 500 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 20 {
				text := fmt.Sprint(w, i)
				if r, err := Call(ctx, dir, Request{Verb: Look, Text: text}); err != nil || r.Answer != text {
					failed.Add(1)
				}
			}
		}()
	}
	all.Wait()
	if failed.Load() > 0 || most.Load() > atOnce {
		t.Errorf("%d of 10000 failed, %d at once", failed.Load(), most.Load())
	}
}

// Whoever goes away is not waited for.
func TestGoneEarly(t *testing.T) {
	dir := t.TempDir()
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	l := office(t, dir, func(ctx context.Context, r Request) Reply {
		if r.Verb == Await {
			began <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
		}
		return echo(ctx, r)
	})
	conn, err := net.Dial("unix", filepath.Join(dir, Socket))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(`{"verb":"await"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	<-began
	testwait.Still(t, "the handler waits", 100*time.Millisecond, func() bool { return len(ended) == 0 })
	conn.Close()
	select {
	case <-ended:
	case <-time.After(testwait.Bound):
		t.Fatal("the handler still waits for a reply that nobody wants")
	}
	works(t, dir)

	// The same when the supervisor ends: Close returns when the handlers have.
	conn, err = net.Dial("unix", filepath.Join(dir, Socket))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"verb":"await"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	<-began
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("Close came back before its handler")
	}
}

// The end that a caller names is kept.
func TestDeadline(t *testing.T) {
	dir := t.TempDir()
	office(t, dir, func(ctx context.Context, r Request) Reply { <-ctx.Done(); return Reply{} })
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := Call(ctx, dir, Request{Verb: Await}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// FuzzRequest: what is read as a request reads as the same again, and what is not
// leaves nothing.
func FuzzRequest(f *testing.F) {
	for _, line := range []string{
		"", "{}", "null", `{"verb":"ask","text":"a?","options":["b"],"wait":90}`, `{"verb":"decided","record":{"tool":"Bash"}}`,
		`{"VERB":"done"}`, `{"verb":"done","verb":"ask"}`, `{"verb":"status"} x`, "{\"verb\":\"\xff\"}", `{"verb":"ask","wait":1e3}`, `{"verb":"ask","wait":-1}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := decodeRequest(line)
		if err != nil {
			if r.Verb != "" || r.Record != nil || r.Text != "" {
				t.Fatalf("%q is refused and read: %+v", line, r)
			}
			return
		}
		out, err := encode(r, 64<<20)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		read, err := readLine(bufio.NewReader(strings.NewReader(string(out))), 64<<20)
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		back, err := decodeRequest(read)
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		again, err := encode(back, 64<<20)
		if err != nil || string(again) != string(out) {
			t.Fatalf("%q is %q again", out, again)
		}
	})
}
