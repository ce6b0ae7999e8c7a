package agent_test

import (
	"testing"

	"cordon/internal/agent"
	"cordon/internal/agent/clients"
	"cordon/internal/client"
)

// Lines of real records, shortened: what each client writes before its first prompt, with
// it, and with the first call of a tool.
var recorded = map[client.Name]struct{ quiet, prompt, call string }{
	"claude": {
		`{"type":"mode","mode":"normal","sessionId":"9"}` + "\n" + `{"type":"permission-mode","permissionMode":"default","sessionId":"9"}` + "\n",
		`{"parentUuid":null,"promptId":"2","type":"user","message":{"role":"user","content":"say \"type\":\"tool_use\""}}` + "\n",
		`{"parentUuid":"d","message":{"content":[{"id":"c","input":{"command":"id"},"name":"Bash","type":"tool_use"}],"role":"assistant"}}` + "\n",
	},
	"codex": {
		`{"timestamp":"t","ordinal":0,"type":"session_meta","payload":{"id":"0"}}` + "\n",
		`{"timestamp":"t","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_attribution":{"turn_trigger":"user"}}}` + "\n",
		`{"timestamp":"t","ordinal":9,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}"}}` + "\n",
	},
	"copilot": {
		`{"type":"session.start","data":{"sessionId":"e"}}` + "\n" + `{"type":"session.model_change","data":{"source":"startup"}}` + "\n",
		`{"type":"user.message","data":{"content":"do it {\"type\":\"tool.execution_start\""}}` + "\n",
		`{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash"}}` + "\n",
	},
	"gemini": {
		`{"sessionId":"4","kind":"main"}` + "\n" + `{"$set":{"messages":[{"type":"user","content":[{"text":"<session_context>"}]}]}}` + "\n",
		`{"id":"9","type":"user","content":[{"text":"do it"}]}` + "\n",
		`{"id":"7","type":"gemini","content":"","toolCalls":[{"id":"r","name":"run_shell_command"}]}` + "\n",
	},
	"opencode": {
		"\x00\x00migration\x00",
		"\x00\x01" + `{"role":"user","time":{"created":1},"agent":"build"}`,
		"\x00\x02" + `{"type":"tool","tool":"bash","callID":"c"}`,
	},
	"qwen": {
		"",
		`{"uuid":"e","type":"user","provenance":"real_user","message":{"role":"user","parts":[{"text":"say \"functionCall\":{"}]}}` + "\n",
		`{"uuid":"9","type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c","name":"run_shell_command"}}]}}` + "\n",
	},
	"pi": {
		`{"type":"session","version":3,"id":"0"}` + "\n" + `{"type":"model_change","id":"a","parentId":null,"modelId":"m"}` + "\n",
		`{"type":"message","id":"b","message":{"role":"user","content":[{"type":"text","text":"do it"}]}}` + "\n",
		`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"type":"session",}}]}}` + "\n",
	},
}

func TestRecords(t *testing.T) {
	for _, a := range clients.All() {
		if a.Record == nil {
			t.Errorf("%s has no record: on a terminal, it would be stopped while its person thinks", a.Name)
			continue
		}
		r, ok := recorded[a.Name]
		if !ok {
			t.Errorf("%s has a record and no lines of one here", a.Name)
		}
		for text, want := range map[string]agent.Sign{
			r.quiet: agent.NoSign, r.quiet + r.prompt: agent.Prompted, r.prompt + r.call: agent.CallMade, "": agent.NoSign,
		} {
			if got := a.Record.Read([]byte(text)); got != want {
				t.Errorf("%s: %q tells %d, want %d", a.Name, text, got, want)
			}
		}
		if a.Record.Lines() && a.Record.Read([]byte(`{"type":"of a version to come"}`+"\n")) != agent.Prompted {
			t.Errorf("%s: an unknown line does not start the clock", a.Name)
		}
	}
}
