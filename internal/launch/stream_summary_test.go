package launch

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/ledger"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// An event of what a stream says is small, whatever it says.
func TestSummedIsSmall(t *testing.T) {
	long := strings.Repeat("<\u2028日\x1b", 1<<10)
	said := stream.Summary{Model: long, Session: long, Reason: long, Last: long, Unknown: math.MaxInt, More: 3}
	for i := range 1000 {
		said.Calls = append(said.Calls, stream.Call{ID: fmt.Sprint(i, long), Tool: fmt.Sprint(i%300, "<", long), Input: long, Ran: true})
	}
	d := streamRecord(said)
	gap, why := stream.Gap("claude", clients.Stream("claude"), said, nil)
	d.Gap, d.Why = worksite.Capped(gap), why
	text, err := json.Marshal(d)
	if err != nil || len(text) > 64<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	sum := 0
	for name, n := range d.Tools {
		sum += n
		if strings.ContainsAny(name, "\x1b\u2028") {
			t.Errorf("%q", name)
		}
	}
	if len(d.Tools) != maxTools+1 || sum != 1003 || d.Calls != 1003 {
		t.Errorf("%d tools with %d calls, %d in all", len(d.Tools), sum, d.Calls)
	}
	if !strings.HasPrefix(d.Gap[0], "more than 1,000 calls") {
		t.Errorf("%q", d.Gap[0])
	}
}

// What is little is all there.
func TestSummedIsWhole(t *testing.T) {
	d := streamRecord(stream.Summary{Calls: []stream.Call{{Tool: "Bash"}, {Tool: "Read"}, {Tool: "Bash"}}, Model: "m-1", Session: "0f-1", Reason: "completed"})
	want := ledger.Stream{Calls: 3, Tools: map[string]int{"Bash": 2, "Read": 1}, Model: "m-1", Session: "0f-1", Reason: "completed"}
	if fmt.Sprint(d) != fmt.Sprint(want) {
		t.Errorf("%+v", d)
	}
}
