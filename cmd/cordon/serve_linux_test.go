package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cordon/internal/post"
)

func init() { programs["calls"] = func() { os.Exit(calls(os.Args[1], os.Args[2])) } }

// served is a site with a server.
type served struct {
	*site
	dir    string // of its socket
	client *http.Client
	end    func()
	kill   func() // with SIGKILL
	tokens int    // that were made for old clients
}

// over is a client that speaks through the socket of a directory.
func over(dir string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return post.Dial(ctx, dir) }}}
}

// calls asks the server in a directory for the workers, and says what came of it.
func calls(dir, secret string) int {
	r, err := http.NewRequest("GET", "http://cordon/v1/workers", nil)
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+secret)
		var got *http.Response
		if got, err = over(dir).Do(r); err == nil {
			fmt.Println("REACHED", got.Status)
			return 0
		}
	}
	fmt.Println("not reached:", err)
	return 1
}

// newServed starts a server and waits until it says where it is.
func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{site: newSite(t)}
	s.start()
	t.Cleanup(func() { s.end() })
	return s
}

// start starts the server, also once more.
func (s *served) start() {
	t := s.t
	t.Helper()
	cmd := s.command("serve", "--json")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	s.end = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("cordon serve: %v\n%s", err, errs.String())
		}
	}
	s.kill = func() {
		ended = true
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	var raw json.RawMessage
	var where struct{ Socket string }
	if err := json.NewDecoder(out).Decode(&raw); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if err := valid(string(raw)); err != nil {
		t.Error(err)
	}
	s.parse(string(raw), &where)
	s.dir = filepath.Dir(where.Socket)
	s.client = over(s.dir)
	t.Cleanup(s.client.CloseIdleConnections)
}

// token makes one.
func (s *served) token(name, scopes string) string {
	s.t.Helper()
	var made struct{ Token string }
	s.parse(s.cordon([]int{0}, "token", "new", "--json", name, "--scope", scopes).out, &made)
	return made.Token
}

// ask sends a request, and wants a status and an object that is as published.
func (s *served) ask(status int, secret, method, path, body string, headers ...string) string {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://cordon"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	got, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != status {
		s.t.Fatalf("%s %s answered %s, want %d: %s, %v", method, path, got.Status, status, text, err)
	}
	for name := range got.Header {
		if strings.HasPrefix(name, "Access-Control") || name == "Set-Cookie" {
			s.t.Errorf("%s %s answered with %s", method, path, name)
		}
	}
	if path != "/v1/openapi.json" {
		if err := valid(string(text)); err != nil {
			s.t.Errorf("%s %s: %v", method, path, err)
		}
	}
	return string(text)
}

// pages reads something long in pages of n lines.
func (s *served) pages(secret, path string, n int) string {
	s.t.Helper()
	var whole strings.Builder
	digest := ""
	for from, first := 0, true; first || from > 0; first = false {
		var page struct {
			Digest string
			Lines  []string
			Next   int
		}
		s.parse(s.ask(200, secret, "GET", fmt.Sprintf("%s?from=%d&n=%d", path, from, n), ""), &page)
		if digest != "" && digest != page.Digest || len(page.Lines) > n {
			s.t.Errorf("%+v", page)
		}
		for _, line := range page.Lines {
			whole.WriteString(line + "\n")
		}
		digest, from = page.Digest, page.Next
	}
	return whole.String()
}

// TestServe holds what the server answers against what the commands print, and its refusals
// against what they should say.
func TestServe(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	if o := s.cordon([]int{3}, "serve"); !strings.Contains(o.err, "another cordon serve answers") {
		t.Error(o.err)
	}
	editor, reader := s.token("editor", "read,answer"), s.token("reader", "read")
	s.cordon([]int{5}, "run", "--no-merge", "--", "sh", "-c", `printf '1\n2\n3\n' >src/new; echo one; echo two; cordon ask --no-wait "left or right?" --option left`)
	id := s.only().Worker

	// The same objects.
	for path, command := range map[string][]string{
		"/v1/workers": {"ls", "--json"}, "/v1/workers/" + id: {"show", "--json", id}, "/v1/inbox": {"inbox", "--json"},
		"/v1/workers/" + id + "/audit": {"audit", "--json", id}, "/v1/workers/" + id + "/guard": {"logs", "--guard", "--json", id},
		"/v1/workers/" + id + "/net": {"logs", "--net", "--json", id}, "/v1/plans": {"plan", "ls", "--json"}, "/v1/queue": {"queue", "--json"},
	} {
		if got, want := s.ask(200, reader, "GET", path, ""), s.cordon([]int{0}, command...).out; got != want {
			t.Errorf("%s answers\n%s\ncordon %s prints\n%s", path, got, strings.Join(command, " "), want)
		}
	}
	if got, want := s.pages(reader, "/v1/workers/"+id+"/diff", 2), s.cordon([]int{0}, "diff", id).out; got != want || want == "" {
		t.Errorf("the pages of the diff are\n%s\nand it is\n%s", got, want)
	}
	if got, want := s.pages(reader, "/v1/workers/"+id+"/transcript", 1), s.cordon([]int{0}, "logs", id).out; got != want || !strings.Contains(want, "two\n") {
		t.Errorf("the pages of the transcript are\n%s\nand it is\n%s", got, want)
	}
	published, err := os.ReadFile("../../docs/openapi.json")
	if err != nil || s.ask(200, "", "GET", "/v1/openapi.json", "") != string(published) {
		t.Errorf("it is not docs/openapi.json (%v)", err)
	}

	// What is refused.
	for _, c := range []struct {
		status             int
		secret, method     string
		path, body, says   string
		header, headerText string
	}{
		{401, "", "GET", "/v1/workers", "", "a request needs a token", "", ""},
		{401, "cordon_" + strings.Repeat("A", 43), "GET", "/v1/workers", "", "the token is not known", "", ""},
		{401, "", "GET", "/v1/workers", "", "a request needs a token", "Authorization", "Basic " + reader},
		{403, reader, "POST", "/v1/workers/" + id + "/answer", `{"text":"left"}`, "the token reader has the scopes read, and this needs answer", "", ""},
		{403, editor, "POST", "/v1/workers", `{"client":"x","prompt":"y"}`, "this needs dispatch", "", ""},
		{403, reader, "GET", "/v1/workers", "", "not for pages in a browser", "Origin", "http://localhost:3000"},
		{403, reader, "GET", "/v1/workers", "", "not for pages in a browser", "Sec-Fetch-Site", "cross-site"},
		{404, reader, "GET", "/v1/policy", "", "there is no /v1/policy", "", ""},
		{403, editor, "POST", "/v1/workers/" + id + "/merge", "{}", "and this needs decide", "", ""},
		{404, editor, "POST", "/v1/workers/" + id + "/policy", "{}", "there is no /v1/workers/" + id + "/policy", "", ""},
		{405, editor, "DELETE", "/v1/workers/" + id, "", "does not take DELETE", "", ""},
		{405, reader, "OPTIONS", "/v1/workers", "", "does not take OPTIONS", "", ""},
		{404, reader, "GET", "/v1/workers/nobody", "", `no worker is called \"nobody\"`, "", ""},
		{404, reader, "GET", "/v1/workers/" + id[:3], "", "no worker is called", "", ""},
		{404, reader, "GET", "/v1/plans/none", "", `there is no plan \"none\"`, "", ""},
		{400, reader, "GET", "/v1/workers/" + id + "/diff?n=0", "", "n is at least 1", "", ""},
		{400, reader, "GET", "/v1/workers/" + id + "/diff?from=-1", "", "from is a number", "", ""},
		{410, reader, "GET", "/v1/events?after=99999", "", "does not continue", "", ""},
		{400, reader, "GET", "/v1/events", "", "Last-Event-ID is a number", "Last-Event-ID", "x"},
		{415, editor, "POST", "/v1/workers/" + id + "/answer", `{"text":"left"}`, "application/json", "Content-Type", "text/plain"},
		{400, editor, "POST", "/v1/workers/" + id + "/answer", `{"text":"left","merge":true}`, `unknown field \"merge\"`, "", ""},
		{400, editor, "POST", "/v1/workers/" + id + "/answer", `{"text":" "}`, "an answer needs a text", "", ""},
		{400, editor, "POST", "/v1/workers/" + id + "/answer", `{"text":"a"} {}`, "more than one object", "", ""},
		{413, editor, "POST", "/v1/workers/" + id + "/answer", `{"text":"` + strings.Repeat("a", 1<<20) + `"}`, "a body has at most", "", ""},
		{409, editor, "POST", "/v1/workers/" + id + "/answer", `{"text":"left","question":"q2"}`, "has asked no question q2", "", ""},
	} {
		if got := s.ask(c.status, c.secret, c.method, c.path, c.body, c.header, c.headerText); !strings.Contains(got, c.says) {
			t.Errorf("%s %s says %s, and not %q", c.method, c.path, got, c.says)
		}
	}

	// An answer, once; the journal says through what it came.
	if got := s.ask(200, editor, "POST", "/v1/workers/"+id+"/answer", `{"text":"left"}`); !strings.Contains(got, `"answer": "left"`) {
		t.Error(got)
	}
	if got := s.ask(409, editor, "POST", "/v1/workers/"+id+"/answer", `{"text":"right","question":"q1"}`); !strings.Contains(got, "already been answered by") {
		t.Error(got)
	}
	if got := s.cordon([]int{0}, "journal", id).out; !strings.Contains(got, "via api:editor") {
		t.Error(got)
	}
	s.tokensAreKept(editor)
}

// tokensAreKept looks at the files of the server, and removes a token.
func (s *served) tokensAreKept(secret string) {
	s.t.Helper()
	kept, err := os.ReadFile(filepath.Join(s.dir, "tokens.json"))
	if err != nil || bytes.Contains(kept, []byte(secret)) || bytes.Contains(kept, []byte(strings.TrimPrefix(secret, "cordon_"))) {
		s.t.Errorf("the token is kept: %s (%v)", kept, err)
	}
	for _, name := range []string{"tokens.json", post.Socket} {
		if fi, err := os.Lstat(filepath.Join(s.dir, name)); err != nil || fi.Mode().Perm() != 0o600 {
			s.t.Errorf("%s has the mode %v (%v)", name, fi.Mode(), err)
		}
	}
	for _, args := range [][]string{{"new", "editor"}, {"new", "x", "--scope", "admin"}, {"new", "x", "--scope", "read,read"}, {"new", "a b"}, {"rm", "nobody"}} {
		s.cordon([]int{2}, append([]string{"token"}, args...)...)
	}
	if got := s.cordon([]int{0}, "token", "ls", "--json").out; !strings.Contains(got, `"editor"`) || strings.Contains(got, secret) {
		s.t.Error(got)
	}
	s.cordon([]int{0}, "token", "rm", "--json", "editor")
	s.ask(401, secret, "GET", "/v1/workers", "")
	if err := os.Chmod(filepath.Join(s.dir, "tokens.json"), 0o640); err != nil {
		s.t.Fatal(err)
	}
	s.ask(500, secret, "GET", "/v1/workers", "")
}

// eventStream is a stream of events.
type eventStream struct {
	t    *testing.T
	in   *bufio.Reader
	body io.Closer
}

// events asks for the events after one, by the query or by the header.
func (s *served) events(secret, after string, byHeader bool) *http.Response {
	s.t.Helper()
	path := "http://cordon/v1/events"
	if !byHeader && after != "" {
		path += "?after=" + after
	}
	r, err := http.NewRequest("GET", path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	if byHeader {
		r.Header.Set("Last-Event-ID", after)
	}
	got, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { got.Body.Close() })
	return got
}

// follow begins a stream.
func (s *served) follow(secret, after string, byHeader bool) *eventStream {
	s.t.Helper()
	got := s.events(secret, after, byHeader)
	if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatal(got)
	}
	return &eventStream{s.t, bufio.NewReader(got.Body), got.Body}
}

// next is the next event: its fields, and of its id the number, too. A stream that has ended has none.
func (s *eventStream) next() map[string]string {
	fields := map[string]string{}
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return nil
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" && len(fields) > 0 {
			fields["number"], _, _ = strings.Cut(fields["id"], ".")
			return fields
		}
		if name, value, ok := strings.Cut(line, ": "); ok && name != "" {
			fields[name] = value
		}
	}
}

// TestServeEvents resumes the stream after every event, follows what is new, and ends with
// its token.
func TestServeEvents(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	secret := s.token("bot", "read")
	s.cordon([]int{0}, "run", "--", "true")
	var log struct{ Events []json.RawMessage }
	s.parse(s.cordon([]int{0}, "journal", "--json").out, &log)
	if len(log.Events) < 3 {
		t.Fatal(len(log.Events))
	}
	mark := ""
	for after := 0; after <= len(log.Events); after++ {
		events := s.follow(secret, cmp.Or(mark, fmt.Sprint(after)), after%2 == 1)
		for seq := after + 1; seq <= len(log.Events); seq++ {
			got := events.next()
			if got["number"] != fmt.Sprint(seq) {
				t.Fatalf("after %d, event %d is %v", after, seq, got)
			}
			if seq == after+1 {
				mark = got["id"] // the next stream begins after it
			}
			if err := valid(got["data"]); err != nil {
				t.Error(err)
			}
			if !sameEvent(t, got["data"], log.Events[seq-1]) {
				t.Errorf("%s\nis not\n%s", got["data"], log.Events[seq-1])
			}
		}
		events.body.Close()
	}
	live := s.follow(secret, fmt.Sprint(len(log.Events)), false)
	s.cordon([]int{0}, "run", "--", "true")
	if got := live.next(); got["number"] != fmt.Sprint(len(log.Events)+1) || !strings.Contains(got["data"], "lease.sealed") {
		t.Errorf("%v", got)
	}
	for range len(log.Events) - 1 { // as many as the first run
		live.next()
	}
	s.cordon([]int{0}, "token", "rm", "bot") // nothing else happens
	if got := live.next(); got["event"] != "error" || !strings.Contains(got["data"], "the token is not known") {
		t.Errorf("after the token was removed: %v", got)
	}
	if got := live.next(); got != nil {
		t.Errorf("the stream goes on: %v", got)
	}
	open := s.follow(s.token("other", "read"), "", false) // the end of the server is not held up by it
	s.end()
	for open.next() != nil {
	}
	if _, err := os.Lstat(filepath.Join(s.dir, post.Socket)); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// TestServeEventsSurviveKills kills the server with SIGKILL at any moment while events come, and
// resumes at the last one that arrived: every event arrives, once and in order.
func TestServeEventsSurviveKills(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	secret := s.token("bot", "read")
	last, mark := 0, "0"
	read := func(events *eventStream, n int) {
		t.Helper()
		for range n {
			got := events.next()
			if got["number"] != fmt.Sprint(last+1) {
				t.Fatalf("after %d came %v", last, got)
			}
			last, mark = last+1, got["id"]
		}
	}
	var runs sync.WaitGroup
	for round := range 5 {
		runs.Go(func() { // at least three events
			if out, err := s.command("run", "--", "true").CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
		read(s.follow(secret, mark, round%2 == 0), 1+rand.IntN(3))
		s.kill()
		s.start()
	}
	runs.Wait()
	var log struct{ Events []json.RawMessage }
	s.parse(s.cordon([]int{0}, "journal", "--json").out, &log)
	read(s.follow(secret, mark, true), len(log.Events)-last)
}

// sameEvent compares an event of a stream with the line of the journal, but for the schema.
func sameEvent(t *testing.T, text string, want json.RawMessage) bool {
	t.Helper()
	var a, b map[string]any
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	delete(a, "schema")
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// TestServeIsOutOfReach lets a worker that has a token try to reach the server from its cell,
// and to make a token or a server of its own.
func TestServeIsOutOfReach(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	secret := s.token("stolen", "read,answer,dispatch")
	control := exec.Command("calls", s.dir, secret)
	control.Env = s.env
	if out, err := control.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("REACHED 200")) {
		t.Fatalf("the attack does not work outside of a cell: %s (%v)", out, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.write("repo/calls", string(text)), 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("add", "calls")
	s.git("commit", "-q", "-m", "the attack")
	attack := s.command("run", "--", "sh", "-c", `./calls "$1" "$2" && exit 8
ls "$1" && exit 7
find / -xdev -name tokens.json 2>/dev/null | grep . && exit 6
cordon token new mine && exit 5
cordon serve && exit 4
cordon mcp </dev/null && exit 3
echo tried everything`, "sh", s.dir, secret)
	if o := s.try(attack); o.code != 0 || !strings.Contains(o.out+o.err, "not reached: ") || !strings.Contains(o.out+o.err, "tried everything") {
		t.Errorf("%d\n%s\n%s", o.code, o.out, o.err)
	}
	if got := s.cordon([]int{0}, "token", "ls").out; strings.Contains(got, "mine") {
		t.Error(got)
	}
}

// TestServeDispatch starts a client by its name and a prompt, and nothing else.
func TestServeDispatch(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	secret := s.token("bot", "dispatch")
	for body, says := range map[string]string{
		`{"client":"--policy","prompt":"x"}`:                 "unknown client",
		`{"client":"sh","prompt":"x"}`:                       "unknown client",
		`{"client":"","prompt":"x"}`:                         "unknown client",
		`{"client":"claude","prompt":" "}`:                   "a dispatch needs a prompt",
		`{"client":"claude","prompt":"a\u0000b"}`:            "a prompt has no zero bytes",
		`{"client":"claude","prompt":"x","args":["-x"]}`:     `unknown field \"args\"`,
		`{"client":"claude","prompt":"x","merge":true}`:      `unknown field \"merge\"`,
		`{"client":"claude","prompt":"x","policy":"a.yaml"}`: `unknown field \"policy\"`,
	} {
		if got := s.ask(400, secret, "POST", "/v1/workers", body); !strings.Contains(got, says) {
			t.Errorf("%s: %s", body, got)
		}
	}
	s.write("repo/cordon.yaml", "not: a policy\n")
	s.git("add", "cordon.yaml")
	s.git("commit", "-q", "-m", "a policy that is none")
	if got := s.ask(422, secret, "POST", "/v1/workers", `{"client":"claude","prompt":"x"}`); !strings.Contains(got, "cordon.yaml") {
		t.Error(got)
	}
	if all := s.workers(); len(all) != 0 {
		t.Errorf("%v", all)
	}
}
