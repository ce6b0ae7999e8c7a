package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/view"
)

// webDesk is a desk that is open in a browser.
type webDesk struct {
	*running
	said   string // what it printed
	at     *url.URL
	client *http.Client
	bearer string
}

// openDesk starts cordon ui --web and enters it as its page does.
func openDesk(s *site, flags ...string) *webDesk {
	s.t.Helper()
	d := startDesk(s, flags...)
	d.bearer = d.enter()
	return d
}

// startDesk starts cordon ui --web. Its link is good once.
func startDesk(s *site, flags ...string) *webDesk {
	s.t.Helper()
	d := launchDesk(s, flags...)
	var err error
	if d.at, err = url.Parse(d.said); err != nil || d.at.Fragment == "" || !strings.HasPrefix(d.at.Host, "desk-") {
		s.t.Fatal(d.at, err)
	}
	return d
}

// launchDesk starts cordon ui --web and waits for what it prints.
func launchDesk(s *site, flags ...string) *webDesk {
	s.t.Helper()
	link := filepath.Join(s.t.TempDir(), "link")
	out, err := os.Create(link)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	r := &running{site: s, cmd: s.command(append([]string{"ui", "--web"}, flags...)...), done: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = out, &r.errs
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = r.cmd.Wait(); close(r.done) }()
	s.t.Cleanup(func() { _ = r.cmd.Process.Kill(); <-r.done })
	return &webDesk{running: r, client: browser(s.t), said: r.until(link)}
}

// enter changes the one-time token for a bearer token.
func (d *webDesk) enter() string {
	d.t.Helper()
	a, err := d.client.Post("http://"+d.at.Host+"/session", "application/json", strings.NewReader(`{"token":"`+d.at.Fragment+`"}`))
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	var got struct{ Bearer string }
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode == 200 {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return got.Bearer
}

// screen is a screen of the desk.
func (d *webDesk) screen(path string) string {
	d.t.Helper()
	code, text := fetch(d.t, d.client, "http://"+d.at.Host+"/screen"+path, "Authorization", "Bearer "+d.bearer)
	if code != 200 {
		d.t.Fatalf("%s: %d %s", path, code, text)
	}
	return text
}

// The desk shows a quarantined worker with the reason, follows the journal, is reached by no lease,
// and ends without a word.
func TestDeskInBrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{4}, "run", "--write", "src", "--", "sh", "-c", `echo b >> src/a.txt; printf 'evil\342\200\256txt\n' >> docs/d.txt`)
	var list view.Workers
	s.parse(s.cordon([]int{0}, "ls", "--json").out, &list)
	id := list.Workers[0].ID
	d := openDesk(s)
	if d.bearer == "" || d.enter() != "" {
		t.Error("the link opens the desk more than once, or never")
	}
	for path, words := range map[string][]string{
		"/": {"(1) cordon desk", id, "quarantined", "docs/d.txt: outside write_roots", "cordon quarantine show " + id},
		"/worker/" + id: {"Nothing of it is in main.", "outside write_roots", "evil<span class=\"chip\">U&#43;202E</span>txt", `value="land what is inside"`,
			"lease.sealed"},
		"/plan":                    {"No plan was run."},
		"/journal":                 {"sound", "worker.quarantined"},
		"/journal?type=lease":      {"lease.sealed"},
		"/journal?worker=nobodyxx": {"No event is like that."},
	} {
		text := d.screen(path)
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("%s does not have %q", path, word)
			}
		}
	}
	review := d.screen("/worker/" + id)
	if strings.Index(review, `<bdi dir="ltr">docs/d.txt</bdi>`) > strings.Index(review, `<bdi dir="ltr">src/a.txt</bdi>`) {
		t.Error("what is out of lease does not come first")
	}
	for _, path := range []string{"/worker/none", "/worker/" + id[:3], "/plan/none", "/nothing"} {
		if code, _ := fetch(t, d.client, "http://"+d.at.Host+"/screen"+path, "Authorization", "Bearer "+d.bearer); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
	s.refusesDesk(d)
	s.cordon([]int{0}, "discard", id, "--yes")
	if text := d.screen("/"); !strings.Contains(text, "Nobody needs you") {
		t.Error("the desk does not follow the journal")
	}
	_ = d.cmd.Process.Signal(syscall.SIGINT)
	<-d.done
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d: %s", code, d.errs.String())
	}
}

// refusesDesk checks that no lease names the port of an open desk, and that the same lease is good without it.
func (s *site) refusesDesk(d *webDesk) {
	s.t.Helper()
	for entry, want := range map[string]string{
		"host_ports: [PORT]":                       "network.host_ports names port PORT, where a desk is open in your browser",
		"allowed_domains: ['127.0.0.1:PORT']":      "is this machine's loopback",
		"allowed_domains: ['DESK.localhost:PORT']": "",
	} {
		fill := strings.NewReplacer("PORT", d.at.Port(), "DESK", strings.TrimSuffix(d.at.Hostname(), ".localhost"))
		policy := s.write("desk.yaml", "version: 1\nfilesystem:\n  write_roots: [src]\nnetwork:\n  "+fill.Replace(entry)+"\n")
		if o := s.cordon([]int{3}, "run", "--policy", policy, "--", "true"); !strings.Contains(o.err, fill.Replace(want)) {
			s.t.Errorf("%s: %+v", entry, o)
		}
	}
	policy := s.write("desk.yaml", "version: 1\nfilesystem:\n  write_roots: [src]\nnetwork:\n  host_ports: [1"+d.at.Port()[1:]+"]\n")
	if "1"+d.at.Port()[1:] != d.at.Port() {
		s.cordon([]int{0}, "run", "--policy", policy, "--", "true")
	}
}

// post sends something as the page does.
func (d *webDesk) post(path string, body any) (int, string) {
	d.t.Helper()
	a, err := d.do(path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	said, err := io.ReadAll(a.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return a.StatusCode, string(said)
}

// sends is post for a desk that may not live to answer.
func (d *webDesk) sends(path string, body any) error {
	a, err := d.do(path, body)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	_, err = io.ReadAll(a.Body)
	return err
}

func (d *webDesk) do(path string, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest("POST", "http://"+d.at.Host+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+d.bearer)
	return d.client.Do(r)
}

// seenOf is what a review of a worker shows.
func (s *site) seenOf(id string) string {
	s.t.Helper()
	var v view.Review
	s.parse(s.cordon([]int{0}, "show", "--review", "--json", id).out, &v)
	return v.Digests.Seen
}

// The page decides about what it showed: a release lands, the journal names the desk, the same
// decision again is refused with who decided, and another desk on the same state loses.
func TestDeskDecides(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{4}, "run", "--write", "src", "--", "sh", "-c", `echo b >> src/a.txt; echo more >> docs/d.txt`)
	var list view.Workers
	s.parse(s.cordon([]int{0}, "ls", "--json").out, &list)
	id := list.Workers[0].ID
	d := openDesk(s)
	page := d.screen("/worker/" + id)
	for _, word := range []string{`data-seen="` + s.seenOf(id) + `"`, `name="roots"`, `value="docs/d.txt"`} {
		if !strings.Contains(page, word) {
			t.Errorf("the form does not have %s", word)
		}
	}
	if strings.Contains(page, "checked") {
		t.Error("something is chosen beforehand")
	}
	release := map[string]any{"worker": id, "choice": "release", "seen": s.seenOf(id), "roots": []string{"docs/d.txt"}}
	if code, said := d.post("/decide", release); code != 400 || !strings.Contains(said, "needs a reason") {
		t.Errorf("%d %s", code, said)
	}
	release["reason"] = "the guide changes too"
	code, said := d.post("/preview", release)
	want := "cordon quarantine release " + id + " --write=docs/d.txt '--reason=the guide changes too' --seen=" + s.seenOf(id)
	var told struct{ Command string }
	if err := json.Unmarshal([]byte(said), &told); code != 200 || err != nil || told.Command != want {
		t.Errorf("%d %s %v", code, said, err)
	}
	if code, said := d.post("/decide", release); code != 200 || !strings.Contains(said, "merged") {
		t.Fatalf("%d %s", code, said)
	}
	if got := s.git("show", "main:docs/d.txt"); got != "d\nmore" {
		t.Errorf("main has %q", got)
	}
	if code, said := d.post("/decide", release); code != 409 || !strings.Contains(said, "via web") {
		t.Errorf("the same again: %d %s", code, said)
	}
	if out := s.cordon([]int{0}, "journal", "--json").out; !strings.Contains(out, "via web") {
		t.Errorf("the journal does not name the desk: %s", out)
	}
}

// What the page notes is kept where cordon comments keeps it, and bound to the content that was shown. What is sent
// back takes the comments along.
func TestDeskNotes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{4}, "run", "--write", "src", "--", "sh", "-c", `echo b >> src/a.txt; echo more >> docs/d.txt`)
	var list view.Workers
	s.parse(s.cordon([]int{0}, "ls", "--json").out, &list)
	id := list.Workers[0].ID
	d := openDesk(s)
	named := base64.StdEncoding.EncodeToString([]byte("docs/d.txt"))
	blob := regexp.MustCompile(`data-path="` + named + `" data-old="[0-9a-f]+" data-new="([0-9a-f]+)"`).FindStringSubmatch(d.screen("/worker/" + id))
	if blob == nil {
		t.Fatal("the page does not name the content of docs/d.txt")
	}
	comment := map[string]any{"do": "comment", "worker": id, "path": []byte("docs/d.txt"), "side": "new", "blob": blob[1], "from": 2, "to": 2, "text": "Not here."}
	with := func(key string, value any) map[string]any {
		changed := maps.Clone(comment)
		changed[key] = value
		return changed
	}
	for name, c := range map[string]struct {
		body map[string]any
		code int
	}{
		"another content":           {with("blob", strings.Repeat("1", 40)), 409},
		"no content":                {with("blob", ""), 400},
		"no such line":              {with("to", 3), 400},
		"another path":              {with("path", []byte("../d.txt")), 400},
		"no text":                   {with("text", " "), 400},
		"a beginning of its name":   {with("worker", id[:3]), 400},
		"nothing that can be noted": {with("do", "merge"), 400},
	} {
		if code, said := d.post("/note", c.body); code != c.code {
			t.Errorf("%s: %d %s", name, code, said)
		}
	}
	for _, body := range []map[string]any{
		comment, with("text", "Nor there."), {"do": "remove", "worker": id, "comment": "c2"}, {"do": "seen", "worker": id, "blob": blob[1]},
	} {
		if code, said := d.post("/note", body); code != 200 {
			t.Fatalf("%v: %d %s", body, code, said)
		}
	}
	var kept view.Comments
	s.parse(s.cordon([]int{0}, "comments", "ls", id, "--json").out, &kept)
	if len(kept.Comments) != 1 || kept.Comments[0].Blob != blob[1] || !strings.HasSuffix(kept.Comments[0].Who, " via web") || !slices.Equal(kept.Seen, blob[1:]) {
		t.Errorf("kept %+v", kept)
	}
	page := d.screen("/worker/" + id)
	for _, word := range []string{`id="comment-c1"`, "Not here.", "1 of 2 files seen", "One comment goes along."} {
		if !strings.Contains(page, word) {
			t.Errorf("the page does not have %q", word)
		}
	}
	back := map[string]any{"worker": id, "choice": "send back", "seen": s.seenOf(id), "comments": true}
	if code, said := d.post("/preview", back); code != 200 || !strings.Contains(said, "cordon resume "+id+" --comments") {
		t.Errorf("%d %s", code, said)
	}
	if code, said := d.post("/decide", back); code != 200 {
		t.Fatalf("%d %s", code, said)
	}
	for begin := time.Now(); len(kept.Comments) != 1 || kept.Comments[0].Sent == nil; { // the page is told when the journal has it; the mark follows
		s.parse(s.cordon([]int{0}, "comments", "ls", id, "--json").out, &kept)
		if time.Since(begin) > time.Minute {
			t.Fatalf("after it was sent back: %+v", kept)
		}
	}
}

// A desk for browsers without scripts answers a plain request with the whole screen, for the one who has its key.
func TestDeskWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{4}, "run", "--write", "src", "--", "sh", "-c", `echo added >> src/a.txt; echo more >> docs/d.txt`)
	var list view.Workers
	s.parse(s.cordon([]int{0}, "ls", "--json").out, &list)
	id := list.Workers[0].ID
	for _, flags := range [][]string{{"--no-script"}, {"--web", "--no-script", "--trust-unconfined"}} {
		s.cordon([]int{2}, append([]string{"ui"}, flags...)...)
	}
	d := launchDesk(s, "--no-script")
	address, key, _ := strings.Cut(strings.TrimSpace(d.said), "\n")
	if len(key) != 32 || !strings.HasPrefix(address, "http://desk-") || strings.Contains(address, key) {
		t.Fatalf("%q", d.said)
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+key))
	for path, words := range map[string][]string{
		"": {id, "docs/d.txt: outside write_roots"}, "worker/" + id: {"Nothing of it is in main.", "added", "more", "cordon merge --inside " + id, "lease.sealed"},
		"plan": {"No plan was run."}, "journal": {"worker.quarantined"},
	} {
		if code, text := fetch(t, d.client, address+path, "Authorization", "Bearer "+key); code != 401 || strings.Contains(text, id) {
			t.Errorf("%s without the password: %d", path, code)
		}
		code, text := fetch(t, d.client, address+path, "Authorization", basic)
		if code != 200 || strings.Contains(text, `id="decide"`) || strings.Contains(text, "<script") {
			t.Errorf("%s: %d", path, code)
		}
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("%s does not have %q", path, word)
			}
		}
	}
}

// While a worker without a cell runs, the page decides nothing, unless the operator said so.
func TestDeskReadOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{4}, "run", "--write", "src", "--", "sh", "-c", `echo more >> docs/d.txt`)
	var list view.Workers
	s.parse(s.cordon([]int{0}, "ls", "--json").out, &list)
	id := list.Workers[0].ID
	policy := s.write("none.yaml", "version: 1\nisolation: none\nfilesystem:\n  write_roots: [src]\n")
	s.cordon([]int{0}, "run", "--detach", "--policy", policy, "--", "sleep", "600")
	d := openDesk(s)
	defer func() {
		s.parse(s.cordon([]int{0}, "ls", "--json").out, &list)
		s.cordon([]int{0}, "stop", list.Workers[1].ID)
	}()
	discard := map[string]any{"worker": id, "choice": "discard", "seen": s.seenOf(id)}
	for !strings.Contains(d.screen("/"), "Read-only.") {
		runtime.Gosched() // until the worker runs
	}
	if text := d.screen("/worker/" + id); strings.Contains(text, `id="decide"`) || !strings.Contains(text, `id="readonly"`) {
		t.Error("the page has a form")
	}
	if code, said := d.post("/decide", discard); code != 403 || !strings.Contains(said, "read-only") {
		t.Errorf("%d %s", code, said)
	}
	if code, said := d.post("/note", map[string]any{"do": "remove", "worker": id, "comment": "c1"}); code != 403 || !strings.Contains(said, "read-only") {
		t.Errorf("%d %s", code, said)
	}
	trusting := openDesk(s, "--trust-unconfined")
	if text := trusting.screen("/worker/" + id); !strings.Contains(text, `id="decide"`) || !strings.Contains(text, "Not confined.") {
		t.Error("the page has no form")
	}
	if code, said := trusting.post("/decide", discard); code != 200 {
		t.Errorf("%d %s", code, said)
	}
}
