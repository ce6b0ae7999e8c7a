package testmodel

import (
	"encoding/json"
	"net/http"
)

// parseAnthropic reads a request of the Messages protocol.
func parseAnthropic(body []byte) (asked, error) {
	var in struct {
		Model    string
		Stream   bool
		System   json.RawMessage
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		OutputConfig struct {
			Format struct{ Schema json.RawMessage }
		} `json:"output_config"`
		OutputFormat struct{ Schema json.RawMessage } `json:"output_format"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return asked{}, err
	}
	a := asked{model: in.Model, stream: in.Stream, system: []string{words(in.System)}, schema: in.OutputConfig.Format.Schema}
	if a.schema == nil {
		a.schema = in.OutputFormat.Schema
	}
	for _, t := range in.Tools {
		a.tools = append(a.tools, t.Name)
	}
	tools := names{}
	for _, m := range in.Messages {
		a.anthropic(m.Role, m.Content, tools)
	}
	return a, nil
}

// anthropic takes one message into the common form.
func (a *asked) anthropic(role string, content json.RawMessage, tools names) {
	var blocks []struct {
		Type, Text, ID, Name string
		ToolUseID            string `json:"tool_use_id"`
		IsError              bool   `json:"is_error"`
		Content              json.RawMessage
	}
	if json.Unmarshal(content, &blocks) != nil { // a string
		a.speak(role, words(content))
		return
	}
	s := said{}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if role == "assistant" {
				s.text += b.Text
			} else {
				a.speak(role, b.Text)
			}
		case "tool_use":
			s.calls = append(s.calls, b.ID)
			tools[b.ID] = b.Name
		case "tool_result":
			a.results = append(a.results, Result{Call: b.ToolUseID, Tool: tools[b.ToolUseID], Text: words(b.Content), Error: b.IsError})
		}
	}
	if role == "assistant" {
		a.said = append(a.said, s)
	}
}

// speak takes plain words of a role into the common form.
func (a *asked) speak(role, text string) {
	switch role {
	case "assistant", "model":
		a.said = append(a.said, said{text: text})
	case "system", "developer":
		a.system = append(a.system, text)
	default:
		a.user = append(a.user, text)
	}
}

func answerAnthropic(w http.ResponseWriter, _ *http.Request, a asked, r reply) {
	usage := object{"input_tokens": InputTokens, "output_tokens": OutputTokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	message := object{"id": "msg_" + r.id, "type": "message", "role": "assistant", "model": a.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage}
	stop := "end_turn"
	if len(r.calls) > 0 {
		stop = "tool_use"
	}
	blocks, deltas := anthropicBlocks(r)
	if !a.stream {
		message["content"], message["stop_reason"] = blocks, stop
		writeJSON(w, message)
		return
	}
	e := startEvents(w)
	e.send("message_start", object{"message": message})
	for i, delta := range deltas {
		start := blocks[i].(object)
		if start["type"] == "text" {
			start["text"] = ""
		} else {
			start["input"] = object{}
		}
		e.send("content_block_start", object{"index": i, "content_block": start})
		e.send("content_block_delta", object{"index": i, "delta": delta})
		e.send("content_block_stop", object{"index": i})
	}
	e.send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	e.send("message_stop", object{})
}

// anthropicBlocks are the contents of an answer, whole and as deltas.
func anthropicBlocks(r reply) (blocks, deltas []any) {
	if r.text != "" {
		blocks = append(blocks, object{"type": "text", "text": r.text})
		deltas = append(deltas, object{"type": "text_delta", "text": r.text})
	}
	for _, c := range r.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.input})
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": c.arguments()})
	}
	return blocks, deltas
}
