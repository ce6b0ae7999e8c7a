package stream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"cordon/internal/client"

	"cordon/internal/agent/clients"
	. "cordon/internal/stream"
)

// flood are lines of each client that say something long in every member.
var flood = map[client.Name][]string{
	"claude": {
		`{"type":"system","subtype":"init","session_id":"$L$N","model":"$L"}`,
		`{"type":"assistant","parent_tool_use_id":"$L","message":{"content":[{"type":"tool_use","id":"$N$L","name":"$L","input":{"command":"$L"}},{"type":"text","text":"$L"}]}}`,
		`{"type":"result","subtype":"$L"}`,
	},
	"codex": {
		`{"type":"thread.started","thread_id":"$L"}`,
		`{"type":"item.started","item":{"id":"$N$L","type":"mcp_tool_call","server":"$L","tool":"$L","arguments":{"$L":1}}}`,
		`{"type":"turn.failed","error":{"message":"$L"}}`,
	},
	"gemini": {
		`{"type":"init","session_id":"$L","model":"$L"}`,
		`{"type":"tool_use","tool_id":"$N$L","tool_name":"$L","parameters":{"command":"$L"}}`,
		`{"type":"message","role":"assistant","content":"$L","delta":true}`,
		`{"type":"result","status":"$L"}`,
	},
	"opencode": {
		`{"type":"tool_use","sessionID":"$L$N","part":{"callID":"$N$L","tool":"$L","state":{"input":{"command":"$L"}}}}`,
		`{"type":"step_finish","sessionID":"$L","part":{"reason":"$L"}}`,
	},
	"qwen": {
		`{"type":"system","subtype":"init","session_id":"$L$N","model":"$L"}`,
		`{"type":"assistant","parent_tool_use_id":"$L","message":{"content":[{"type":"tool_use","id":"$N$L","name":"$L","input":{"command":"$L"}},{"type":"text","text":"$L"}]}}`,
		`{"type":"result","subtype":"$L"}`,
	},
	"pi": {
		`{"type":"session","id":"$L$N"}`,
		`{"type":"tool_execution_start","toolCallId":"$N$L","toolName":"$L","args":{"command":"$L"}}`,
		`{"type":"message_end","message":{"role":"assistant","model":"$L$N","stopReason":"$L","content":[{"type":"text","text":"$L"}]}}`,
		`{"type":"agent_end","messages":[]}`,
	},
	"copilot": {
		`{"type":"session.tools_updated","data":{"model":"$L$N"}}`,
		`{"type":"tool.execution_start","data":{"toolCallId":"$N$L","toolName":"$L","arguments":{"command":"$L"},"parentToolCallId":"$L"}}`,
		`{"type":"result","sessionId":"$L"}`,
	},
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// However long what a client's stream says, little of it is kept.
func TestSummaryIsSmall(t *testing.T) {
	long := strings.Repeat("long", 16<<10)
	for n, lines := range flood {
		w := NewWriter(clients.Stream(n), nil, nil)
		before := heap()
		for i := range 30 {
			for _, l := range lines {
				w.Write([]byte(strings.NewReplacer("$L", long, "$N", fmt.Sprint(i)).Replace(l) + "\n"))
			}
		}
		w.Close()
		if more := heap() - before; more > 1<<20 {
			t.Errorf("%s: %d KiB are kept", n, more>>10)
		}
		s := w.Summary()
		if len(s.Calls) != 30 || s.Unknown > 0 || s.Reason == "" {
			t.Errorf("%s: %d calls, %d lines not understood, %q", n, len(s.Calls), s.Unknown, s.Reason)
		}
		text, err := json.Marshal(s)
		if err != nil || len(text) > 64<<10 {
			t.Errorf("%s: a summary of %d bytes, %v", n, len(text), err)
		}
		runtime.KeepAlive(w)
	}
}

// Calls that are too many to keep are counted, and what was not compared is a gap.
func TestTooManyCalls(t *testing.T) {
	for name, tool := range map[string]string{"in number": "Bash", "in size": strings.Repeat("x", MaxName)} {
		w := NewWriter(clients.Stream("claude"), nil, nil)
		var decided []Decision
		before := heap()
		for i := range MaxCalls + 7 {
			id := fmt.Sprintf("%07d", i)
			decided = append(decided, Decision{Call: id, Tool: tool, Allowed: true})
			fmt.Fprintf(w, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"%s","name":"%s"}]}}`+"\n", id, tool)
			fmt.Fprintf(w, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%s","content":"done"}]}}`+"\n", id)
		}
		s := w.Summary()
		if len(s.Calls)+s.More != MaxCalls+7 || s.More < 7 {
			t.Errorf("%s: %d calls and %d more", name, len(s.Calls), s.More)
		}
		gap, why := Gap("claude", clients.Stream("claude"), s, decided)
		if len(gap) != 1 || !strings.HasPrefix(gap[0], "more than ") || why != "" {
			t.Errorf("%s: %.3q %q", name, gap, why)
		}
		decided = nil
		if more := heap() - before; more > 16<<20 {
			t.Errorf("%s: %d KiB are kept", name, more>>10)
		}
		runtime.KeepAlive(w)
	}
}

// A line of very many values takes no more memory than others: it is not read.
func TestDenseLine(t *testing.T) {
	w := NewWriter(clients.Stream("claude"), nil, nil)
	line := []byte(`{"type":"assistant","message":{"content":[{}` + strings.Repeat(",{}", MaxLine/3-50) + "]}}\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.Write(line)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 || w.Summary().Unknown != 1 {
		t.Errorf("it took %d MiB, and %d lines were not understood", took>>20, w.Summary().Unknown)
	}
	text := strings.Repeat(`,{[\"`, MaxParts) // inside of a text they are none
	fmt.Fprintf(w, `{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}`+"\n", text)
	if s := w.Summary(); s.Unknown != 1 || !strings.HasPrefix(s.Last, `,{["`) {
		t.Errorf("%d lines were not understood, and the last words are %.20q", s.Unknown, s.Last)
	}
}

// What no journal could hold is no number.
func TestCostIsANumber(t *testing.T) {
	w := NewWriter(clients.Stream("opencode"), nil, nil)
	for _, cost := range []string{"1e308", "1e308", "-1e308"} {
		fmt.Fprintf(w, `{"type":"step_finish","part":{"cost":%s,"reason":"stop"}}`+"\n", cost)
		if got := w.Summary().Usage.Cost; got != 0 {
			t.Errorf("%g", got)
		}
	}
}

// What was too large to be read may have told of a call.
func TestUnreadIsAGap(t *testing.T) {
	w := NewWriter(clients.Stream("claude"), io.Discard, io.Discard)
	fmt.Fprintf(w, "{\"type\":\"user\",\"x\":%q}\n", strings.Repeat("x", MaxLine))
	fmt.Fprintln(w, "noise, and not of the client's form")
	w.Close()
	gap, _ := Gap("claude", clients.Stream("claude"), w.Summary(), nil)
	if len(gap) != 1 || !strings.Contains(gap[0], "1 line of the stream too large") {
		t.Errorf("the gap is %q", gap)
	}
}

// A call that an earlier launch began did not run in this one, unless it is said to have
// ended well.
func TestCallsOfTheLaunchBefore(t *testing.T) {
	for _, failed := range []bool{true, false} {
		w := NewWriter(clients.Stream("copilot"), io.Discard, io.Discard)
		w.Take(Item{Kind: Told, Call: Call{ID: "before", Ran: true, Ended: true, Failed: failed}, Failed: failed})
		gap, _ := Gap("copilot", clients.Stream("copilot"), w.Summary(), nil)
		if (len(gap) == 0) != failed {
			t.Errorf("failed %v: the gap is %q", failed, gap)
		}
	}
}
