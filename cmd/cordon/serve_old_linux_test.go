package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// request is what a client of cordon serve sent when its version was new, and what it read in the answer.
type request struct {
	Scope, Method, Path, Body string
	Headers                   map[string]string
	Status                    int
	Reads                     map[string]string // a field: its type, or = and its value
	Keeps                     map[string]string // a name for later requests: a field
}

// TestOldClients replays the requests of clients that were written for /1, as they were: each still gets the status and the
// fields that it reads. A file of testdata/clients is never changed or removed; a new kind of client gets a new one.
func TestOldClients(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/clients/v1_*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			s := newServed(t)
			asker, _ := s.awaiting(`echo hello; cordon ask --no-wait "left or right?" --option left --option right 2>/dev/null`) // its own pipe: its words could be read before
			held, _ := s.awaiting("echo x >src/x")
			known := map[string]string{"asker": asker, "held": held}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var list []request
			if err := json.Unmarshal(text, &list); err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				s.replay(r, known)
			}
			events := s.follow(s.secret("read"), "0", false)
			first := events.next()
			var e map[string]any
			if err := json.Unmarshal([]byte(first["data"]), &e); err != nil || first["number"] != "1" {
				t.Fatalf("%v: %v", first, err)
			}
			if second := s.follow(s.secret("read"), "1", false).next(); second["number"] != "2" { // a number alone still says after which
				t.Errorf("%v", second)
			}
			for _, name := range []string{"seq", "time", "type", "worker", "data"} {
				if e[name] == nil {
					t.Errorf("an event has no %s: %v", name, e)
				}
			}
		})
	}
}

// secret is a token with a scope; "": none.
func (s *served) secret(scope string) string {
	if scope == "" {
		return ""
	}
	s.tokens++
	return s.token("t"+strconv.Itoa(s.tokens), scope)
}

// replay sends a request, with what is known by name, and looks for what its client reads.
func (s *served) replay(r request, known map[string]string) {
	s.t.Helper()
	var pairs, headers []string
	for name, value := range known {
		pairs = append(pairs, "{"+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...)
	for name, value := range r.Headers {
		headers = append(headers, name, value)
	}
	var got any
	s.parse(s.ask(r.Status, s.secret(r.Scope), r.Method, fill.Replace(r.Path), fill.Replace(r.Body), headers...), &got)
	for at, want := range r.Reads {
		value := field(got, at)
		if exact, ok := strings.CutPrefix(fill.Replace(want), "="); ok && value != exact || !ok && kindOf(value) != want {
			s.t.Errorf("%s %s: an old client reads %s as %s, and it is %v", r.Method, r.Path, at, want, value)
		}
	}
	for name, at := range r.Keeps {
		known[name], _ = field(got, at).(string)
	}
}

// field is the value at a path such as workers.0.status.
func field(v any, at string) any {
	for name := range strings.SplitSeq(at, ".") {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(of) {
				return nil
			}
			v = of[n]
		default:
			return nil
		}
	}
	return v
}

// kindOf is the type of a value in JSON.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "nothing"
}
