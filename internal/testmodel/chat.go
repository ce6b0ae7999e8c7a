package testmodel

import (
	"encoding/json"
	"net/http"
)

// parseChat reads a request of the Chat Completions protocol.
func parseChat(body []byte) (asked, error) {
	var in struct {
		Model    string
		Stream   bool
		Tools    []struct{ Function struct{ Name string } }
		Messages []struct {
			Role      string
			Content   json.RawMessage
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string
				Function struct{ Name string }
			} `json:"tool_calls"`
		}
		ResponseFormat struct {
			JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return asked{}, err
	}
	a := asked{model: in.Model, stream: in.Stream, schema: in.ResponseFormat.JSONSchema.Schema}
	for _, t := range in.Tools {
		a.tools = append(a.tools, t.Function.Name)
	}
	tools := names{}
	for _, m := range in.Messages {
		switch {
		case m.Role == "tool":
			a.results = append(a.results, Result{Call: m.CallID, Tool: tools[m.CallID], Text: words(m.Content)})
		case len(m.ToolCalls) > 0:
			s := said{text: words(m.Content)}
			for _, c := range m.ToolCalls {
				s.calls = append(s.calls, c.ID)
				tools[c.ID] = c.Function.Name
			}
			a.said = append(a.said, s)
		default:
			a.speak(m.Role, words(m.Content))
		}
	}
	return a, nil
}

func answerChat(w http.ResponseWriter, _ *http.Request, a asked, r reply) {
	usage := object{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens}
	message := object{"role": "assistant", "content": r.text}
	var calls []any
	for n, c := range r.calls {
		calls = append(calls, object{"index": n, "id": c.id, "type": "function", "function": object{"name": c.tool, "arguments": c.arguments()}})
	}
	finish := "stop"
	if len(calls) > 0 {
		finish, message["tool_calls"] = "tool_calls", calls
	}
	whole := func(kind string, choices ...any) object {
		return object{"id": "chatcmpl-" + r.id, "object": kind, "created": 1, "model": a.model, "choices": append([]any{}, choices...)}
	}
	if !a.stream {
		o := whole("chat.completion", object{"index": 0, "message": message, "finish_reason": finish})
		o["usage"] = usage
		writeJSON(w, o)
		return
	}
	e := startEvents(w)
	e.data(whole("chat.completion.chunk", object{"index": 0, "delta": message, "finish_reason": nil}))
	e.data(whole("chat.completion.chunk", object{"index": 0, "delta": object{}, "finish_reason": finish}))
	last := whole("chat.completion.chunk")
	last["usage"] = usage
	e.data(last)
	_, _ = w.Write([]byte("data: [DONE]\n\n")) // a client that went away needs none
}
