package ledger

import (
	"encoding/json"
	"testing"

	"cordon/internal/additive"
	"cordon/internal/journal"
)

// Data with a version is read like data without one, wherever the version stands.
func TestStamp(t *testing.T) {
	t.Parallel()
	type data struct {
		A int    `json:"a"`
		B string `json:"b"`
	}
	for text, version := range map[string]string{
		`{"a":1,"b":"x"}`:                             "",
		`{"+version":"v1","a":1,"b":"x"}`:             "v1",
		`{"+version":"v1"}`:                           "v1",
		`{"+version":"","a":1}`:                       "",
		`{"a":1,"+version":"v2","b":"x"}`:             "v2",
		`{"+version":"v\u0031","a":1}`:                "v1",
		`{"+version":"v\"1","a":1}`:                   `v"1`,
		`{"+version":1,"a":1}`:                        "",
		`{"+version":"v1","+new":{"a":[2]},"a":1}`:    "v1",
		`{"+version":"v1","b":"\"+version\":\"v3\""}`: "v1",
		`{"+version":"v1" ,"a":1}`:                    "v1",
		`{"+version":"v1","new":1}`:                   "v1",
		`{"+version":"v1",,"a":1}`:                    "",
		`{"+version":"v1"`:                            "",
		`{"+version":"v1",}`:                          "",
		`{"+version":"v1"}}`:                          "",
	} {
		e := journal.Event{Data: json.RawMessage(text)}
		var got, want data
		err, plain := read(e, &got), additive.Decode(e.Data, &want)
		if (err == nil) != (plain == nil) || got != want {
			t.Errorf("%s is read as %+v, %v; without the shortcut as %+v, %v", text, got, err, want, plain)
		}
		if v := writer(e); plain == nil && v != version {
			t.Errorf("%s was written by %q, want %q", text, v, version)
		}
	}
}

// What Encode writes takes the shortcut.
func TestEncodeStamps(t *testing.T) {
	t.Parallel()
	for _, d := range []any{struct{}{}, map[string]int{"a": 1}} {
		raw, err := Encode(Leased, d)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(d)
		if version, rest, ok := cutStamp(raw); !ok || version != Version() || string(rest) != string(want) {
			t.Errorf("%s: %q %s %v", raw, version, rest, ok)
		}
	}
}
