package client_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	. "cordon/internal/client"
)

// TestUnknownTools looks into tools of which nothing is known but their names.
func TestUnknownTools(t *testing.T) {
	for _, row := range []row{
		{tool: "mcp__x__read_file", input: `{"path":"a/b"}`, paths: list(r("a/b"))},
		{tool: "mcp__x__move_file", input: `{"source":"a","destination":"/host/b"}`, paths: list(w("a"), w("/host/b"))},
		{tool: "mcp__x__look", input: `{"outputPath":"/host/b"}`, paths: list(w("/host/b"))},
		{tool: "mcp__x__look", input: `{"anything":"/host/b","else":"~/x","up":"../y","mid":"a/../../b","uri":"FILE://localhost/a%2fb"}`,
			paths: list(r("/host/b"), r("~/x"), r("../y"), r("a/../../b"), r("/a/b"))},
		{tool: "mcp__x__look", input: `{"deep":[[{"list":{"files":["a","/host/b"]}}]]}`, paths: list(r("a"), r("/host/b"))},
		{tool: "mcp__x__write_all", input: `{"files":{"/host/a":"text","../b":"text"}}`, paths: list(w("/host/a"), w("../b"))},
		{tool: "mcp__x__apply", input: `{"patch":"*** Add File: /host/a\n+x\n"}`, paths: list(w("/host/a"))},
		{tool: "mcp__x__run", input: `{"command":"rm","args":["-rf","/host x"],"cwd":"/host"}`, commands: list("rm '-rf' '/host x'"), dir: "/host", paths: list(w("/host"))},
		{tool: "mcp__x__run", input: `{"cmd":["rm","/host"]}`, commands: list("'rm' '/host'")},
		{tool: "mcp__x__run", input: `{"commands":["cd ..","rm x"]}`, commands: list("cd ..\nrm x")},
		{tool: "mcp__x__run", input: `{"nested":{"shellCommand":"rm x","working_directory":"/h"}}`, commands: list("rm x"), dir: "/h", paths: list(w("/h"))},
		{tool: "mcp__x__run", input: `{"code":"open('/h')","language":"python"}`, commands: list(`python3 -c 'open('"'"'/h'"'"')'`)},
		{tool: "mcp__python__run", input: `{"command":"rm x"}`, commands: list("rm x")},
		{tool: "mcp__python__run", input: `{"script":"x"}`, commands: list("python3 -c 'x'")},
		{tool: "mcp__x__run", input: `{"script":{"command":"rm x"}}`, commands: list("rm x")},
		{tool: "mcp__x__add_note", input: `{"content":"/host/a is it","note":"see ../x","url":"https://x/y","target":"https://x/../y","n":1,"b":true,"z":null,"body":"/a"}`},
		{tool: "mcp__x__look", input: `{"xpath":"//div","query":"/a","text":"file:///host/a"}`, paths: list(r("/host/a"))},
		{tool: "mcp__x__look", input: `{"value":"/** a comment\n over lines */"}`},

		// A tool that runs something, and what it runs was not found.
		{tool: "Terminal", input: `{"input":"rm -rf /host"}`, dangers: list(Opaque)},
		{tool: "Execute", input: `{"line":"cd ~ && rm -rf x"}`, dangers: list(Opaque)},
		{tool: "mcp__sh__run", input: `{"input":"rm -rf x"}`, dangers: list(Opaque)},
		{tool: "mcp__sh__run", input: `{"text":"rm -rf x"}`, dangers: list(Opaque)},
		{tool: "mcp__sh__run", input: `{"deep":[{"input":["rm","-rf"]}],"cwd":"x"}`, paths: list(w("x")), dangers: list(Opaque)},
		{tool: "mcp__sh__run", input: `{"program":"https://x; rm -rf x"}`, dangers: list(Opaque)},
		{tool: "mcp__x__run", input: `{"command":"rm x","input":"a b"}`, commands: list("rm x")},
		{tool: "mcp__x__run_tests", input: `{"suite":"unit","target":"src","verbose":true}`, paths: list(w("src"))},
		{tool: "mcp__x__run_workflow", input: `{"owner":"o","workflow_id":"ci.yml","ref":"refs/heads/main"}`},
		{tool: "mcp__x__execute_sql", input: `{"sql":"select * from t","description":"all of it"}`},
		{tool: "mcp__x__evaluate_script", input: `{"function":"() => document.title"}`},
		{tool: "mcp__x__look", input: `{"input":"rm -rf x"}`},
		{tool: "mcp__x__look", input: `{}`},

		// Letters that look like others.
		{tool: "B\u0430sh", input: `{"c\u043emmand":"rm -rf x"}`, dangers: list(Opaque)},
		{tool: "mcp__x__look", input: `{"c\u043emmand":"rm -rf x"}`, dangers: list(Opaque)},
		{tool: "mcp__x__look", input: `{"labels":{"gr\u00f6\u00dfe":"x"}}`},

		// Patterns of files, and of text.
		{tool: "mcp__fs__delete", input: `{"pattern":"/host/**"}`, paths: list(w("/host"))},
		{tool: "mcp__fs__delete", input: `{"pattern":"src/*.o"}`},
		{tool: "mcp__fs__search_files", input: `{"path":".","pattern":"../host/*"}`, paths: list(r("."), r("../host"))},
		{tool: "mcp__fs__look", input: `{"glob":"~/*"}`, paths: list(r("~"))},
		{tool: "mcp__fs__grep", input: `{"pattern":"/host/.*"}`},

		// What is only said counts where a tool writes and names nothing else.
		{tool: "mcp__fs__write", input: `{"data":"/host/x"}`, paths: list(w("/host/x"))},
		{tool: "mcp__fs__write", input: `{"path":"a","data":"/host/x"}`, paths: list(w("a"))},
		{tool: "mcp__fs__read", input: `{"data":"/host/x"}`},
		{tool: "mcp__x__add_comment", input: `{"body":"/retest","xpath":"//div/a","route":"/api/x"}`},
	} {
		got, err := of(Claude).Decode(saidOf(Claude, row.tool, row.input))
		if err != nil {
			t.Errorf("%s %s: %v", row.tool, row.input, err)
			continue
		}
		if !reflect.DeepEqual(got.Commands, row.commands) || !reflect.DeepEqual(got.Paths, row.paths) || got.Dir != row.dir ||
			!reflect.DeepEqual(got.Dangers, row.dangers) {
			t.Errorf("%s %s\ngot  %q in %q, %v, %v\nwant %q in %q, %v, %v", row.tool, row.input, got.Commands, got.Dir, got.Paths, got.Dangers,
				row.commands, row.dir, row.paths, row.dangers)
		}
	}
}

// TestRefused lists what must not be understood.
func TestRefused(t *testing.T) {
	ok := `{"hook_event_name":"PreToolUse","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"}}`
	if _, err := of(Claude).Decode([]byte(ok)); err != nil {
		t.Fatal(err) // the control
	}
	for what, text := range map[string]string{
		"nothing":                   "",
		"no JSON":                   "{",
		"a list":                    "[]",
		"trailing data":             ok + "{}",
		"trailing text":             ok + " x",
		"not UTF-8":                 strings.Replace(ok, "ls", "l\xff", 1),
		"half a character":          strings.Replace(ok, "ls", `l\ud800`, 1),
		"the other half":            strings.Replace(ok, "ls", `l\udc00s`, 1),
		"two halves apart":          strings.Replace(ok, "ls", `\ud800x\udc00`, 1),
		"a command twice":           strings.Replace(ok, `"command":"ls"`, `"command":"ls","command":"rm"`, 1),
		"a command twice, escaped":  strings.Replace(ok, `"command":"ls"`, `"command":"ls","c\u006fmmand":"rm"`, 1),
		"a tool twice":              strings.Replace(ok, `{"hook`, `{"tool_name":"Read","hook`, 1),
		"no tool":                   strings.Replace(ok, `"tool_name":"Bash",`, ``, 1),
		"an empty tool":             strings.Replace(ok, `"Bash"`, `""`, 1),
		"a tool that is a number":   strings.Replace(ok, `"Bash"`, `1`, 1),
		"a tool with control codes": strings.Replace(ok, `"Bash"`, `"Ba\u001bsh"`, 1),
		"no input":                  strings.Replace(ok, `,"tool_input":{"command":"ls"}`, ``, 1),
		"input that is null":        strings.Replace(ok, `{"command":"ls"}`, `null`, 1),
		"input that is a list":      strings.Replace(ok, `{"command":"ls"}`, `["ls"]`, 1),
		"input that is text":        strings.Replace(ok, `{"command":"ls"}`, `"ls"`, 1),
		"no command":                strings.Replace(ok, `"command"`, `"description"`, 1),
		"a null command":            strings.Replace(ok, `"ls"`, `null`, 1),
		"a list for a command":      strings.Replace(ok, `"ls"`, `["ls"]`, 1),
		"a number for a command":    strings.Replace(ok, `"ls"`, `1`, 1),
		"a NUL in a command":        strings.Replace(ok, `ls`, `ls\u0000`, 1),
		"no cwd":                    strings.Replace(ok, `"cwd":"/w",`, ``, 1),
		"a relative cwd":            strings.Replace(ok, `/w`, `w`, 1),
		"a cwd that is a list":      strings.Replace(ok, `"/w"`, `["/w"]`, 1),
		"an event of tomorrow":      strings.Replace(ok, `PreToolUse`, `PreToolUse2`, 1),
		"no event":                  strings.Replace(ok, `"hook_event_name":"PreToolUse",`, ``, 1),
		"a file that is no path":    strings.Replace(ok, `"Bash","tool_input":{"command":"ls"}`, `"Read","tool_input":{"file_path":{"a":1}}`, 1),
		"an empty path":             strings.Replace(ok, `"Bash","tool_input":{"command":"ls"}`, `"Read","tool_input":{"file_path":""}`, 1),
		"a read of nothing":         strings.Replace(ok, `"Bash","tool_input":{"command":"ls"}`, `"Read","tool_input":{"other":"x"}`, 1),
		"a patch of nothing":        strings.Replace(ok, `"Bash","tool_input":{"command":"ls"}`, `"apply_patch","tool_input":{"path":1,"x":"`+strings.Repeat("a", MaxInput)+`"}`, 1),
		"too deep":                  strings.Replace(ok, `"ls"`, `"ls","x":`+strings.Repeat("[", 100)+strings.Repeat("]", 100), 1),
		"too much":                  strings.Replace(ok, `"ls"`, `"ls","x":[0`+strings.Repeat(",0", MaxNodes)+`]`, 1),
		"too many paths":            strings.Replace(ok, `"Bash","tool_input":{"command":"ls"}`, `"mcp__x","tool_input":{"files":["a"`+strings.Repeat(`,"a"`, 2*MaxFound)+`]}`, 1),
	} {
		if got, err := of(Claude).Decode([]byte(text)); err == nil || !reflect.DeepEqual(got, Request{}) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	if _, err := of("cursor").Decode([]byte(ok)); err == nil {
		t.Error("a client that is not known was understood")
	}
	if _, err := of(Codex).Decode([]byte(strings.NewReplacer("Bash", "apply_patch", "ls", "nothing").Replace(ok))); err == nil {
		t.Error("a patch without files was understood")
	}
}

// TestEvents reads what is not about a tool call.
func TestEvents(t *testing.T) {
	for _, row := range []struct {
		client Name
		text   string
		want   Event
	}{
		{Claude, `{"hook_event_name":"SessionStart","session_id":"a","source":"startup"}`, SessionStart},
		{Claude, `{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}}`, Permission},
		{Claude, `{"hook_event_name":"CwdChanged"}`, OtherEvent},
		{Codex, `{"hook_event_name":"SessionStart"}`, SessionStart},
		{Codex, `{"hook_event_name":"Interrupt"}`, OtherEvent},
		{Gemini, `{"hook_event_name":"AfterTool","tool_name":"x"}`, PostTool},
		{Gemini, `{"hook_event_name":"SessionStart"}`, SessionStart},
		{OpenCode, `{"hook_event_name":"session.start","cwd":"/w"}`, SessionStart},
		{Copilot, `{"sessionId":"a","cwd":"/w","source":"new"}`, SessionStart},
		{Copilot, `{"cwd":"/w","toolName":"bash","toolArgs":{},"toolResult":{}}`, PostTool},
		{Copilot, `{"cwd":"/w","prompt":"x"}`, Prompt},
		{Copilot, `{"cwd":"/w","reason":"complete"}`, SessionEnd},
	} {
		got, err := of(row.client).Decode([]byte(row.text))
		if err != nil || got.Event != row.want || got.Tool != "" || got.Commands != nil || got.Kind != "" {
			t.Errorf("%s %s: %+v, %v", row.client, row.text, got, err)
		}
	}
	for _, text := range []string{`{"cwd":"/w"}`, `{}`} {
		if _, err := of(Copilot).Decode([]byte(text)); err == nil {
			t.Errorf("%s: not refused", text)
		}
	}
	if _, err := of(Gemini).Decode([]byte(`{"hook_event_name":"PreToolUse"}`)); err == nil {
		t.Error("another client's word was understood")
	}
}

func TestPlace(t *testing.T) {
	for _, row := range [][3]string{{"/w", "", "/w"}, {"/w", "a/../b", "/w/a/../b"}, {"/", "a", "/a"}, {"/w", "/x", "/x"}, {"/w", "~/x", "~/x"}} {
		if got := (Request{Cwd: row[0], Dir: row[1]}).Place(); got != row[2] {
			t.Errorf("%q in %q is %q", row[1], row[0], got)
		}
	}
}

func TestGlobRoot(t *testing.T) {
	for _, row := range [][3]string{
		{".", "**/*.go", "."}, {".", "src/*.go", "src"}, {"a", "src/x.go", "a/src/x.go"}, {"a/", "../*", "a/.."},
		{".", "/host/*", "/host"}, {"a", "/*", "/"}, {".", "~/*", "~"}, {".", "*/../../x", "./../.."}, {".", "{a,../../h}/x", "./../.."},
		{".", "{a,/host}/x", "/"}, {".", "{/host,a}/x", "/"}, {"/h", "*", "/h"},
	} {
		if got := GlobRoot(row[0], row[1]); got != row[2] {
			t.Errorf("%q from %q is %q, not %q", row[1], row[0], got, row[2])
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"filePath": "file path", "file_path": "file path", "mcp__fs__write-file": "mcp fs write file", "CWD": "cwd", "newURI2x": "new uri2x", "": "", "--": "", "éÉ_a": "é é a",
	} {
		if got := strings.Join(Words(name), " "); got != want {
			t.Errorf("%q is %q, not %q", name, got, want)
		}
	}
}

// FuzzDecode holds that nothing panics, that an error gives nothing, and that
// what is understood names only what a path or a command can be.
func FuzzDecode(f *testing.F) {
	for _, row := range rows {
		f.Add(string(row.client), saidOf(row.client, row.tool, row.input))
	}
	f.Fuzz(func(t *testing.T, n string, data []byte) {
		got, err := of(Name(n)).Decode(data)
		if err != nil {
			if !reflect.DeepEqual(got, Request{}) {
				t.Errorf("with an error: %+v", got)
			}
			return
		}
		if got.Event == "" || got.Event == PreTool && (got.Tool == "" || got.Kind == "" || got.Cwd == "") {
			t.Errorf("understood, and incomplete: %+v", got)
		}
		for _, p := range got.Paths {
			if p.Path == "" || strings.Contains(p.Path, "\x00") {
				t.Errorf("path %q", p.Path)
			}
		}
	})
}

// TestHostile holds that what is meant to exhaust the hook is refused in time.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time")
	}
	for what, input := range map[string]string{
		"deep":      strings.Repeat("[", MaxInput/3) + strings.Repeat("]", MaxInput/3),
		"deep maps": strings.Repeat(`{"a":`, MaxInput/8) + "1" + strings.Repeat("}", MaxInput/8),
		"wide":      "[" + strings.Repeat("0,", MaxInput/3) + "0]",
		"keys":      `{"a":[` + strings.Repeat(`{"path":"/x"},`, MaxInput/20) + "0]}",
		"long":      `{"path":"` + strings.Repeat("/..", MaxInput/4) + `"}`,
		"escapes":   `{"path":"` + strings.Repeat(`\u0041`, MaxInput/8) + `"}`,
		"patch":     `{"patch":"` + strings.Repeat(`*** Add File: x\n`, MaxInput/20) + `"}`,
		"too long":  `{"path":"` + strings.Repeat("x", 3*MaxInput) + `"}`,
		"a key":     `{"` + strings.Repeat("aB_", MaxInput/4) + `":"x"}`,
	} {
		said := strings.Replace(string(saidOf(Claude, "mcp__x__y", "{}")), "{}", input, 1)
		start := time.Now()
		_, err := of(Claude).Decode([]byte(said))
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: %v, %v", what, took, err)
		} else {
			t.Logf("%s: %v, %v", what, took, err)
		}
	}
}
