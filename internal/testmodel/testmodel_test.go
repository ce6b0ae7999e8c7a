package testmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wire is one protocol by hand: where a request goes, how it looks before the first
// turn and after it, and what of the answers must be there.
type wire struct {
	name, path    string
	first, second string // CALL is the id of the call that was answered
	call          string // in the first answer
	words         string // in the second
	usage         []string
	stream        bool
}

var wires = []wire{
	{"anthropic", "/v1/messages",
		`{"model":"m","stream":true,"system":[{"type":"text","text":"RULES"}],"tools":[{"name":"sh"}],"messages":[{"role":"user","content":"go"}]}`,
		`{"model":"m","stream":true,"tools":[{"name":"sh"}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"I will"},{"type":"tool_use","id":"CALL","name":"sh","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"CALL","content":[{"type":"text","text":"refused"}],"is_error":true},{"type":"text","text":"a reminder"}]}]}`,
		`"partial_json":"{\"command\":\"id\"}"`, `"text":"finished"`, []string{`"input_tokens":100`, `"output_tokens":10`}, true},
	{"anthropic at once", "/v1/messages",
		`{"model":"m","system":"RULES","tools":[{"name":"sh"}],"messages":[{"role":"user","content":"go"}]}`,
		`{"model":"m","tools":[{"name":"sh"}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"CALL","name":"sh","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"CALL","content":"refused","is_error":true}]}]}`,
		`"input":{"command":"id"}`, `"text":"finished"`, []string{`"input_tokens":100`, `"output_tokens":10`}, false},
	{"responses", "/v1/responses",
		`{"model":"m","stream":true,"instructions":"RULES","tools":[{"type":"function","name":"sh"}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}]}`,
		`{"model":"m","stream":true,"tools":[{"type":"function","name":"sh"}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"function_call","call_id":"CALL","name":"sh","arguments":"{}"},{"type":"function_call_output","call_id":"CALL","output":"refused"}]}`,
		`"arguments":"{\"command\":\"id\"}"`, `"text":"finished"`, []string{`"input_tokens":100`, `"output_tokens":10`}, true},
	{"chat", "/v1/chat/completions",
		`{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"sh"}}],"messages":[{"role":"system","content":"RULES"},{"role":"user","content":"go"}]}`,
		`{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"sh"}}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"CALL","type":"function","function":{"name":"sh","arguments":"{}"}}]},{"role":"tool","tool_call_id":"CALL","content":"refused"}]}`,
		`"arguments":"{\"command\":\"id\"}"`, `"content":"finished"`, []string{`"prompt_tokens":100`, `"completion_tokens":10`}, true},
	{"gemini", "/v1beta/models/m:streamGenerateContent?alt=sse",
		`{"systemInstruction":{"parts":[{"text":"RULES"}]},"tools":[{"functionDeclarations":[{"name":"sh"}]}],"contents":[{"role":"user","parts":[{"text":"go"}]}]}`,
		`{"tools":[{"functionDeclarations":[{"name":"sh"}]}],"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"sh","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"sh","response":{"error":"refused"}}}]}]}`,
		`"args":{"command":"id"}`, `"text":"finished"`, []string{`"promptTokenCount":100`, `"candidatesTokenCount":10`}, true},
}

func ask(url, body string) (string, error) {
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, text)
	}
	return string(text), err
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	text, err := ask(url, body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// In every protocol a call is played, asked for again without harm, answered with its
// result, and followed by the last words.
func TestProtocols(t *testing.T) {
	for _, c := range wires {
		t.Run(c.name, func(t *testing.T) {
			m := New(t, Script{Turns: []Turn{Do(Call{"sh", map[string]any{"command": "id"}}), Say("finished")}})
			for range 2 { // a client may ask twice
				if got := post(t, m.URL()+c.path, c.first); !strings.Contains(got, c.call) || c.stream != strings.Contains(got, "data: ") {
					t.Fatalf("the call %s is not in %s", c.call, got)
				}
			}
			for range 2 {
				got := post(t, m.URL()+c.path, strings.ReplaceAll(c.second, "CALL", "call_t0_0_1"))
				for _, want := range append(c.usage, c.words) {
					if !strings.Contains(got, want) {
						t.Fatalf("%s is not in %s", want, got)
					}
				}
			}
			results := m.Results()
			if len(results) != 1 || results[0].Tool != "sh" || results[0].Text != "refused" {
				t.Errorf("recorded %+v", results)
			}
			first := m.Requests()[0]
			if len(m.Requests()) != 4 || !strings.Contains(first.System, "RULES") || !strings.Contains(first.User, "go") || first.Model != "m" || first.Turn != 0 {
				t.Errorf("asked %+v", first)
			}
		})
	}
}

// Sub-agents have turns of their own, side questions get an answer in the form that
// they ask for, and the words of a client in the model's mouth are no turn.
func TestConversations(t *testing.T) {
	called := 0
	m := New(t, Script{
		Turns: []Turn{Do(Call{Tool: "sh"}), {Text: "finished", Await: "MARK"}},
		Sub:   map[string][]Turn{"MARK": {{Text: "from below", Delay: Duration(time.Millisecond), Before: func() { called++ }, Then: func() { called++ }}}},
	})
	chat := m.URL() + "/v1/chat/completions"
	tools := `"tools":[{"type":"function","function":{"name":"sh"}}],"messages":`
	if got := post(t, chat, `{`+tools+`[{"role":"user","content":"hello"},{"role":"assistant","content":"Got it."},{"role":"user","content":"go"}]}`); !strings.Contains(got, `"name":"sh"`) {
		t.Errorf("the first turn: %s", got)
	}
	after := `{` + tools + `[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"other","function":{"name":"sh"}}]},{"role":"tool","tool_call_id":"other","content":"MARK"}`
	answered := make(chan string, 1)
	go func() {
		got, err := ask(chat, after+`]}`)
		answered <- fmt.Sprint(got, err)
	}()
	select {
	case got := <-answered:
		t.Errorf("it did not wait for the sub-agent: %s", got)
	case <-time.After(100 * time.Millisecond):
	}
	for range 2 {
		if got := post(t, chat, `{`+tools+`[{"role":"user","content":"do MARK"}]}`); !strings.Contains(got, "from below") {
			t.Errorf("the sub-agent: %s", got)
		}
	}
	if got := <-answered; !strings.Contains(got, "finished") {
		t.Errorf("the second turn: %s", got)
	}
	if called != 2 {
		t.Errorf("Before and Then ran %d times", called)
	}
	if got := post(t, chat, after+`,{"role":"assistant","content":"finished"},{"role":"user","content":"more"}]}`); !strings.Contains(got, `"done"`) {
		t.Errorf("after the last turn: %s", got)
	}
	if got := post(t, chat, `{"messages":[{"role":"user","content":"a title"}]}`); !strings.Contains(got, "a side answer") {
		t.Errorf("a side question: %s", got)
	}
	if got := post(t, m.URL()+"/v1beta/models/m:generateContent", `{"generationConfig":{"responseSchema":{"type":"OBJECT","properties":{"who":{"type":"STRING","enum":["user"]},"n":{"type":"NUMBER"}}}}}`); !strings.Contains(got, `{\"n\":1,\"who\":\"user\"}`) {
		t.Errorf("a side question with a form: %s", got)
	}
	if got := post(t, m.URL()+"/v1/messages/count_tokens", `{}`); !strings.Contains(got, `"input_tokens":100`) {
		t.Errorf("a count: %s", got)
	}
}

// A tool that takes free text gets it, and one of a namespace is called in it.
func TestResponsesTools(t *testing.T) {
	m := New(t, Script{Turns: []Turn{Do(Call{"patch", map[string]any{"input": "*** Begin"}}, Call{"files/write", map[string]any{"path": "p"}})}})
	got := post(t, m.URL()+"/v1/responses",
		`{"tools":[{"type":"custom","name":"patch"},{"type":"namespace","name":"files","tools":[{"type":"function","name":"write"}]}],"input":"go"}`)
	for _, want := range []string{`"type":"custom_tool_call"`, `"input":"*** Begin"`, `"namespace":"files"`, `"name":"write"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if tools := m.Requests()[0].Tools; strings.Join(tools, " ") != "patch files/write" {
		t.Errorf("tools %q", tools)
	}
}

func TestMCP(t *testing.T) {
	at := filepath.Join(t.TempDir(), "made")
	in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"` + at + `","content":"here"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"` + at + `/below","content":"here"}}}
{"jsonrpc":"2.0","id":4,"method":"prompts/list"}
`
	var out bytes.Buffer
	if err := ServeMCP(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("answered %q", lines)
	}
	for i, want := range []string{`"protocolVersion":"2025-06-18"`, `"name":"write_file"`, `"isError":false`, `"isError":true`, `"code":-32601`} {
		if !json.Valid([]byte(lines[i])) || !strings.Contains(lines[i], want) {
			t.Errorf("%s is not in %s", want, lines[i])
		}
	}
	if b, err := os.ReadFile(at); err != nil || string(b) != "here" {
		t.Errorf("wrote %q %v", b, err)
	}
}
