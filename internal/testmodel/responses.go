package testmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// parseResponses reads a request of the Responses protocol.
func parseResponses(body []byte) (asked, error) {
	var in struct {
		Model        string
		Stream       bool
		Instructions string
		Tools        []responsesTool
		Input        json.RawMessage
		Text         struct {
			Format struct{ Schema json.RawMessage }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return asked{}, err
	}
	a := asked{model: in.Model, stream: in.Stream, system: []string{in.Instructions}, schema: in.Text.Format.Schema,
		free: map[string]bool{}}
	a.responsesTools("", in.Tools)
	var items []responsesItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		a.user = append(a.user, words(in.Input))
		return a, nil
	}
	tools := names{}
	for _, i := range items {
		a.responses(i, tools)
	}
	return a, nil
}

type responsesTool struct {
	Type, Name string
	Tools      []responsesTool
}

type responsesItem struct {
	Type, Role, Name, Namespace string
	CallID                      string `json:"call_id"`
	Content, Output             json.RawMessage
}

// responsesTools are the names of tools; one of a namespace is namespace/name, here
// and in scripts.
func (a *asked) responsesTools(space string, list []responsesTool) {
	for _, t := range list {
		if t.Type == "namespace" {
			a.responsesTools(t.Name+"/", t.Tools)
			continue
		}
		if t.Name == "" {
			t.Name = t.Type // of the provider's own
		}
		a.free[space+t.Name] = t.Type == "custom"
		a.tools = append(a.tools, space+t.Name)
	}
}

func (a *asked) responses(i responsesItem, tools names) {
	switch i.Type {
	case "function_call", "custom_tool_call":
		tools[i.CallID] = strings.TrimPrefix(i.Namespace+"/"+i.Name, "/")
		a.said = append(a.said, said{calls: []string{i.CallID}})
	case "function_call_output", "custom_tool_call_output":
		a.results = append(a.results, Result{Call: i.CallID, Tool: tools[i.CallID], Text: words(i.Output)})
	case "message", "":
		a.speak(i.Role, words(i.Content))
	}
}

func answerResponses(w http.ResponseWriter, _ *http.Request, a asked, r reply) {
	response := object{"id": "resp_" + r.id, "object": "response", "created_at": 1, "model": a.model, "status": "in_progress", "output": []any{}}
	items := responsesItems(a, r)
	done := object{"id": "resp_" + r.id, "object": "response", "created_at": 1, "model": a.model, "status": "completed", "output": items,
		"usage": object{"input_tokens": InputTokens, "output_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}
	if !a.stream {
		writeJSON(w, done)
		return
	}
	e := startEvents(w)
	serial := 0
	send := func(kind string, o object) {
		o["sequence_number"] = serial
		serial++
		e.send(kind, o)
	}
	send("response.created", object{"response": response})
	for n, item := range items {
		responsesStream(send, n, item.(object))
	}
	send("response.completed", object{"response": done})
}

// responsesItems are the outputs of an answer, whole.
func responsesItems(a asked, r reply) []any {
	items := []any{}
	if r.text != "" {
		items = append(items, object{"type": "message", "id": "msg_" + r.id, "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": r.text, "annotations": []any{}}}})
	}
	for n, c := range r.calls {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", r.id, n), "call_id": c.id, "name": c.tool,
			"arguments": c.arguments(), "status": "completed"}
		if a.free[c.tool] {
			item["type"], item["input"] = "custom_tool_call", c.input["input"]
			delete(item, "arguments")
		}
		if space, name, found := strings.Cut(c.tool, "/"); found {
			item["namespace"], item["name"] = space, name
		}
		items = append(items, item)
	}
	return items
}

// responsesStream sends one output in its steps.
func responsesStream(send func(string, object), n int, item object) {
	begun := object{}
	for k, v := range item {
		begun[k] = v
	}
	begun["status"] = "in_progress"
	step := func(kind string, more object) {
		more["output_index"], more["item_id"] = n, item["id"]
		send(kind, more)
	}
	switch item["type"] {
	case "message":
		part := item["content"].([]any)[0].(object)
		begun["content"] = []any{}
		step("response.output_item.added", object{"item": begun})
		step("response.content_part.added", object{"content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []any{}}})
		step("response.output_text.delta", object{"content_index": 0, "delta": part["text"]})
		step("response.output_text.done", object{"content_index": 0, "text": part["text"]})
		step("response.content_part.done", object{"content_index": 0, "part": part})
	case "function_call":
		begun["arguments"] = ""
		step("response.output_item.added", object{"item": begun})
		step("response.function_call_arguments.delta", object{"delta": item["arguments"]})
		step("response.function_call_arguments.done", object{"arguments": item["arguments"]})
	case "custom_tool_call":
		begun["input"] = ""
		step("response.output_item.added", object{"item": begun})
		step("response.custom_tool_call_input.delta", object{"delta": item["input"]})
		step("response.custom_tool_call_input.done", object{"input": item["input"]})
	}
	step("response.output_item.done", object{"item": item})
}
