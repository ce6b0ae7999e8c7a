package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// eventsOf are the events of a worker: their types, and the data of the last of each.
func (s *site) eventsOf(id string) (types []string, data map[string]map[string]any) {
	s.t.Helper()
	var log struct {
		Events []struct {
			Type, Worker string
			Data         map[string]any
		}
	}
	s.parse(s.cordon([]int{0}, "journal", "--json", id).out, &log)
	data = map[string]map[string]any{}
	for _, e := range log.Events {
		types, data[e.Type] = append(types, e.Type), e.Data
	}
	return types, data
}

// awaiting makes a worker whose result waits for a decision, and returns its name and what is seen.
func (s *site) awaiting(script string) (id, seen string) {
	s.t.Helper()
	before := s.workers()
	s.cordon([]int{exitPerson, exitQuarantined}, "run", "--review", "--write", "src", "--", "sh", "-c", script)
	for _, w := range s.workers() {
		if !slices.Contains(before, w) {
			id = w.Worker
		}
	}
	return id, s.sight(id)
}

// TestServeDecides takes every decision over HTTP, once, and only as it was seen.
func TestServeDecides(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	mine, reader := s.token("mine", "read,decide"), s.token("reader", "read")
	id, seen := s.awaiting("echo x >src/x")
	path := "/v1/workers/" + id
	if got, want := s.ask(200, reader, "GET", path+"/review", ""), s.cordon([]int{0}, "show", "--review", "--json", id).out; got != want {
		t.Errorf("%s\n%s", got, want)
	}
	s.ask(403, reader, "POST", path+"/merge", fmt.Sprintf(`{"seen":%q}`, seen))
	s.ask(400, mine, "POST", path+"/merge", `{}`)
	s.ask(400, mine, "POST", path+"/merge", `{"seen":"HEAD"}`)
	s.ask(400, mine, "POST", path+"/merge", fmt.Sprintf(`{"seen":%q,"roots":["."]}`, seen))
	s.ask(404, mine, "POST", "/v1/workers/nobody/merge", fmt.Sprintf(`{"seen":%q}`, seen))
	if got := s.ask(422, mine, "POST", path+"/retry", fmt.Sprintf(`{"seen":%q}`, seen)); !strings.Contains(got, "only a result that was quarantined") {
		t.Error(got)
	}

	// A comment is bound to what was shown.
	blob := s.git("hash-object", s.write("x", "x\n"))
	s.ask(409, mine, "POST", path+"/comments", `{"path":"src/x","side":"new","from":1,"to":1,"text":"why?","blob":"`+strings.Repeat("0", 40)+`"}`)
	s.ask(200, mine, "POST", path+"/comments", `{"path":"src/x","side":"new","from":1,"to":1,"text":"why?","blob":"`+blob+`"}`)
	if got, want := s.ask(200, reader, "GET", path+"/comments", ""), s.cordon([]int{0}, "comments", "ls", "--json", id).out; got != want ||
		!strings.Contains(got, "via api:mine") {
		t.Errorf("%s\n%s", got, want)
	}

	// The branch moves, and then it does not.
	s.git("commit", "-q", "--allow-empty", "-m", "meanwhile")
	if got := s.ask(409, mine, "POST", path+"/merge", fmt.Sprintf(`{"seen":%q}`, seen)); !strings.Contains(got, `"main moved from `) {
		t.Error(got)
	}
	body := fmt.Sprintf(`{"seen":%q}`, s.sight(id))
	first := s.ask(200, mine, "POST", path+"/merge", body, "Idempotency-Key", "k1")
	if !strings.Contains(first, `"status": "merged"`) {
		t.Error(first)
	}
	if again := s.ask(200, mine, "POST", path+"/merge", body, "Idempotency-Key", "k1"); again != first {
		t.Errorf("%s\n%s", again, first)
	}
	s.ask(400, mine, "POST", path+"/discard", body, "Idempotency-Key", "k1")
	if got := s.ask(409, mine, "POST", path+"/merge", body); !strings.Contains(got, "via api:mine sent it to the gate at ") {
		t.Error(got)
	}
	s.kill()
	s.start() // which knows no key any more: what was seen has changed
	if got := s.ask(409, mine, "POST", path+"/merge", body, "Idempotency-Key", "k1"); !strings.Contains(got, "via api:mine sent it to the gate at ") {
		t.Error(got)
	}
	if n := s.landed(id); n != 1 {
		t.Errorf("the result is on main %d times", n)
	}
	if types, data := s.eventsOf(id); data["+operator.decided"]["choice"] != "merge" ||
		!strings.HasSuffix(data["+operator.decided"]["who"].(string), " via api:mine") {
		t.Error(types, data["+operator.decided"])
	}
	other, seen := s.awaiting("echo y >src/y")
	s.ask(200, mine, "POST", "/v1/workers/"+other+"/discard", fmt.Sprintf(`{"seen":%q,"reason":"no"}`, seen))
}

// TestCommandOfDecision runs the command that a decision shows: the journal says the same but for who.
func TestCommandOfDecision(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	mine := s.token("mine", "decide")
	one, seen := s.awaiting("echo x >out")
	var decided struct{ Command []string }
	s.parse(s.ask(200, mine, "POST", "/v1/workers/"+one+"/release", fmt.Sprintf(`{"seen":%q,"reason":"it's fine","roots":["out"]}`, seen)), &decided)
	two, sight := s.awaiting("echo y >out")
	for i, word := range decided.Command {
		decided.Command[i] = strings.ReplaceAll(strings.ReplaceAll(word, seen, sight), one, two)
	}
	s.cordon([]int{0}, decided.Command[1:]...)
	types, of := s.eventsOf(one)
	others, by := s.eventsOf(two)
	if !slices.Equal(types, others) {
		t.Errorf("%v\n%v", types, others)
	}
	was, is := of["quarantine.released"], by["quarantine.released"]
	if was["who"].(string) != is["who"].(string)+" via api:mine" {
		t.Errorf("%v and %v", was["who"], is["who"])
	}
	for _, data := range []map[string]any{was, is} { // the lease has the name of its worker
		delete(data, "who")
		delete(data, "lease")
		delete(data, "hash")
	}
	x, _ := json.Marshal(was)
	y, _ := json.Marshal(is)
	if string(x) != string(y) || !strings.Contains(string(x), "it's fine") {
		t.Errorf("%s\n%s", x, y)
	}
}

// TestKilledDesk kills the server with SIGKILL while each decision is carried out: it ends as it would have, once.
// TestKilledDesks does the same with the desks.
func TestKilledDesk(t *testing.T) {
	t.Parallel()
	for _, m := range midways {
		t.Run(m.choice, func(t *testing.T) {
			t.Parallel()
			s := newServed(t)
			id, seen := m.waits(s.site)
			body, err := json.Marshal(map[string]any{"seen": seen, "reason": m.reason, "roots": m.roots})
			if err != nil {
				t.Fatal(err)
			}
			if m.choice == "merge" {
				body = fmt.Appendf(nil, `{"seen":%q}`, seen)
			}
			r, err := http.NewRequest("POST", "http://cordon/v1/workers/"+id+"/"+m.choice, bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.token("mine", "decide"))
			r.Header.Set("Content-Type", "application/json")
			answered := make(chan bool)
			go func() {
				defer close(answered)
				if got, err := s.client.Do(r); err == nil { // it says after a while that the landing goes on
					got.Body.Close()
				}
			}()
			m.begun(s.site, id)
			s.kill()
			<-answered
			m.once(s.site, id, "api:mine")
		})
	}
}
