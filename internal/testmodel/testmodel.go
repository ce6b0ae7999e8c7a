package testmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/testwait"
)

// Every answer costs this much, for clients that add it up.
const (
	InputTokens  = 100
	OutputTokens = 10
)

// Result is what a client says came of a call.
type Result struct {
	Call  string `json:"call"` // its id
	Sub   string `json:"sub,omitempty"`
	Tool  string `json:"tool"`
	Text  string `json:"text"`
	Error bool   `json:"error"` // where the protocol can say so: Anthropic and Gemini
}

// Request is what a client asked for.
type Request struct {
	Path   string          `json:"path"`
	Sub    string          `json:"sub,omitempty"` // the sub-agent's key
	Turn   int             `json:"turn"`          // that was played, from 0; -1: it was none of the script's
	Model  string          `json:"model"`
	System string          `json:"system"` // the client's and the operator's instructions
	User   string          `json:"user"`   // the user's words, and what the client says in their name
	Tools  []string        `json:"tools"`
	Body   json.RawMessage `json:"body"`
	Key    string          `json:"-"` // that the client signed in with
	At     time.Time       `json:"-"` // when it came
}

// Model is a scripted model at work.
type Model struct {
	script   Script
	listener net.Listener
	server   *http.Server
	watch    func(Result)
	listen   func(Request)

	mu       sync.Mutex
	serial   int
	results  []Result
	known    map[string]bool // calls whose result is recorded
	requests []Request
	ran      map[string]bool // turns whose Before or Then has run
	refused  int             // requests beyond the limit
}

// T is what New needs of a test.
type T interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

// New starts a model that ends with the test.
func New(t T, s Script) *Model {
	t.Helper()
	m, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// Start starts a model at a free port.
func Start(s Script) (*Model, error) { return StartAt(s, 0, nil, nil) }

// StartAt starts a model at a port. It tells watch of each result and listen of each
// request as they come, unless they are nil.
func StartAt(s Script, port int, watch func(Result), listen func(Request)) (*Model, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	m := &Model{script: s, listener: l, watch: watch, listen: listen, known: map[string]bool{}, ran: map[string]bool{}}
	m.server = &http.Server{Handler: http.HandlerFunc(m.serve), ReadHeaderTimeout: time.Minute}
	go m.server.Serve(l) // until Close
	return m, nil
}

// Play gives the model another script, for one that has to name what is only known
// when the model is there. It is for before the first request.
func (m *Model) Play(s Script) { m.script = s }

// Port is the port that it listens at, on 127.0.0.1.
func (m *Model) Port() int { return m.listener.Addr().(*net.TCPAddr).Port }

// URL is the address without a path.
func (m *Model) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", m.Port()) }

// Close ends it, and every answer that is under way.
func (m *Model) Close() { m.server.Close() }

// Results are what came of the calls so far, each once, in the order in which they
// were told.
func (m *Model) Results() []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// Requests are all that was asked for so far, in order, retries and side questions
// included.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// protocols are found by a part of the path.
var protocols = []struct {
	part   string
	parse  func([]byte) (asked, error)
	answer func(http.ResponseWriter, *http.Request, asked, reply)
}{
	{"/messages", parseAnthropic, answerAnthropic},
	{"/responses", parseResponses, answerResponses},
	{"/chat/completions", parseChat, answerChat},
	{":generateContent", parseGemini, answerGemini},
	{":streamGenerateContent", parseGemini, answerGemini},
}

// limited answers the first requests of a script as a provider does that is asked too often.
func (m *Model) limited(w http.ResponseWriter) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused >= m.script.Limit {
		return false
	}
	m.refused++
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, `{"type":"error","error":{"type":"rate_limit_error","code":429,"message":"Rate limit reached. Please try again in 8s."}}`)
	return true
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodHead || r.Method == http.MethodGet && path == "/":
		return
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		writeJSON(w, object{"object": "list", "data": []any{}, "models": []any{}})
		return
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, object{"input_tokens": InputTokens, "totalTokens": InputTokens})
		return
	}
	for _, p := range protocols {
		if r.Method != http.MethodPost || !strings.HasSuffix(path, p.part) {
			continue
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client went away
		}
		a, err := p.parse(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if a.model == "" {
			a.model = geminiModel(path)
		}
		if m.limited(w) {
			return
		}
		m.play(w, r, body, a, p.answer)
		return
	}
	http.Error(w, `{"error":{"message":"there is no such thing"}}`, http.StatusNotFound)
}

// keyOf is the key that a request was signed with.
func keyOf(r *http.Request) string {
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if key := r.Header.Get(name); key != "" {
			return key
		}
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// play records what a request tells and answers it with its turn.
func (m *Model) play(w http.ResponseWriter, r *http.Request, body []byte, a asked, answer func(http.ResponseWriter, *http.Request, asked, reply)) {
	sub := m.sub(a)
	n, turn, key := -1, Turn{Text: aside(a)}, ""
	if len(a.tools) > 0 {
		turns := m.script.Turns
		if sub != "" {
			turns = m.script.Sub[sub]
		}
		n, turn = next(turns, a.said)
		key = fmt.Sprint(sub, "/", n)
	}
	m.record(a, sub)
	m.request(Request{Path: r.URL.Path, Sub: sub, Turn: n, Model: a.model, System: strings.Join(a.system, "\n"),
		User: strings.Join(a.user, "\n"), Tools: a.tools, Body: body, Key: keyOf(r)})
	m.once("before "+key, turn.Before)
	if !testwait.Pass(r.Context(), time.Duration(turn.Delay)) || !m.await(r.Context(), turn.Await) {
		return
	}
	answer(w, r, a, m.reply(n, turn, a.tree()))
	m.once("then "+key, turn.Then)
	m.ended(sub, n)
}

// ended remembers that a sub-agent has played its last turn.
func (m *Model) ended(sub string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if sub != "" && n >= len(m.script.Sub[sub])-1 {
		m.ran["end of "+sub] = true
	}
}

// await waits for the last turn of a sub-agent.
func (m *Model) await(ctx context.Context, sub string) bool {
	for sub != "" {
		m.mu.Lock()
		ended := m.ran["end of "+sub]
		m.mu.Unlock()
		if ended {
			return true
		}
		if !testwait.Pass(ctx, 20*time.Millisecond) {
			return false
		}
	}
	return true
}

// sub is the key of the sub-agent that a request belongs to.
func (m *Model) sub(a asked) string {
	found := ""
	for key := range m.script.Sub {
		if len(key) > len(found) && slices.ContainsFunc(a.user, func(text string) bool { return strings.Contains(text, key) }) {
			found = key
		}
	}
	return found
}

func (m *Model) once(key string, do func()) {
	if do == nil {
		return
	}
	m.mu.Lock()
	ran := m.ran[key]
	m.ran[key] = true
	m.mu.Unlock()
	if !ran {
		do()
	}
}

func (m *Model) record(a asked, sub string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, res := range a.results {
		res.Sub = sub
		if key := sub + "/" + res.Call; !m.known[key] {
			m.known[key] = true
			m.results = append(m.results, res)
			if m.watch != nil {
				m.watch(res)
			}
		}
	}
}

func (m *Model) request(r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.At = time.Now()
	m.requests = append(m.requests, r)
	if m.listen != nil {
		m.listen(r)
	}
}

// reply numbers a turn and its calls. The number of the turn is in the ids of the
// calls, where the next request finds it.
func (m *Model) reply(n int, t Turn, tree string) reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.serial++
	r := reply{id: fmt.Sprintf("r%d", m.serial), text: t.Text}
	for i, c := range t.Calls {
		in := placed(c.Input, tree)
		r.calls = append(r.calls, sent{id: fmt.Sprintf("call_t%d_%d_%d", n, i, m.serial), tool: c.Tool, input: in})
	}
	return r
}
