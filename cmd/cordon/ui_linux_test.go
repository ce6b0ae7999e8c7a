package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/view"
)

// webDesk is a desk that is open in a browser.
type webDesk struct {
	*running
	at     *url.URL
	client *http.Client
	bearer string
}

// openDesk starts cordon ui --web and enters it as its page does.
func openDesk(s *site) *webDesk {
	s.t.Helper()
	link := filepath.Join(s.t.TempDir(), "link")
	out, err := os.Create(link)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	r := &running{site: s, cmd: s.command("ui", "--web"), done: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = out, &r.errs
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = r.cmd.Wait(); close(r.done) }()
	s.t.Cleanup(func() { _ = r.cmd.Process.Kill(); <-r.done })
	d := &webDesk{running: r, client: browser(s.t)}
	if d.at, err = url.Parse(r.until(link)); err != nil || d.at.Fragment == "" || !strings.HasPrefix(d.at.Host, "desk-") {
		s.t.Fatal(d.at, err)
	}
	d.bearer = d.enter()
	return d
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
		"/worker/" + id: {"Nothing of it is in main.", "outside write_roots", "evil<span class=\"chip\">U&#43;202E</span>txt", "cordon merge --inside " + id,
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
