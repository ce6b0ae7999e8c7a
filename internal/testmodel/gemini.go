package testmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

type geminiContent struct {
	Role  string
	Parts []struct {
		Text         string
		Thought      bool
		FunctionCall *struct{ ID, Name string }
		Response     *struct {
			ID, Name string
			Response json.RawMessage
		} `json:"functionResponse"`
	}
}

// parseGemini reads a request of the generateContent protocol.
func parseGemini(body []byte) (asked, error) {
	var in struct {
		System   geminiContent `json:"systemInstruction"`
		Contents []geminiContent
		Tools    []struct {
			Declarations []struct{ Name string } `json:"functionDeclarations"`
		}
		Config struct {
			Schema     json.RawMessage `json:"responseSchema"`
			JSONSchema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return asked{}, err
	}
	a := asked{schema: in.Config.JSONSchema}
	if a.schema == nil {
		a.schema = in.Config.Schema
	}
	for _, t := range in.Tools {
		for _, d := range t.Declarations {
			a.tools = append(a.tools, d.Name)
		}
	}
	for _, p := range in.System.Parts {
		a.system = append(a.system, p.Text)
	}
	for _, c := range in.Contents {
		a.gemini(c)
	}
	return a, nil
}

// geminiModel is the name in /v1beta/models/NAME:streamGenerateContent.
func geminiModel(path string) string {
	name, _, _ := strings.Cut(path[strings.LastIndex(path, "/")+1:], ":")
	return name
}

// gemini takes one content into the common form.
func (a *asked) gemini(c geminiContent) {
	s := said{}
	for _, p := range c.Parts {
		switch {
		case p.FunctionCall != nil:
			s.calls = append(s.calls, p.FunctionCall.ID)
		case p.Response != nil:
			id := p.Response.ID
			if id == "" { // the place in the history is one
				id = fmt.Sprintf("result-%d", len(a.results))
			}
			text, failed := geminiResult(p.Response.Response)
			a.results = append(a.results, Result{Call: id, Tool: p.Response.Name, Text: text, Error: failed})
		case c.Role == "model" && !p.Thought:
			s.text += p.Text
		case c.Role != "model":
			a.speak(c.Role, p.Text)
		}
	}
	if c.Role == "model" {
		a.said = append(a.said, s)
	}
}

// geminiResult is the text of {"output": …} or {"error": …}.
func geminiResult(raw json.RawMessage) (text string, failed bool) {
	var out struct{ Output, Error *string }
	switch err := json.Unmarshal(raw, &out); {
	case err == nil && out.Error != nil:
		return *out.Error, true
	case err == nil && out.Output != nil:
		return *out.Output, false
	}
	return string(raw), false
}

func answerGemini(w http.ResponseWriter, r *http.Request, _ asked, say reply) {
	parts := []any{}
	if say.text != "" {
		parts = append(parts, object{"text": say.text})
	}
	for _, c := range say.calls {
		parts = append(parts, object{"functionCall": object{"id": c.id, "name": c.tool, "args": c.input}, "thoughtSignature": "c2NyaXB0ZWQ="})
	}
	answer := object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": InputTokens, "candidatesTokenCount": OutputTokens, "totalTokenCount": InputTokens + OutputTokens},
		"modelVersion":  "scripted", "responseId": say.id,
	}
	switch {
	case strings.HasSuffix(r.URL.Path, ":generateContent"):
		writeJSON(w, answer)
	case r.URL.Query().Get("alt") == "sse":
		startEvents(w).data(answer)
	default:
		writeJSON(w, []any{answer})
	}
}
