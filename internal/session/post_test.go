package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/dispatch"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/mailbox"
	"cordon/internal/policy"
	"cordon/internal/post"
	"cordon/internal/testwait"
	"cordon/internal/worksite"
)

// counter is a mailbox behind a real socket, with two workers leased.
type counter struct {
	t        *testing.T
	s        *Session
	w, other *ledger.Worker
	box      *mailbox.Mailbox
	dir      string
	mu       sync.Mutex
	observed []guard.Record
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	place, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(place, "state"))
	t.Setenv("HOME", place)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	top := filepath.Join(place, "repo")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", top},
		{"-C", top, "-c", "user.name=O", "-c", "user.email=o@example.com", "commit", "-q", "--allow-empty", "-m", "base"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	c := &counter{t: t, dir: filepath.Join(place, "post")}
	if c.s, err = Open(context.Background(), top); err != nil {
		t.Fatal(err)
	}
	for _, w := range []**ledger.Worker{&c.w, &c.other} {
		p := policy.Default()
		if *w, err = dispatch.Lease(context.Background(), c.s.Site, dispatch.Request{Command: []string{"true"}, Policy: &p, Source: "test"}); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(c.s.State.Worker(string((*w).ID)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c.open()
	return c
}

// open is a launch's mailbox.
func (c *counter) open() {
	c.t.Helper()
	c.box = mailbox.New(c.s.Site, c.w, time.Now().Add(time.Hour), func(r guard.Record) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.observed = append(c.observed, r)
	})
	l, err := post.Listen(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- post.Serve(l, c.box.Handle) }()
	c.t.Cleanup(func() {
		l.Close()
		if err := <-served; err != nil {
			c.t.Error(err)
		}
	})
}

func (c *counter) call(r post.Request) post.Reply {
	c.t.Helper()
	reply, err := post.Call(context.Background(), c.dir, r)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply
}

// refused wants an error that says something.
func (c *counter) refused(what string, r post.Request, says string) {
	c.t.Helper()
	if reply := c.call(r); reply.Error == "" || !strings.Contains(reply.Error, says) || reply.Answered || reply.Status != nil {
		c.t.Errorf("%s: %+v", what, reply)
	}
}

// operator is another process with the same state.
func (c *counter) operator() *Session {
	c.t.Helper()
	s, err := Open(context.Background(), c.s.Host.Top)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *counter) answer(w *ledger.Worker, number int, text string) error {
	return mailbox.Answer(context.Background(), c.operator().Site, w, number, text, "operator@here")
}

func recordJSON(t *testing.T, r guard.Record) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A question goes to the operator, and the answer to whoever waits for it.
func TestAskAndAnswer(t *testing.T) {
	c := newCounter(t)
	if r := c.call(post.Request{Verb: post.Ask, Text: "which?\x1b[31m", Options: []string{"a", "b  c"}, By: "AskUserQuestion"}); r.Question != "q1" ||
		r.Answered || r.Error != "" {
		t.Fatalf("%+v", r)
	}
	replies := make(chan post.Reply, 2)
	for range 2 {
		go func() { replies <- c.call(post.Request{Verb: post.Await, Question: "q1", Wait: 300}) }()
	}
	testwait.Until(t, "somebody waits", c.box.SomebodyWaits)
	in, err := mailbox.Inbox(context.Background(), c.operator().Site)
	if err != nil || len(in) != 1 || in[0].Worker.ID != c.w.ID || in[0].Text != "which?[31m" || in[0].Options[1] != "b c" ||
		in[0].By != "AskUserQuestion" || in[0].ID() != "q1" {
		t.Fatalf("%+v, %v", in, err)
	}
	began := time.Now()
	if err := c.answer(c.w, 1, "b\x07"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := <-replies; !r.Answered || r.Answer != "b" || r.Question != "q1" {
			t.Errorf("%+v", r)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("after %v", took)
	}
	testwait.Until(t, "nobody waits", func() bool { return !c.box.SomebodyWaits() })
	if in, err := mailbox.Inbox(context.Background(), c.operator().Site); err != nil || len(in) != 0 {
		t.Errorf("%+v, %v", in, err)
	}
	if r := c.call(post.Request{Verb: post.Await, Question: "q1"}); !r.Answered || r.Answer != "b" {
		t.Errorf("asked again: %+v", r)
	}
	st := c.call(post.Request{Verb: post.Look}).Status
	if st == nil || st.Worker != string(c.w.ID) || len(st.Questions) != 1 || st.Questions[0].Answer != "b" || st.Done || st.Ends.IsZero() {
		t.Errorf("%+v", st)
	}
	if b, err := json.Marshal(st); err != nil || bytes.Contains(b, []byte(c.s.Host.Top)) {
		t.Errorf("a worker is told where the host is: %s", b)
	}
}

// The same question is asked once until its answer was told, by this launch or by
// the one that was resumed for it.
func TestAskedTwice(t *testing.T) {
	c := newCounter(t)
	ask := post.Request{Verb: post.Ask, Text: "go on?"}
	for range 3 {
		if r := c.call(ask); r.Question != "q1" {
			t.Fatalf("%+v", r)
		}
	}
	if err := c.answer(c.w, 1, "yes"); err != nil {
		t.Fatal(err)
	}
	next := mailbox.New(c.s.Site, c.w, time.Time{}, nil)
	if r := next.Handle(context.Background(), ask); r.Question != "q1" || r.Answer != "yes" {
		t.Errorf("a launch with the answer: %+v", r)
	}
	for range 2 {
		if r := c.call(ask); r.Question != "q2" || r.Answered {
			t.Errorf("an answer that was heard is for one question: %+v", r)
		}
	}
	if err := c.answer(c.w, 2, "no"); err != nil {
		t.Fatal(err)
	}
	later := mailbox.New(c.s.Site, c.w, time.Time{}, nil)
	if r := later.Handle(context.Background(), ask); r.Question != "q2" || r.Answer != "no" {
		t.Errorf("an answer that nobody has heard: %+v", r)
	}
	if r := later.Handle(context.Background(), ask); r.Question != "q3" || r.Answered {
		t.Errorf("an answer that was heard: %+v", r)
	}
	if r := c.call(post.Request{Verb: post.Ask, Text: "go on?", Options: []string{"yes"}}); r.Question != "q4" {
		t.Errorf("%+v", r)
	}
}

// Nothing that a worker sends answers, decides or reaches another worker.
func TestForgedRequests(t *testing.T) {
	c := newCounter(t)
	if r := c.call(post.Request{Verb: post.Ask, Text: "mine?"}); r.Question != "q1" {
		t.Fatalf("%+v", r)
	}
	box := mailbox.New(c.s.Site, c.other, time.Time{}, nil)
	if r := box.Handle(context.Background(), post.Request{Verb: post.Ask, Text: "theirs?"}); r.Question != "q1" {
		t.Fatalf("%+v", r)
	}
	if r := box.Handle(context.Background(), post.Request{Verb: post.Ask, Text: "theirs too?"}); r.Question != "q2" {
		t.Fatalf("%+v", r)
	}
	events, err := c.s.Events()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{
		"answer", "answered", "agent.answered", "merge", "release", "quarantine.released", "discard", "approve", "inbox", "gc", "journal", "read", "ASK", "Done", " done", "done ", "decided\x00",
	} {
		c.refused(verb, post.Request{Verb: verb, Question: "q1", Text: "yes", Record: json.RawMessage(`{"decision":"allow"}`)}, "there is no request")
	}
	for _, q := range []string{"", "q0", "q2", "q-1", "q01", "q1 ", "Q1", "1", "q9999999999", string(c.other.ID) + "/q1", "../" + string(c.other.ID), "q1\nq2"} {
		c.refused("question "+q, post.Request{Verb: post.Await, Question: q, Wait: 1}, "question")
	}
	for what, r := range map[string]post.Request{
		"no text":          {Verb: post.Ask},
		"blanks":           {Verb: post.Ask, Text: " \n\t\x1b"},
		"a long text":      {Verb: post.Ask, Text: strings.Repeat("x", 8<<10+1)},
		"many options":     {Verb: post.Ask, Text: "x", Options: make([]string, 11)},
		"an empty option":  {Verb: post.Ask, Text: "x", Options: []string{" "}},
		"a long option":    {Verb: post.Ask, Text: "x", Options: []string{strings.Repeat("x", 600)}},
		"a long claim":     {Verb: post.Done, Text: strings.Repeat("x", 8<<10+1)},
		"no decision":      {Verb: post.Decided},
		"half a decision":  {Verb: post.Decided, Record: json.RawMessage(`{"tool":"Bash"}`)},
		"a verdict":        {Verb: post.Decided, Record: json.RawMessage(`{"decision":"merged"}`)},
		"another worker's": {Verb: post.Decided, Record: json.RawMessage(`{"decision":"allow","worker":"x"}`)},
	} {
		c.refused(what, r, "")
	}
	after, err := c.s.Events()
	if err != nil || len(after) != len(events) {
		t.Errorf("the journal has %d events and had %d, %v", len(after), len(events), err)
	}
	if st := c.call(post.Request{Verb: post.Look}).Status; len(st.Questions) != 1 || st.Questions[0].Text != "mine?" {
		t.Errorf("%+v", st)
	}
	if len(c.observed) != 0 {
		t.Errorf("observed %+v", c.observed)
	}
	l, err := c.s.Ledger()
	if err != nil || len(l.Workers) != 2 || l.Workers[0].Questions[0].Answer != nil {
		t.Errorf("%v", err)
	}
}

// What a worker can fill is bounded.
func TestFloods(t *testing.T) {
	c := newCounter(t)
	for i := range mailbox.MaxQuestions {
		if r := c.call(post.Request{Verb: post.Ask, Text: fmt.Sprint("question ", i)}); r.Error != "" {
			t.Fatal(r.Error)
		}
	}
	c.refused("one more", post.Request{Verb: post.Ask, Text: "one more"}, "the most that a worker may ask")
	c.box = mailbox.New(c.s.Site, c.w, time.Time{}, nil)
	if r := c.box.Handle(context.Background(), post.Request{Verb: post.Ask, Text: "a new launch"}); r.Error == "" {
		t.Errorf("%+v", r)
	}
	for range mailbox.MaxClaims {
		if r := c.call(post.Request{Verb: post.Done, Text: "done"}); r.Error != "" {
			t.Fatal(r.Error)
		}
	}
	c.refused("done", post.Request{Verb: post.Done}, "times")
	if st := c.call(post.Request{Verb: post.Look}).Status; !st.Done || len(st.Questions) != mailbox.MaxQuestions {
		t.Errorf("%+v", st)
	}
	c.box = mailbox.New(c.s.Site, c.w, time.Time{}, nil)
	c.box.Decided = mailbox.MaxDecisions - 10
	if r := c.box.Handle(context.Background(), post.Request{Verb: post.Decided, Record: recordJSON(t, guard.Record{Tool: "Bash",
		Verdict: guard.Allow})}); r.Error == "" {
		t.Errorf("%+v", r)
	}
}

// Only so many wait at once; those that are left are served.
func TestManyWait(t *testing.T) {
	c := newCounter(t)
	c.call(post.Request{Verb: post.Ask, Text: "x"})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range mailbox.MaxWaiting {
		all.Add(1)
		go func() {
			defer all.Done()
			_, _ = post.Call(ctx, c.dir, post.Request{Verb: post.Await, Question: "q1", Wait: 1 << 40})
		}()
	}
	testwait.Until(t, "all of them wait", func() bool { return c.box.Waiting.Load() == mailbox.MaxWaiting })
	c.refused("one more", post.Request{Verb: post.Await, Question: "q1", Wait: 10}, "already wait for an answer")
	if r := c.call(post.Request{Verb: post.Decided, Record: recordJSON(t, guard.Record{Tool: "Bash", Verdict: guard.Allow})}); r.Error != "" {
		t.Error(r.Error)
	}
	cancel() // they go away without a word
	all.Wait()
	testwait.Until(t, "nobody waits", func() bool { return !c.box.SomebodyWaits() })
	if r := c.call(post.Request{Verb: post.Await, Question: "q1", Wait: 1}); r.Error != "" || r.Answered {
		t.Errorf("%+v", r)
	}
}

// Decisions are kept as they come, from many hooks at once, and observed in order.
func TestDecisions(t *testing.T) {
	c := newCounter(t)
	forged := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	var all sync.WaitGroup
	for i := range 100 {
		all.Add(1)
		go func() {
			defer all.Done()
			r := guard.Record{Time: forged, Client: "claude", Call: fmt.Sprint(i), Tool: "Bash", Input: strings.Repeat("x", 10_000), Verdict: guard.Deny, Reason: "no"}
			if i%2 == 0 {
				r.Verdict, r.Event = guard.Allow, "session-start"
			}
			if reply := c.call(post.Request{Verb: post.Decided, Record: recordJSON(t, r)}); reply.Error != "" {
				t.Error(reply.Error)
			}
		}()
	}
	all.Wait()
	seen := 0
	tally, err := c.s.Decisions(c.w, func(r guard.Record) {
		if seen++; time.Since(r.Time) > time.Hour {
			t.Errorf("the worker says when it was: %v", r.Time)
		}
	})
	if err != nil || tally.Calls != 50 || tally.Denied != 50 || tally.Broken != 0 || seen != 100 || len(c.observed) != 100 {
		t.Errorf("%+v, %d seen, %d observed, %v", tally, seen, len(c.observed), err)
	}
	if other, err := c.s.Decisions(c.other, nil); err != nil || other.Calls != 0 {
		t.Errorf("%+v, %v", other, err)
	}
	// Nothing that is in the place of the file is written to.
	name := c.s.WorkerFile(c.w.ID, worksite.DecisionsFile)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(c.dir, "elsewhere"), name); err != nil {
		t.Fatal(err)
	}
	c.refused("a link", post.Request{Verb: post.Decided, Record: recordJSON(t, guard.Record{Tool: "Bash", Verdict: guard.Allow})}, "")
	if len(c.observed) != 100 {
		t.Error("a decision that was not kept was observed")
	}
}

// Questions of many goroutines and answers of another process keep their numbers.
func TestAskedAtOnce(t *testing.T) {
	c := newCounter(t)
	var all sync.WaitGroup
	for i := range 10 {
		all.Add(1)
		go func() {
			defer all.Done()
			text := fmt.Sprint("question ", i)
			r := c.call(post.Request{Verb: post.Ask, Text: text, Wait: 300})
			if !r.Answered || r.Answer != "about "+text {
				t.Errorf("%+v", r)
			}
		}()
	}
	answered := map[int]bool{}
	testwait.Until(t, "there are all questions", func() bool {
		in, err := mailbox.Inbox(context.Background(), c.operator().Site)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range in {
			if !answered[q.Number] {
				answered[q.Number] = true
				if err := c.answer(c.w, q.Number, "about "+q.Text); err != nil {
					t.Fatal(err)
				}
			}
		}
		return len(answered) == 10
	})
	all.Wait()
}

// An answer is for an open question of a worker that is there.
func TestAnswers(t *testing.T) {
	c := newCounter(t)
	c.call(post.Request{Verb: post.Ask, Text: "x"})
	for what, row := range map[string]struct {
		w      *ledger.Worker
		number int
		text   string
	}{
		"no question":       {c.w, 2, "yes"},
		"no number":         {c.w, 0, "yes"},
		"no text":           {c.w, 1, "\x1b \n"},
		"a long text":       {c.w, 1, strings.Repeat("x", 10_000)},
		"another worker's":  {c.other, 1, "yes"},
		"a negative number": {c.w, -1, "yes"},
	} {
		if err := c.answer(row.w, row.number, row.text); err == nil {
			t.Errorf("%s is answered", what)
		}
	}
	if err := c.answer(c.w, 1, "yes"); err != nil {
		t.Fatal(err)
	}
	if err := c.answer(c.w, 1, "no"); err == nil || !strings.Contains(err.Error(), "already been answered by operator@here: yes") {
		t.Errorf("answered twice: %v", err)
	}
	if _, err := c.operator().Ledger(); err != nil {
		t.Errorf("the journal is not read any more: %v", err)
	}
}

// The operator is told whether somebody waits.
func TestWaits(t *testing.T) {
	c := newCounter(t)
	c.call(post.Request{Verb: post.Ask, Text: "x"})
	w := *c.w
	w.Start = &ledger.Start{}
	if got := mailbox.WaitsFor(c.operator().Site, &w, 1); got != mailbox.Ended {
		t.Errorf("nobody holds it: %s", got)
	}
	release, err := c.s.State.LockWorker(string(w.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got := mailbox.WaitsFor(c.operator().Site, &w, 1); got != mailbox.AtWork {
		t.Errorf("nobody waits: %s", got)
	}
	go func() {
		if _, err := post.Call(context.Background(), c.dir, post.Request{Verb: post.Await, Question: "q1", Wait: 60}); err != nil {
			t.Error(err)
		}
	}()
	testwait.Until(t, "the session says so", func() bool { return mailbox.WaitsFor(c.operator().Site, &w, 1) == mailbox.WaitsNow })
	if err := c.answer(c.w, 1, "yes"); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the worker is at work again", func() bool { return mailbox.WaitsFor(c.operator().Site, &w, 1) == mailbox.AtWork })
	// What a killed launch has left says nothing about the next.
	if err := os.WriteFile(c.s.WorkerFile(w.ID, mailbox.WaitingFile), []byte(`{"1":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mailbox.New(c.s.Site, c.w, time.Time{}, nil)
	if got := mailbox.WaitsFor(c.operator().Site, &w, 1); got != mailbox.AtWork {
		t.Errorf("left behind: %s", got)
	}
}

// Peers that break off in every way leave the mailbox as it was.
func TestRudePeers(t *testing.T) {
	c := newCounter(t)
	c.call(post.Request{Verb: post.Ask, Text: "x"})
	for i := range 300 {
		conn, err := net.Dial("unix", filepath.Join(c.dir, post.Socket))
		if err != nil {
			t.Fatal(err)
		}
		send := []string{"", "{", `{"verb":"await","question":"q1","wait":3600}` + "\n", `{"verb":"ask","text":"half`, "\n\n\n",
			`{"verb":"decided","record":{}}` + "\n", strings.Repeat("x", 300<<10)}[i%7]
		_, _ = conn.Write([]byte(send))
		conn.Close()
	}
	testwait.Until(t, "nobody waits", func() bool { return !c.box.SomebodyWaits() })
	st := c.call(post.Request{Verb: post.Look}).Status
	if st == nil || len(st.Questions) != 1 {
		t.Errorf("%+v", st)
	}
}
