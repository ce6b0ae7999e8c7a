package guard

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

var began = time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)

// warranted is a warrant of a lease of an hour, as it is written.
func warranted(t *testing.T, change func(*Warrant)) []byte {
	t.Helper()
	s, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brave-otter", Branch: "b", Base: git.OID(strings.Repeat("1", 40)), Target: "refs/heads/main",
			Created: began, Expires: began.Add(time.Hour), Executed: []string{}, Source: "test", Policy: policy.Default(),
		},
		Place: lease.Place{Worktree: "/w/a&b", Home: "/home/agent"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := NewWarrant(s)
	w.Hosts, w.State, w.Confined, w.Journal = []string{"/w/<repo>"}, "/state", true, "/state/decisions"
	if change != nil {
		change(&w)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Only what cordon writes is a warrant. Blanks between its parts are nobody's harm.
func TestWarrantIsReadStrictly(t *testing.T) {
	ours := string(warranted(t, nil))
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(ours), "", "  "); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"as it is written": ours, "indented": indented.String(), "without a journal": string(warranted(t, func(w *Warrant) { w.Journal = "" })), "with a post": string(warranted(t, func(w *Warrant) { w.Post = "/state/post" }))} {
		if w, err := ReadWarrant([]byte(text)); err != nil || w.Hosts[0] != "/w/<repo>" {
			t.Errorf("%s: %v", what, err)
		}
	}
	add := func(member string) string { return strings.Replace(ours, `"hosts":`, member+`,"hosts":`, 1) }
	last := func(member string) string {
		return strings.TrimSuffix(strings.TrimSpace(ours), "}") + "," + member + "}"
	}
	for what, text := range map[string]string{
		"nothing":                 "",
		"hosts twice":             last(`"hosts":[]`),
		"hosts in capitals":       last(`"HOSTS":[]`),
		"hosts in capitals first": add(`"HOSTS":[]`),
		"hosts, escaped":          strings.Replace(ours, `"hosts"`, `"host\u0073"`, 1),
		"only in capitals":        strings.Replace(ours, `"confined"`, `"Confined"`, 1),
		"an unknown key":          last(`"more":1`),
		"a missing key":           strings.Replace(ours, `"confined":true,`, ``, 1),
		"an empty journal":        strings.Replace(ours, `"/state/decisions"`, `""`, 1),
		"not UTF-8":               strings.Replace(ours, `/w/<repo>`, "/w/\xff", 1),
		"two":                     ours + ours,
		"another schema":          strings.Replace(ours, "cordon.warrant/1", "cordon.warrant/2", 1),
		"a relative journal":      string(warranted(t, func(w *Warrant) { w.Journal = "decisions" })),
		"a journal that goes up":  string(warranted(t, func(w *Warrant) { w.Journal = "/state/../w/x" })),
		"a relative post":         string(warranted(t, func(w *Warrant) { w.Post = "post" })),
		"a post that goes up":     string(warranted(t, func(w *Warrant) { w.Post = "/state/post/.." })),
		"an empty post":           last(`"post":""`),
		"a post in capitals":      last(`"POST":"/x"`),
		"the root for a journal":  string(warranted(t, func(w *Warrant) { w.Journal = "/" })),
	} {
		if w, err := ReadWarrant([]byte(text)); err == nil {
			t.Errorf("%s: %+v", what, w)
		}
	}
}

// A warrant is good from when its lease begins, by clocks that may differ a
// little, until it ends.
func TestWarrantInTime(t *testing.T) {
	w, err := ReadWarrant(warranted(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		after time.Duration
		good  bool
	}{{-6 * time.Minute, false}, {-24 * time.Hour, false}, {-4 * time.Minute, true}, {0, true}, {59 * time.Minute, true}, {time.Hour, false}} {
		if s, err := w.Scope(began.Add(row.after)); (err == nil) != row.good || (s != nil) != row.good {
			t.Errorf("after %v: %v", row.after, err)
		}
	}
}
