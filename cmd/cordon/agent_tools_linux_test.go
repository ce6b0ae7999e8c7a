package main

import (
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// point says how an operator points a client at a model of their own. URL stands for
// the address.
type point struct {
	env   map[string]string
	args  []string
	files map[string]string // below the operator's home
}

// points were all seen to work with the pinned versions. OpenCode and Codex choose
// the protocol by the provider, and their tools by the model.
var points = map[client.Name]point{
	"claude": {env: map[string]string{"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": "URL"}},
	"codex": {env: map[string]string{"OPENAI_API_KEY": "test-key"}, args: []string{
		"-c", `model_providers.scripted={name="scripted",base_url="URL/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`,
		"-c", `model_provider="scripted"`, "-c", `model="gpt-5.5"`}},
	"gemini": {env: map[string]string{"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": "URL"}},
	"opencode": {env: map[string]string{"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": "URL/v1"},
		args: []string{"--model", "anthropic/claude-sonnet-4-5"}},
	"copilot": {env: map[string]string{"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": "URL/v1",
		"COPILOT_PROVIDER_API_KEY": "test-key", "COPILOT_MODEL": "gpt-4.1"}},
	"qwen": {env: map[string]string{"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": "URL/v1", "OPENAI_MODEL": "gpt-4.1"}},
	"pi": {env: map[string]string{"OPENAI_API_KEY": "test-key"}, args: []string{"--provider", "scripted", "--model", "gpt-4.1"},
		files: map[string]string{".pi/agent/models.json": `{"providers":{"scripted":{"baseUrl":"URL/v1","api":"openai-completions",` +
			`"apiKey":"OPENAI_API_KEY","models":[{"id":"gpt-4.1"}]}}}`}},
}

// patchPoints are for clients that have a tool for patches with some models only, in
// place of those that write and edit. Codex has it with the model above.
var patchPoints = map[client.Name]point{
	"codex": points["codex"],
	"opencode": {env: map[string]string{"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": "URL/v1"},
		args: []string{"--model", "openai/gpt-5.1"}},
	"copilot": {env: map[string]string{"COPILOT_PROVIDER_WIRE_API": "responses", "COPILOT_MODEL": "gpt-5.1-codex"}},
}

// signIns are the variables that would sign a client in somewhere else.
var signIns = func() map[string]bool {
	names := map[string]bool{}
	for _, list := range []map[client.Name]point{points, patchPoints} {
		for _, p := range list {
			for name := range p.env {
				names[name] = true
			}
		}
	}
	return names
}()

// bareArgs start a client without cordon so that it asks nobody.
var bareArgs = map[client.Name]struct{ env, before, after []string }{
	"claude": {env: []string{"IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
		before: []string{"-p", "--dangerously-skip-permissions"}, after: []string{"--"}},
	"codex":  {before: []string{"exec", "--dangerously-bypass-approvals-and-sandbox"}},
	"gemini": {before: []string{"--approval-mode", "yolo", "--skip-trust"}, after: []string{"-p"}},
	"opencode": {env: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"},
		before: []string{"run", "--auto"}},
	"copilot": {before: []string{"--allow-all", "--no-ask-user"}, after: []string{"-p"}},
	"qwen":    {before: []string{"--approval-mode", "yolo", "-o", "stream-json"}, after: []string{"-p"}}, // as text, only the last words
	"pi":      {env: []string{"PI_OFFLINE=1"}, after: []string{"-p"}},
}

// kind is what a tool does, whatever a client calls it.
type kind string

const (
	shellTool    kind = "shell"
	writeTool    kind = "write"
	editTool     kind = "edit"
	readTool     kind = "read"
	subTool      kind = "sub-agent"
	mcpTool      kind = "mcp"
	patchTool    kind = "patch"
	notebookTool kind = "notebook"
	monitorTool  kind = "monitor" // a shell command that is watched
)

// deed is what a model wants done. Paths may be relative to the worktree: every client
// takes them so.
type deed struct {
	kind    kind
	path    string // of a file, or of a notebook with a cell c1
	old     string // that an edit or a patch replaces; a patch without it adds a file
	text    string // that is written
	command string // for a shell
	prompt  string // for a sub-agent; it has the key of its script
}

// dialects say how each client's model calls each kind of tool, as of the pinned
// versions. A kind that is missing is one that the client does not have: Codex reads
// with its shell and edits with patches.
var dialects = map[client.Name]map[kind]func(deed) testmodel.Call{
	"claude": {
		shellTool: tool("Bash", func(a deed) input { return input{"command": a.command, "description": "a command"} }),
		writeTool: tool("Write", func(a deed) input { return input{"file_path": a.path, "content": a.text} }),
		editTool: tool("Edit", func(a deed) input {
			return input{"file_path": a.path, "old_string": a.old, "new_string": a.text}
		}),
		readTool: tool("Read", func(a deed) input { return input{"file_path": a.path} }),
		subTool: tool("Agent", func(a deed) input {
			return input{"description": "some help", "prompt": a.prompt, "subagent_type": "general-purpose", "run_in_background": false}
		}),
		mcpTool: tool("mcp__files__write_file", mcpInput),
		notebookTool: tool("NotebookEdit", func(a deed) input {
			return input{"notebook_path": a.path, "cell_id": "c1", "new_source": a.text}
		}),
		monitorTool: tool("Monitor", func(a deed) input {
			return input{"command": a.command, "description": "a watch", "timeout_ms": 1000, "persistent": false}
		}),
	},
	"codex": {
		shellTool: tool("exec_command", func(a deed) input { return input{"cmd": a.command} }),
		writeTool: tool("apply_patch", func(a deed) input { return input{"input": patchText(deed{path: a.path, text: a.text})} }),
		editTool:  tool("apply_patch", func(a deed) input { return input{"input": patchText(a)} }),
		subTool:   tool("multi_agent_v1/spawn_agent", func(a deed) input { return input{"message": a.prompt} }),
		mcpTool:   tool("mcp__files/write_file", mcpInput),
		patchTool: tool("apply_patch", func(a deed) input { return input{"input": patchText(a)} }),
	},
	"gemini": {
		shellTool: tool("run_shell_command", func(a deed) input { return input{"command": a.command} }),
		writeTool: tool("write_file", func(a deed) input { return input{"file_path": a.path, "content": a.text} }),
		editTool: tool("replace", func(a deed) input {
			return input{"file_path": a.path, "old_string": a.old, "new_string": a.text, "instruction": "replace it"}
		}),
		readTool: tool("read_file", func(a deed) input { return input{"file_path": a.path} }),
		subTool:  tool("invoke_agent", func(a deed) input { return input{"agent_name": "generalist", "prompt": a.prompt} }),
		mcpTool:  tool("mcp_files_write_file", mcpInput),
	},
	"opencode": {
		shellTool: tool("bash", func(a deed) input { return input{"command": a.command} }),
		writeTool: tool("write", func(a deed) input { return input{"filePath": a.path, "content": a.text} }),
		editTool: tool("edit", func(a deed) input {
			return input{"filePath": a.path, "oldString": a.old, "newString": a.text}
		}),
		readTool: tool("read", func(a deed) input { return input{"filePath": a.path} }),
		subTool: tool("task", func(a deed) input {
			return input{"description": "some help", "prompt": a.prompt, "subagent_type": "general"}
		}),
		mcpTool:   tool("files_write_file", mcpInput),
		patchTool: tool("apply_patch", func(a deed) input { return input{"patchText": patchText(a)} }),
	},
	"copilot": {
		shellTool: tool("bash", func(a deed) input { return input{"command": a.command, "description": "a command"} }),
		writeTool: tool("create", func(a deed) input { return input{"path": a.path, "file_text": a.text} }),
		editTool:  tool("edit", func(a deed) input { return input{"path": a.path, "old_str": a.old, "new_str": a.text} }),
		readTool:  tool("view", func(a deed) input { return input{"path": a.path} }),
		subTool: tool("task", func(a deed) input {
			return input{"name": "help", "description": "some help", "prompt": a.prompt, "agent_type": "task", "mode": "sync"}
		}),
		mcpTool:   tool("files-write_file", mcpInput),
		patchTool: tool("apply_patch", func(a deed) input { return input{"input": patchText(a)} }),
	},
	"qwen": { // it takes no relative paths
		shellTool: tool("run_shell_command", func(a deed) input {
			return input{"command": a.command, "description": "a command", "is_background": false}
		}),
		writeTool: tool("write_file", func(a deed) input { return input{"file_path": absolute(a.path), "content": a.text} }),
		editTool: tool("edit", func(a deed) input {
			return input{"file_path": absolute(a.path), "old_string": a.old, "new_string": a.text}
		}),
		readTool: tool("read_file", func(a deed) input { return input{"file_path": absolute(a.path)} }),
		notebookTool: tool("notebook_edit", func(a deed) input {
			return input{"notebook_path": absolute(a.path), "cell_id": "c1", "new_source": a.text}
		}),
		monitorTool: tool("monitor", func(a deed) input { return input{"command": a.command, "description": "a watch"} }),
		subTool: tool("agent", func(a deed) input {
			return input{"description": "some help", "prompt": a.prompt, "subagent_type": "general-purpose", "run_in_background": false}
		}),
	},
	"pi": { // it has no sub-agents and no servers
		shellTool: tool("bash", func(a deed) input { return input{"command": a.command} }),
		writeTool: tool("write", func(a deed) input { return input{"path": a.path, "content": a.text} }),
		editTool: tool("edit", func(a deed) input {
			return input{"path": a.path, "edits": []any{input{"oldText": a.old, "newText": a.text}}}
		}),
		readTool: tool("read", func(a deed) input { return input{"path": a.path} }),
	},
}

// absolute is a path of the tree that the client works in.
func absolute(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return testmodel.Tree + "/" + path
}

type input = map[string]any

func tool(name string, in func(deed) input) func(deed) testmodel.Call {
	return func(a deed) testmodel.Call { return testmodel.Call{Tool: name, Input: in(a)} }
}

func mcpInput(a deed) input { return input{"path": a.path, "content": a.text} }

// patchText is a patch that adds a file of one line, or replaces one.
func patchText(a deed) string {
	if a.old == "" {
		return "*** Begin Patch\n*** Add File: " + a.path + "\n+" + a.text + "\n*** End Patch\n"
	}
	return "*** Begin Patch\n*** Update File: " + a.path + "\n@@\n-" + a.old + "\n+" + a.text + "\n*** End Patch\n"
}

// spoken is how a client's model asks for a deed; false where the client has no tool
// of the kind.
func spoken(name client.Name, a deed) (testmodel.Call, bool) {
	call, ok := dialects[name][a.kind]
	if !ok {
		return testmodel.Call{}, false
	}
	return call(a), true
}

// lastWords end every script.
const lastWords = "finished by the script"

// playing has a client's model do one deed after the other, each in a turn of its own,
// and a sub-agent with the key do those of help.
func playing(t *testing.T, name client.Name, deeds []deed, key string, help ...deed) testmodel.Script {
	t.Helper()
	s := testmodel.Script{Turns: turnsOf(t, name, deeds)}
	last := testmodel.Say(lastWords)
	if _, helped := spoken(name, deed{kind: subTool}); key != "" && helped {
		sub := turnsOf(t, name, help)
		if name == "gemini" { // its sub-agents end by a call
			sub = append(sub, testmodel.Do(testmodel.Call{Tool: "complete_task", Input: input{"result": input{"response": "helped"}}}))
		} else {
			sub = append(sub, testmodel.Say("helped"))
		}
		s.Sub, last.Await = map[string][]testmodel.Turn{key: sub}, key
	}
	s.Turns = append(s.Turns, last)
	return s
}

func turnsOf(t *testing.T, name client.Name, deeds []deed) []testmodel.Turn {
	t.Helper()
	var turns []testmodel.Turn
	for _, a := range deeds {
		call, ok := spoken(name, a)
		if !ok {
			t.Fatalf("%s has no tool for %s", name, a.kind)
		}
		turns = append(turns, testmodel.Do(call))
	}
	return turns
}
