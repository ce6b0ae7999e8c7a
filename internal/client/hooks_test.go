package client_test

import (
	"reflect"
	"strings"
	"testing"

	. "cordon/internal/client"
)

func run(command string) Handler { return Handler{Type: "command", Command: command} }

func TestMerge(t *testing.T) {
	ours := Hooks{{"PreToolUse", "*", []Handler{run("guard")}}, {"SessionStart", "*", []Handler{run("guard")}}}
	theirs := Hooks{
		{"PreToolUse", "Bash", []Handler{run("a"), run("b")}},
		{"PreToolUse", "", []Handler{run("c"), run("guard")}},
		{"Stop", "", []Handler{run("d")}},
		{"PreToolUse", "Bash", []Handler{run("b"), run("e")}},
		{"PostToolUse", "*", nil},
	}
	want := Hooks{
		{"PreToolUse", "*", []Handler{run("guard"), run("c")}},
		{"SessionStart", "*", []Handler{run("guard")}},
		{"PreToolUse", "Bash", []Handler{run("a"), run("b"), run("e")}},
		{"Stop", "", []Handler{run("d")}},
	}
	if got := Merge(ours, theirs); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := Merge(want, want); !reflect.DeepEqual(got, want) {
		t.Errorf("merged with itself: %+v", got)
	}
	if got := Merge(); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	if len(ours[0].Handlers) != 1 || len(theirs[1].Handlers) != 2 {
		t.Error("what was merged has changed")
	}
	// Two handlers that differ in anything are two.
	strict := run("a")
	strict.OnFailure = "block"
	if got := Merge(Hooks{{"Stop", "", []Handler{run("a")}}}, Hooks{{"Stop", "*", []Handler{strict}}}); len(got) != 1 || len(got[0].Handlers) != 2 {
		t.Errorf("differing handlers: %+v", got)
	}
}

func TestParseHooks(t *testing.T) {
	got, err := ParseHooks([]byte(`{"hooks":{
		"PreToolUse":[{"matcher":"Bash|Edit","hooks":[
			{"type":"command","command":"a","args":[],"timeout":5,"onFailure":"block","statusMessage":"m"},
			{"type":"http","url":"http://127.0.0.1/","headers":{"A":"b"}}]}],
		"Stop":[{"hooks":[{"type":"prompt","prompt":"p"}]}]}}`))
	want := Hooks{
		{"PreToolUse", "Bash|Edit", []Handler{
			{Type: "command", Command: "a", Args: &[]string{}, Timeout: 5, OnFailure: "block", StatusMessage: "m"},
			{Type: "http", URL: "http://127.0.0.1/", Headers: map[string]string{"A": "b"}},
		}},
		{"Stop", "", []Handler{{Type: "prompt", Prompt: "p"}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	entry := func(s string) string { return `{"hooks":{"PreToolUse":[` + s + `]}}` }
	handler := func(s string) string { return entry(`{"hooks":[` + s + `]}`) }
	for text, says := range map[string]string{
		``:                               "not JSON",
		`[]`:                             "not an object",
		`{}`:                             `just "hooks"`,
		`{"hooks":[]}`:                   `just "hooks"`,
		`{"hooks":{},"x":1}`:             `just "hooks"`,
		`{"hooks":{"PreToolUses":[]}}`:   "no event",
		`{"hooks":{"PreToolUse":{}}}`:    "not a list",
		entry(`1`):                       "not an object",
		entry(`{}`):                      "list of handlers",
		entry(`{"hooks":[]}`):            "list of handlers",
		entry(`{"match":"x","hooks":1}`): `"match" is not known`,
		entry(`{"matcher":1,"hooks":1}`): "not text",
		entry(`{"matcher":"(","hooks":[{"type":"command","command":"a"}]}`): "matcher",
		entry(`{"matcher":"|","hooks":[{"type":"command","command":"a"}]}`): "matches nothing",
		handler(`{"command":"a"}`):                                       "no type",
		handler(`{"type":"shell","command":"a"}`):                        "no type",
		handler(`{"type":"command"}`):                                    `"command" is missing`,
		handler(`{"type":"command","command":" "}`):                      `"command" is missing`,
		handler(`{"type":"command","command":"a","timeOut":1}`):          "not known",
		handler(`{"type":"command","command":"a","Command":"b"}`):        "not known",
		handler(`{"type":"command","command":"a","command":"b"}`):        "twice",
		handler(`{"type":"command","command":"a","url":"b"}`):            "not known",
		handler(`{"type":"command","command":"a","args":"b"}`):           "args",
		handler(`{"type":"command","command":"a","timeout":-1}`):         "timeout",
		handler(`{"type":"command","command":"a","timeout":1.5}`):        "timeout",
		handler(`{"type":"command","command":"a","onFailure":"blocks"}`): "onFailure",
		handler(`{"type":"command","command":"a\u0000"}`):                "no shell",
	} {
		if got, err := ParseHooks([]byte(text)); err == nil || !strings.Contains(err.Error(), says) || got != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
