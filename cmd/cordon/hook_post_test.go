package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/guard"
	"cordon/internal/post"
	"cordon/internal/testwait"
)

// overseer is the other end of a hook's post.
type overseer struct {
	dir     string
	answers map[string]string // by question
	fails   string
	hangs   bool

	mu       sync.Mutex
	requests []post.Request
}

func (s *overseer) handle(ctx context.Context, r post.Request) post.Reply {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	n := 0
	for _, have := range s.requests {
		if have.Verb == post.Ask {
			n++
		}
	}
	s.mu.Unlock()
	if s.hangs {
		<-ctx.Done()
	}
	reply := post.Reply{Question: r.Question, Error: s.fails}
	if r.Verb == post.Ask {
		reply.Question = fmt.Sprintf("q%d", n)
	}
	if r.Verb == post.Await {
		reply.Answer, reply.Answered = s.answers[r.Question], s.answers[r.Question] != ""
		if !reply.Answered {
			testwait.Pass(ctx, time.Duration(r.Wait)*time.Second)
		}
	}
	return reply
}

func (s *overseer) sent(verb string) (list []post.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Verb == verb {
			list = append(list, r)
		}
	}
	return list
}

// posted gives a client's warrant a post, with somebody at the other end of it.
func (a *asking) posted(s *overseer) *overseer {
	a.t.Helper()
	s.dir = filepath.Join(a.dir, "post")
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		a.t.Fatal(err)
	}
	b, err := os.ReadFile(a.warrant)
	if err != nil {
		a.t.Fatal(err)
	}
	w, err := guard.ReadWarrant(b)
	if err != nil {
		a.t.Fatal(err)
	}
	w.Post = s.dir
	if b, err = json.Marshal(w); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(a.warrant, b, 0o600); err != nil {
		a.t.Fatal(err)
	}
	l, err := post.Listen(s.dir)
	if err != nil {
		a.t.Fatal(err)
	}
	go post.Serve(l, s.handle)
	a.t.Cleanup(func() { l.Close() })
	return s
}

// With a post decisions go there, and nowhere else.
func TestHookSendsItsDecisions(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	s := a.posted(&overseer{})
	if o := a.try(a.hook(a.runs(harmless))); o.code != 0 || o.out+o.err != "" {
		t.Errorf("%+v", o)
	}
	a.denied("a denial", a.hook(a.runs(forbidden)), "")
	start := strings.NewReader(`{"session_id":"s","cwd":"` + a.tree + `","hook_event_name":"SessionStart","source":"startup"}`)
	if o := a.try(a.hook(start)); o.code != 0 {
		t.Errorf("%+v", o)
	}
	a.denied("garbage", a.hook(strings.NewReader("{")), "not JSON")
	var got []string
	for _, r := range s.sent(post.Decided) {
		rec, err := guard.ReadRecord(r.Record)
		if err != nil {
			t.Fatalf("%s: %v", r.Record, err)
		}
		got = append(got, string(rec.Verdict)+" "+rec.Tool+rec.Event)
	}
	if want := "[allow Bash deny Bash allow session-start deny ]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if list := a.recorded(); len(list) > 0 {
		t.Errorf("they are in a file too: %+v", list)
	}
}

// A decision that does not arrive lets nothing run.
func TestHookCannotSend(t *testing.T) {
	t.Parallel()
	start := func(a *asking) *exec.Cmd {
		return a.hook(strings.NewReader(`{"session_id":"s","cwd":"` + a.tree + `","hook_event_name":"Stop"}`))
	}
	for what, s := range map[string]*overseer{"refused": {fails: "no room"}, "silent": {hangs: true}, "gone": {}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a := newAsking(t)
			a.posted(s)
			says := map[string]string{"refused": "cannot be recorded: no room", "silent": "could not be judged", "gone": "cannot be recorded"}[what]
			if what == "gone" {
				if err := os.Remove(filepath.Join(s.dir, post.Socket)); err != nil {
					t.Fatal(err)
				}
			}
			a.denied(what, a.hook(a.runs(harmless)), says)
			if what != "silent" {
				if o := a.try(start(a)); o.code != 0 {
					t.Errorf("a client cannot end: %+v", o)
				}
			}
		})
	}
}

// questions are one question in the words of each client.
var questions = map[string]string{
	"claude":   `{"session_id":"s","cwd":"@","hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_use_id":"t","tool_input":{"questions":[{"question":"red or blue?","header":"Colour","multiSelect":false,"options":[{"label":"red","description":"warm"},{"label":"blue"}]}]}}`,
	"codex":    `{"session_id":"s","turn_id":"1","cwd":"@","hook_event_name":"PreToolUse","tool_name":"request_user_input","tool_use_id":"t","tool_input":{"questions":[{"id":"c","header":"Colour","question":"red or blue?","options":[{"label":"red","description":"warm"},{"label":"blue","description":"blue"}]}]}}`,
	"gemini":   `{"session_id":"s","cwd":"@","hook_event_name":"BeforeTool","timestamp":"x","tool_name":"ask_user","tool_input":{"questions":[{"question":"red or blue?","header":"Colour","type":"choice","options":[{"label":"red","description":"warm"},{"label":"blue"}]}]}}`,
	"copilot":  `{"sessionId":"s","timestamp":1,"cwd":"@","toolName":"ask_user","toolArgs":"{\"question\":\"red or blue?\",\"choices\":[\"red (warm)\",\"blue\"]}"}`,
	"opencode": `{"hook_event_name":"tool.execute.before","sessionID":"s","callID":"c","cwd":"@","tool":"question","args":{"questions":[{"question":"red or blue?","header":"Colour","options":[{"label":"red","description":"warm"},{"label":"blue","description":""}]}]}}`,
}

// The question of an agent goes to the operator, whatever its client calls it, and
// the answer comes back as the text of a refusal.
func TestHookPassesAQuestionOn(t *testing.T) {
	t.Parallel()
	inJSON := map[string]bool{"claude": true, "copilot": true} // these show the words of the answer alone
	for name, input := range questions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAsking(t)
			s := a.posted(&overseer{answers: map[string]string{"q1": "blue, please"}})
			cmd := exec.Command("cordon", "hook", "--client", name, "--lease", a.warrant)
			cmd.Stdin = strings.NewReader(strings.ReplaceAll(input, "@", a.tree))
			o := a.try(cmd)
			if o.code != 2 || (o.out != "") != inJSON[name] || !strings.HasPrefix(o.err, "ANSWERED: the operator says: blue, please\n") {
				t.Errorf("%+v", o)
			}
			if inJSON[name] && !strings.Contains(o.out, `"permissionDecisionReason":"ANSWERED: the operator says: blue`) {
				t.Errorf("its agent is not told: %s", o.out)
			}
			asked := s.sent(post.Ask)
			if len(asked) != 1 || asked[0].Text != "red or blue?" || fmt.Sprint(asked[0].Options) != "[red (warm) blue]" || asked[0].By == "" {
				t.Errorf("%+v", asked)
			}
			sent := s.sent(post.Decided)
			if len(sent) != 1 {
				t.Fatalf("%+v", sent)
			}
			if r, err := guard.ReadRecord(sent[0].Record); err != nil || r.Verdict != guard.Ask || r.Input != "red or blue?" || r.Tool != asked[0].By {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// A question that nobody answers in time stays open, and the agent is told how to
// go on; each question of a call is one.
func TestHookQuestionStaysOpen(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	s := a.posted(&overseer{answers: map[string]string{"q2": "yes"}})
	in := a.input("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "first?"}, map[string]any{"question": "second?",
		"options": []any{"yes"}}}})
	cmd := a.hook(in)
	var said strings.Builder
	cmd.Stderr = &said
	err := cmd.Run()
	if waits := s.sent(post.Await); len(waits) != 2 || waits[0].Wait < 1 || waits[0].Wait > 9 {
		t.Errorf("%+v: a client waits 10 s for its hook", waits)
	}
	for _, want := range []string{"ASKED: your question q1 was passed on", "not answered yet", `ANSWERED: to "second?" the operator says: yes`,
		"cordon ask --again q1", "you will be resumed"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in %s", want, said.String())
		}
	}
	if len(s.sent(post.Ask)) != 2 || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("%v, %+v", err, s.sent(post.Ask))
	}
}

// Where a person sits before the client, or nobody could be told, its own dialog is
// not in the way; what is no question is refused.
func TestHookQuestionOtherwise(t *testing.T) {
	t.Parallel()
	question := map[string]any{"questions": []any{map[string]any{"question": "x?"}}}
	a := newAsking(t)
	if o := a.try(a.hook(a.input("AskUserQuestion", question))); o.code != 0 {
		t.Errorf("without a post: %+v", o)
	}
	s := a.posted(&overseer{})
	if o := a.try(a.hook(a.input("AskUserQuestion", question), "--interactive")); o.code != 0 || len(s.sent(post.Ask)) != 0 {
		t.Errorf("interactive: %+v", o)
	}
	for _, input := range []map[string]any{{}, {"questions": []any{}}, {"questions": []any{map[string]any{"question": " "}}}, {"questions": "x"},
		{"questions": make([]map[string]string, 20)}} {
		o := a.try(a.hook(a.input("AskUserQuestion", input)))
		if o.code != 2 || !strings.HasPrefix(o.err, "BLOCKED: ") || !strings.Contains(o.err, `run cordon ask "your question"`) {
			t.Errorf("%v: %+v", input, o)
		}
	}
	if len(s.sent(post.Ask)) != 0 {
		t.Errorf("%+v", s.sent(post.Ask))
	}
	s.fails = "you have asked 50 questions"
	if o := a.try(a.hook(a.input("AskUserQuestion", question))); o.code != 2 || !strings.Contains(o.err,
		"could not be passed on to the operator: you have asked 50 questions") {
		t.Errorf("%+v", o)
	}
}
