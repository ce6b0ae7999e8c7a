package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"cordon/internal/testbrowser"
)

// screenPatience is how long a text may take to a screen before the measurement is given up.
const screenPatience = 30 * time.Second

// watcher waits for texts on something that changes.
type watcher struct {
	mu    sync.Mutex
	text  string
	found chan time.Time
}

// Watch begins to look for a text.
func (w *watcher) Watch(text string) func() (time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text, w.found = text, make(chan time.Time, 1)
	found := w.found
	return func() (time.Time, error) {
		select {
		case at := <-found:
			return at, nil
		case <-time.After(screenPatience):
			return time.Time{}, fmt.Errorf("%s is not on the screen after %s", text, screenPatience)
		}
	}
}

// shows is told what is on the screen.
func (w *watcher) shows(screen string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text != "" && strings.Contains(screen, w.text) {
		w.found <- time.Now()
		w.text = ""
	}
}

// terminalFace is cordon ui in a terminal.
type terminalFace struct {
	watcher
	master *os.File
	cmd    *exec.Cmd
}

// openTerminal opens the desk in a terminal of 160 columns and 50 rows, whose bytes an emulator draws.
func openTerminal(_ context.Context, cordon, repo string) (face, error) {
	f := &terminalFace{cmd: exec.Command(cordon, "ui")}
	f.cmd.Dir, f.cmd.Env = repo, append(os.Environ(), "TERM=xterm-256color")
	var err error
	if f.master, err = pty.StartWithSize(f.cmd, &pty.Winsize{Rows: 50, Cols: 160}); err != nil {
		return nil, err
	}
	screen := vt.NewSafeEmulator(160, 50)
	go func() { _, _ = io.Copy(io.Discard, screen) }() // what a terminal answers
	opened := f.Watch("RUNNING")
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := f.master.Read(buf)
			if err != nil {
				return
			}
			_, _ = screen.Write(buf[:n])
			f.shows(ansi.Strip(screen.Render()))
		}
	}()
	_, err = opened()
	return f, err
}

// Watch goes to the top of the list, where those are who ask.
func (f *terminalFace) Watch(text string) func() (time.Time, error) {
	_, _ = f.master.WriteString("g") // a terminal that is gone shows nothing
	return f.watcher.Watch(text)
}

// Close ends the desk.
func (f *terminalFace) Close() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait() // it was killed
	f.master.Close()
}

// webFace is cordon ui --web, asked as its page asks.
type webFace struct {
	watcher
	cmd    *exec.Cmd
	at     *url.URL
	client *http.Client
	bearer string
	end    context.CancelFunc
}

// startWeb starts cordon ui --web and reads its link.
func startWeb(cordon, repo string) (*webFace, error) {
	f := &webFace{cmd: exec.Command(cordon, "ui", "--web")}
	f.cmd.Dir = repo
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, f.cmd.Process.Kill())
	}
	f.at, err = url.Parse(strings.TrimSpace(link))
	f.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+f.at.Port())
	}}}
	return f, err
}

// openServer enters the desk, and asks for its screen whenever it tells of a change.
func openServer(ctx context.Context, cordon, repo string) (face, error) {
	f, err := startWeb(cordon, repo)
	if err != nil {
		return nil, err
	}
	ctx, f.end = context.WithCancel(ctx)
	body, err := f.ask(ctx, "POST", "/session", `{"token":"`+f.at.Fragment+`"}`)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var got struct{ Bearer string }
	if err := json.NewDecoder(body).Decode(&got); err != nil {
		return nil, err
	}
	f.bearer = got.Bearer
	events, err := f.ask(ctx, "GET", "/events", "")
	if err != nil {
		return nil, err
	}
	go f.follow(ctx, events)
	return f, nil
}

// follow asks for the screen at every change.
func (f *webFace) follow(ctx context.Context, events io.ReadCloser) {
	defer events.Close()
	for lines := bufio.NewScanner(events); lines.Scan(); {
		if lines.Text() != "event: change" {
			continue
		}
		body, err := f.ask(ctx, "GET", "/screen/", "")
		if err != nil {
			return
		}
		var screen bytes.Buffer
		_, err = screen.ReadFrom(body)
		body.Close()
		if err != nil {
			return
		}
		f.shows(screen.String())
	}
}

func (f *webFace) ask(ctx context.Context, method, path, text string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+f.at.Host+path, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if f.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+f.bearer)
	}
	answer, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("%s %s: %s", method, path, answer.Status)
	}
	return answer.Body, nil
}

// Close ends the desk.
func (f *webFace) Close() {
	if f.end != nil {
		f.end()
	}
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait() // it was killed
}

// browserFace is the desk in Chromium.
type browserFace struct {
	*webFace
	hall
	tab *testbrowser.Tab
}

// hall is what a browser is started in: failures end the measurement.
type hall struct{ cleanups []func() }

func (h *hall) Helper()                        {}
func (h *hall) Cleanup(f func())               { h.cleanups = append(h.cleanups, f) }
func (h *hall) Fatal(args ...any)              { panic(fmt.Sprint(args...)) }
func (h *hall) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (h *hall) TempDir() string {
	dir, err := os.MkdirTemp("", "cordon-bench-browser-")
	if err != nil {
		panic(err)
	}
	h.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// openBrowser opens the desk in a real browser.
func openBrowser(_ context.Context, cordon, repo string) (face, error) {
	web, err := startWeb(cordon, repo)
	if err != nil {
		return nil, err
	}
	f := &browserFace{webFace: web}
	f.tab = testbrowser.Start(&f.hall).Tab()
	f.tab.Size(1440, 900)
	f.tab.Open(f.at.String())
	f.tab.Until(`document.querySelector("header")`)
	return f, nil
}

// Watch lets the page itself tell when a text is in it and painted.
func (f *browserFace) Watch(text string) func() (time.Time, error) {
	testbrowser.Eval[bool](f.tab, `(() => { window.seen = new Promise(done => {
		const look = () => { if (document.body.textContent.includes("`+text+`")) { watch.disconnect();
			requestAnimationFrame(() => requestAnimationFrame(() => done(performance.timeOrigin + performance.now()))) } };
		const watch = new MutationObserver(look); watch.observe(document.body, {subtree: true, childList: true, characterData: true}) }); return true })()`)
	return func() (time.Time, error) {
		at := testbrowser.Eval[float64](f.tab, "window.seen")
		return time.UnixMicro(int64(at * 1000)), nil
	}
}

// Close ends the browser and the desk.
func (f *browserFace) Close() {
	for _, end := range f.cleanups {
		end()
	}
	f.webFace.Close()
}
