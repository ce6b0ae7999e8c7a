package client_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"cordon/internal/agent/clients"
	. "cordon/internal/client"
)

// said is what a client would send about a call, with an input in JSON.
func saidOf(n Name, name, input string) []byte {
	d := of(n).Keys
	o := Object{{d.Tool, name}, {d.Input, json.RawMessage(input)}, {d.Session, "s1"}, {d.Call, "c1"}, {"cwd", "/w"}, {"later", map[string]any{"x": 1}}}
	if d.Event != "" {
		word, err := (Entry{Event: "PreToolUse"}).Word(of(n))
		if err != nil {
			panic(err)
		}
		o.Set(d.Event, word)
	}
	b, err := Compact(o)
	if err != nil {
		panic(err)
	}
	return b
}

// row is a call and what it must be taken for.
type row struct {
	client   Name
	tool     string
	input    string
	kind     Kind
	commands []string
	paths    []Path
	dir      string
	dangers  []Danger
}

func r(p string) Path { return Path{p, false} }
func w(p string) Path { return Path{p, true} }

func list[T any](items ...T) []T { return items }

const beginPatch = `*** Begin Patch\n*** Add File: a/b.txt\n+*** Add File: /content\n*** Update File: ../host/x\n*** Move to: /etc/y\n@@\n-a\n+b\n*** Delete File: z\n*** End Patch`

var inPatch = list(w("a/b.txt"), w("../host/x"), w("/etc/y"), w("z"))

var rows = []row{
	{Claude, "Bash", `{"command":"ls /x","description":"in /host","run_in_background":true}`, Shell, list("ls /x"), nil, "", nil},
	{Claude, "Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`, Shell, list("ls"), nil, "", list(Unsandboxed)},
	{Claude, "Bash", `{"command":"ls","dangerouslyDisableSandbox":false}`, Shell, list("ls"), nil, "", nil},
	{Claude, "Bash", `{"command":"ls","cwd":"/host"}`, Shell, list("ls"), list(r("/host")), "", nil},
	{Claude, "Monitor", `{"command":"tail -f x"}`, Shell, list("tail -f x"), nil, "", nil},
	{Claude, "BashOutput", `{"bash_id":"1"}`, Note, nil, nil, "", nil},
	{Claude, "KillShell", `{"shell_id":"1"}`, Note, nil, nil, "", nil},
	{Claude, "TaskOutput", `{"task_id":"1"}`, Note, nil, nil, "", nil},
	{Claude, "TaskStop", `{"task_id":"1"}`, Note, nil, nil, "", nil},
	{Claude, "Read", `{"file_path":"/w/a","offset":1}`, Read, nil, list(r("/w/a")), "", nil},
	{Claude, "Write", `{"file_path":"/w/a","content":"/host/secret\n../x"}`, Write, nil, list(w("/w/a")), "", nil},
	{Claude, "Edit", `{"file_path":"/w/a","old_string":"/host","new_string":"~/x","replace_all":false}`, Edit, nil, list(w("/w/a")), "", nil},
	{Claude, "MultiEdit", `{"file_path":"/w/a","edits":[{"old_string":"/a","new_string":"/b"}]}`, Edit, nil, list(w("/w/a")), "", nil},
	{Claude, "NotebookEdit", `{"notebook_path":"/w/n.ipynb","new_source":"open('/host')","cell_id":"a"}`, Notebook, nil, list(w("/w/n.ipynb")), "", nil},
	{Claude, "NotebookRead", `{"notebook_path":"/w/n.ipynb"}`, Read, nil, list(r("/w/n.ipynb")), "", nil},
	{Claude, "Glob", `{"pattern":"**/*.go"}`, Search, nil, list(r("."), r(".")), "", nil},
	{Claude, "Glob", `{"pattern":"/host/src/*.go","path":"sub"}`, Search, nil, list(r("/host/src"), r("sub")), "", nil},
	{Claude, "Grep", `{"pattern":"/host/x","path":"../other","glob":"*.go","output_mode":"content"}`, Search, nil, list(r("../other")), "", nil},
	{Claude, "LS", `{"path":"/host","ignore":["/x"]}`, Search, nil, list(r("/host")), "", nil},
	{Claude, "LSP", `{"operation":"hover","filePath":"/host/a.go","line":1}`, Search, nil, list(r("/host/a.go")), "", nil},
	{Claude, "EnterWorktree", `{"name":"x"}`, Worktree, nil, nil, "", nil},
	{Claude, "EnterWorktree", `{"path":"/host/.claude/worktrees/x"}`, Worktree, nil, list(w("/host/.claude/worktrees/x")), "", nil},
	{Claude, "ExitWorktree", `{"action":"keep"}`, Worktree, nil, nil, "", nil},
	{Claude, "Agent", `{"prompt":"look at /host","description":"d","isolation":"worktree"}`, Agent, nil, nil, "", list(Isolated)},
	{Claude, "Task", `{"prompt":"look at /host","description":"d"}`, Agent, nil, nil, "", nil},
	{Claude, "Workflow", `{"script":"run('/host')","scriptPath":"/host/wf.js"}`, Agent, nil, list(r("/host/wf.js")), "", nil},
	{Claude, "Artifact", `{"file_path":"a","file_paths":["b","/host/c"],"out_dir":"/host/o"}`, Write, nil, list(r("a"), r("b"), r("/host/c"), w("/host/o")), "", nil},
	{Claude, "Projects", `{"local_path":"/host"}`, Unknown, nil, list(r("/host")), "", nil},
	{Claude, "Skill", `{"skill":"x","args":"/host"}`, Skill, nil, nil, "", nil},
	{Claude, "SlashCommand", `{"command":"/review /host"}`, Skill, nil, nil, "", nil},
	{Claude, "WebFetch", `{"url":"https://example.com/x","prompt":"/host"}`, Fetch, nil, nil, "", nil},
	{Claude, "WebSearch", `{"query":"/etc/passwd"}`, Fetch, nil, nil, "", []Danger{Remote}},
	{Claude, "CronCreate", `{"cron":"* * * * *","prompt":"rm /host"}`, Schedule, nil, nil, "", list(Later)},
	{Claude, "CronDelete", `{"id":"1"}`, Schedule, nil, nil, "", list(Later)},
	{Claude, "ScheduleWakeup", `{"delaySeconds":60,"prompt":"go","reason":"/x"}`, Schedule, nil, nil, "", list(Later)},
	{Claude, "SendMessage", `{"target":"main","message":"do it"}`, Message, nil, nil, "", list(Elsewhere)},
	{Claude, "ListAgents", `{}`, Message, nil, nil, "", list(Elsewhere)},
	{Claude, "TodoWrite", `{"todos":[{"content":"fix /host/x","status":"pending"}]}`, Note, nil, nil, "", nil},
	{Claude, "TaskCreate", `{"subject":"/host","description":"../x"}`, Note, nil, nil, "", nil},
	{Claude, "TaskUpdate", `{"taskId":"1","status":"done"}`, Note, nil, nil, "", nil},
	{Claude, "TaskGet", `{"taskId":"1"}`, Note, nil, nil, "", nil},
	{Claude, "TaskList", `{}`, Note, nil, nil, "", nil},
	{Claude, "ToolSearch", `{"query":"select:/x"}`, Note, nil, nil, "", nil},
	{Claude, "EnterPlanMode", `{}`, Note, nil, nil, "", nil},
	{Claude, "ExitPlanMode", `{"plan":"edit /host"}`, Note, nil, nil, "", nil},
	{Claude, "AskUserQuestion", `{"questions":[{"question":"write /host?"}]}`, Question, nil, nil, "", nil},
	{Claude, "mcp__fs__write_file", `{"path":"../host/a","content":"/etc"}`, MCP, nil, list(w("../host/a")), "", nil},

	{Codex, "Bash", `{"command":"ls"}`, Shell, list("ls"), nil, "", nil},
	{Codex, "shell", `{"command":["bash","-lc","echo 'a b'"],"workdir":"../host"}`, Shell, list(`'bash' '-lc' 'echo '"'"'a b'"'"''`), nil, "../host", nil},
	{Codex, "shell_command", `{"command":"ls","with_escalated_permissions":true,"justification":"cat /host"}`, Shell, list("ls"), nil, "", list(Escalated)},
	{Codex, "local_shell", `{"command":["ls","/x"]}`, Shell, list("'ls' '/x'"), nil, "", nil},
	{Codex, "container.exec", `{"cmd":["ls"]}`, Shell, list("'ls'"), nil, "", nil},
	{Codex, "exec_command", `{"cmd":"ls","workdir":"/host","shell":"/host/sh","sandbox_permissions":"require_escalated"}`, Shell, list("ls"), list(r("/host/sh")), "/host", list(Escalated)},
	{Codex, "exec_command", `{"cmd":"ls","shell":"bash","sandbox_permissions":"use_default"}`, Shell, list("ls"), nil, "", nil},
	{Codex, "write_stdin", `{"session_id":1,"chars":"rm x\n"}`, Shell, list("rm x\n"), nil, "", list(Typed)},
	{Codex, "write_stdin", `{"session_id":1,"chars":""}`, Note, nil, nil, "", nil},
	{Codex, "apply_patch", `{"command":"` + beginPatch + `"}`, Patch, nil, inPatch, "", nil},
	{Codex, "apply_patch", `{"command":["apply_patch","` + beginPatch + `"]}`, Patch, nil, inPatch, "", nil},
	{Codex, "apply_patch", `{"input":"apply_patch <<'EOF'\n` + beginPatch + `\nEOF"}`, Patch, nil, inPatch, "", nil},
	{Codex, "apply_patch", `{"command":"cd .. && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: x\n+y\n*** End Patch\nEOF"}`, Patch,
		list("cd .. && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: x\n+y\n*** End Patch\nEOF"), list(w("x")), "", nil},
	{Codex, "apply_patch", `{"command":["bash","-lc","apply_patch <<E\n*** Delete File: x\nE"]}`, Patch,
		list("'bash' '-lc' 'apply_patch <<E\n*** Delete File: x\nE'"), list(w("x")), "", nil},
	{Codex, "view_image", `{"path":"/host/a.png"}`, Read, nil, list(r("/host/a.png")), "", nil},
	{Codex, "read_file", `{"file_path":"/host/a"}`, Read, nil, list(r("/host/a")), "", nil},
	{Codex, "list_dir", `{"dir_path":"/host"}`, Search, nil, list(r("/host")), "", nil},
	{Codex, "grep_files", `{"pattern":"/x"}`, Search, nil, list(r(".")), "", nil},
	{Codex, "update_plan", `{"plan":[{"step":"edit /host","status":"pending"}],"explanation":"../x"}`, Note, nil, nil, "", nil},
	{Codex, "spawn_agent", `{"message":"go to /host","agent_type":"worker"}`, Agent, nil, nil, "", nil},
	{Codex, "send_input", `{"id":"1","message":"/host"}`, Agent, nil, nil, "", nil},
	{Codex, "wait", `{"ids":["1"]}`, Agent, nil, nil, "", nil},
	{Codex, "wait_agent", `{"ids":["1"]}`, Agent, nil, nil, "", nil},
	{Codex, "resume_agent", `{"id":"1"}`, Agent, nil, nil, "", nil},
	{Codex, "close_agent", `{"id":"1"}`, Agent, nil, nil, "", nil},
	{Codex, "request_user_input", `{"questions":[{"question":"/host?"}]}`, Question, nil, nil, "", nil},
	{Codex, "web_search", `{"query":"/host"}`, Fetch, nil, nil, "", []Danger{Remote}},
	{Codex, "list_mcp_resources", `{"server":"x"}`, Note, nil, nil, "", nil},
	{Codex, "list_mcp_resource_templates", `{"server":"x"}`, Note, nil, nil, "", nil},
	{Codex, "read_mcp_resource", `{"server":"x","uri":"file:///host/a%20b"}`, Unknown, nil, list(r("/host/a b")), "", nil},
	{Codex, "mcp__fs__read", `{"path":"/host/a"}`, MCP, nil, list(r("/host/a")), "", nil},

	{Gemini, "run_shell_command", `{"command":"ls","dir_path":"../host","is_background":false}`, Shell, list("ls"), nil, "../host", nil},
	{Gemini, "run_shell_command", `{"command":"ls","directory":"sub","description":"/host"}`, Shell, list("ls"), nil, "sub", nil},
	{Gemini, "write_file", `{"file_path":"a","content":"/x"}`, Write, nil, list(w("a")), "", nil},
	{Gemini, "replace", `{"file_path":"a","old_string":"/x","new_string":"/y","instruction":"/z"}`, Edit, nil, list(w("a")), "", nil},
	{Gemini, "read_file", `{"file_path":"/host/a"}`, Read, nil, list(r("/host/a")), "", nil},
	{Gemini, "read_file", `{"absolute_path":"/host/a"}`, Read, nil, list(r("/host/a")), "", nil},
	{Gemini, "read_many_files", `{"include":["src/**","../host/*"],"exclude":["/x"]}`, Search, nil, list(r("src"), r("../host")), "", nil},
	{Gemini, "list_directory", `{"dir_path":"/host"}`, Search, nil, list(r("/host")), "", nil},
	{Gemini, "glob", `{"pattern":"**/*.md","dir_path":"/host"}`, Search, nil, list(r("/host"), r("/host")), "", nil},
	{Gemini, "grep_search", `{"pattern":"/x","dir_path":"sub"}`, Search, nil, list(r("sub")), "", nil},
	{Gemini, "search_file_content", `{"pattern":"/x","path":""}`, Search, nil, list(r(".")), "", nil},
	{Gemini, "web_fetch", `{"prompt":"read https://x and /host"}`, Fetch, nil, nil, "", []Danger{Remote}},
	{Gemini, "web_fetch", `{"url":"https://x"}`, Fetch, nil, nil, "", nil},
	{Gemini, "web_fetch", `{"url":"https://x","prompt":"https://y"}`, Fetch, nil, nil, "", []Danger{Remote}},
	{Gemini, "google_web_search", `{"query":"/x"}`, Fetch, nil, nil, "", []Danger{Remote}},
	{Gemini, "save_memory", `{"fact":"/x"}`, Write, nil, list(w("~/.gemini/GEMINI.md")), "", nil},
	{Gemini, "write_todos", `{"todos":[{"description":"/x"}]}`, Note, nil, nil, "", nil},
	{Gemini, "update_topic", `{"title":"/x","summary":"rm /x","strategic_intent":"/x"}`, Note, nil, nil, "", nil},
	{Gemini, "list_background_processes", `{}`, Note, nil, nil, "", nil},
	{Gemini, "read_background_output", `{"pid":7,"lines":20}`, Note, nil, nil, "", nil},
	{Gemini, "invoke_agent", `{"agent_name":"a","prompt":"/host"}`, Agent, nil, nil, "", nil},
	{Gemini, "activate_skill", `{"name":"x"}`, Skill, nil, nil, "", nil},
	{Gemini, "ask_user", `{"questions":[]}`, Question, nil, nil, "", nil},
	{Gemini, "enter_plan_mode", `{"reason":"/x"}`, Note, nil, nil, "", nil},
	{Gemini, "exit_plan_mode", `{"plan_path":"/host/p.md"}`, Note, nil, list(w("/host/p.md")), "", nil},
	{Gemini, "mcp_fs_create", `{"target":"/host/a"}`, MCP, nil, list(w("/host/a")), "", nil},

	{OpenCode, "bash", `{"command":"ls","workdir":"/host","description":"/x"}`, Shell, list("ls"), nil, "/host", nil},
	{OpenCode, "read", `{"filePath":"../host/a"}`, Read, nil, list(r("../host/a")), "", nil},
	{OpenCode, "write", `{"filePath":"a","content":"/x"}`, Write, nil, list(w("a")), "", nil},
	{OpenCode, "edit", `{"filePath":"a","oldString":"/x","newString":"/y"}`, Edit, nil, list(w("a")), "", nil},
	{OpenCode, "multiedit", `{"filePath":"a","edits":[{"oldString":"/x"}]}`, Edit, nil, list(w("a")), "", nil},
	{OpenCode, "patch", `{"patchText":"` + beginPatch + `"}`, Patch, nil, inPatch, "", nil},
	{OpenCode, "apply_patch", `{"patchText":"--- a/x\n+++ b/../y\t2020\n@@\n-a\n+b\n"}`, Patch, nil, list(w("x"), w("../y")), "", nil},
	{OpenCode, "glob", `{"pattern":"../**"}`, Search, nil, list(r(".."), r(".")), "", nil},
	{OpenCode, "grep", `{"pattern":"/x","path":"/host","include":"*.go"}`, Search, nil, list(r("/host")), "", nil},
	{OpenCode, "list", `{}`, Search, nil, list(r(".")), "", nil},
	{OpenCode, "lsp", `{"operation":"hover","filePath":"/host/a"}`, Search, nil, list(r("/host/a")), "", nil},
	{OpenCode, "task", `{"prompt":"/host","description":"d","subagent_type":"general"}`, Agent, nil, nil, "", nil},
	{OpenCode, "skill", `{"name":"x"}`, Skill, nil, nil, "", nil},
	{OpenCode, "webfetch", `{"url":"https://x"}`, Fetch, nil, nil, "", nil},
	{OpenCode, "websearch", `{"query":"/x"}`, Fetch, nil, nil, "", nil},
	{OpenCode, "codesearch", `{"query":"/x"}`, Fetch, nil, nil, "", nil},
	{OpenCode, "todowrite", `{"todos":[{"content":"/x"}]}`, Note, nil, nil, "", nil},
	{OpenCode, "todoread", `{}`, Note, nil, nil, "", nil},
	{OpenCode, "question", `{"questions":[{"question":"/x"}]}`, Question, nil, nil, "", nil},
	{OpenCode, "plan_enter", `{}`, Note, nil, nil, "", nil},
	{OpenCode, "plan_exit", `{}`, Note, nil, nil, "", nil},
	{OpenCode, "invalid", `{"tool":"x","error":"/host"}`, Note, nil, nil, "", nil},

	{Copilot, "bash", `{"command":"ls","sessionId":"/x","async":false}`, Shell, list("ls"), nil, "", nil},
	{Copilot, "bash", `"{\"command\":\"ls\"}"`, Shell, list("ls"), nil, "", nil},
	{Copilot, "powershell", `{"command":"ls"}`, Shell, list("ls"), nil, "", list(Foreign)},
	{Copilot, "write_bash", `{"sessionId":"1","input":"rm x"}`, Shell, list("rm x"), nil, "", list(Typed)},
	{Copilot, "write_powershell", `{"input":"rm x"}`, Shell, list("rm x"), nil, "", list(Typed, Foreign)},
	{Copilot, "read_bash", `{"sessionId":"1"}`, Note, nil, nil, "", nil},
	{Copilot, "read_powershell", `{"sessionId":"1"}`, Note, nil, nil, "", nil},
	{Copilot, "stop_bash", `{"sessionId":"1"}`, Note, nil, nil, "", nil},
	{Copilot, "stop_powershell", `{"sessionId":"1"}`, Note, nil, nil, "", nil},
	{Copilot, "list_bash", `{}`, Note, nil, nil, "", nil},
	{Copilot, "create", `{"path":"/host/a","file_text":"/x"}`, Write, nil, list(w("/host/a")), "", nil},
	{Copilot, "edit", `{"path":"a","old_str":"/x","new_str":"/y"}`, Edit, nil, list(w("a")), "", nil},
	{Copilot, "view", `{"path":"/host/a","view_range":[1,2]}`, Read, nil, list(r("/host/a")), "", nil},
	{Copilot, "show_file", `{"path":"/host/a"}`, Read, nil, list(r("/host/a")), "", nil},
	{Copilot, "str_replace_editor", `{"command":"view","path":"/host/a"}`, Read, nil, list(r("/host/a")), "", nil},
	{Copilot, "str_replace_editor", `{"command":"create","path":"/host/a","file_text":"x"}`, Edit, nil, list(w("/host/a")), "", nil},
	{Copilot, "apply_patch", `"` + beginPatch + `"`, Patch, nil, inPatch, "", nil},
	{Copilot, "grep", `{"pattern":"/x","paths":["a","/host"]}`, Search, nil, list(r("a"), r("/host")), "", nil},
	{Copilot, "rg", `{"pattern":"/x","path":"/host"}`, Search, nil, list(r("/host")), "", nil},
	{Copilot, "glob", `{"pattern":"/host/*"}`, Search, nil, list(r("/host"), r(".")), "", nil},
	{Copilot, "task", `{"prompt":"/host","description":"d","agent_type":"x"}`, Agent, nil, nil, "", nil},
	{Copilot, "read_agent", `{"agent_id":"1"}`, Note, nil, nil, "", nil},
	{Copilot, "list_agents", `{}`, Note, nil, nil, "", nil},
	{Copilot, "write_agent", `{"agent_id":"a","message":"touch /x"}`, Agent, nil, nil, "", nil},
	{Copilot, "skill", `{"skill":"x"}`, Skill, nil, nil, "", nil},
	{Copilot, "sql", `{"query":"select '/x'"}`, Note, nil, nil, "", nil},
	{Copilot, "session_store_sql", `{"query":"select '/x'"}`, Note, nil, nil, "", nil},
	{Copilot, "web_fetch", `{"url":"https://x"}`, Fetch, nil, nil, "", nil},
	{Copilot, "web_search", `{"query":"/x"}`, Fetch, nil, nil, "", []Danger{Remote}},
	{Copilot, "report_intent", `{"intent":"/x"}`, Note, nil, nil, "", nil},
	{Copilot, "update_todo", `{"todos":"- /x"}`, Note, nil, nil, "", nil},
	{Copilot, "store_memory", `{"fact":"/x","subject":"y"}`, Note, nil, nil, "", nil},
	{Copilot, "exit_plan_mode", `{"summary":"/x"}`, Note, nil, nil, "", nil},
	{Copilot, "fetch_copilot_cli_documentation", `{}`, Note, nil, nil, "", nil},
	{Copilot, "ask_user", `{"question":"/x","choices":["/y"]}`, Question, nil, nil, "", nil},

	{Qwen, "run_shell_command", `{"command":"ls /x","description":"in /host","directory":"/host","is_background":false}`, Shell, list("ls /x"), nil, "/host", nil},
	{Qwen, "monitor", `{"command":"tail -f x","description":"/x"}`, Shell, list("tail -f x"), nil, "", nil},
	{Qwen, "write_file", `{"file_path":"/w/a","content":"/host/secret"}`, Write, nil, list(w("/w/a")), "", nil},
	{Qwen, "edit", `{"file_path":"/w/a","old_string":"/host","new_string":"~/x"}`, Edit, nil, list(w("/w/a")), "", nil},
	{Qwen, "notebook_edit", `{"notebook_path":"/w/n.ipynb","new_source":"open('/host')","cell_id":"a"}`, Notebook, nil, list(w("/w/n.ipynb")), "", nil},
	{Qwen, "read_file", `{"file_path":"/host/a","offset":1}`, Read, nil, list(r("/host/a")), "", nil},
	{Qwen, "zoom_image", `{"file_path":"/host/a.png"}`, Read, nil, list(r("/host/a.png")), "", nil},
	{Qwen, "list_directory", `{"path":"/host","ignore":["/x"]}`, Search, nil, list(r("/host")), "", nil},
	{Qwen, "glob", `{"pattern":"/host/*"}`, Search, nil, list(r("/host"), r(".")), "", nil},
	{Qwen, "grep_search", `{"pattern":"/x","path":"/host","glob":"*.go"}`, Search, nil, list(r("/host")), "", nil},
	{Qwen, "lsp", `{"filePath":"/host/a","query":"/x"}`, Search, nil, list(r("/host/a")), "", nil},
	{Qwen, "web_fetch", `{"url":"https://x","prompt":"/x"}`, Fetch, nil, nil, "", nil},
	{Qwen, "web_search", `{"query":"/x"}`, Fetch, nil, nil, "", []Danger{Remote}},
	{Qwen, "agent", `{"prompt":"/host","description":"d","subagent_type":"x"}`, Agent, nil, nil, "", nil},
	{Qwen, "workflow", `{"script_path":"/host/w.js","script":"x"}`, Agent, nil, list(r("/host/w.js")), "", nil},
	{Qwen, "create_sub_session", `{"prompt":"/host","description":"d"}`, Agent, nil, nil, "", nil},
	{Qwen, "skill", `{"skill":"x","args":"/y"}`, Skill, nil, nil, "", nil},
	{Qwen, "enter_worktree", `{"name":"x"}`, Worktree, nil, nil, "", nil},
	{Qwen, "exit_worktree", `{"action":"keep"}`, Worktree, nil, nil, "", nil},
	{Qwen, "save_memory", `{"fact":"/x"}`, Write, nil, list(w("~/.qwen/QWEN.md")), "", nil},
	{Qwen, "cron_create", `{"prompt":"/x"}`, Schedule, nil, nil, "", list(Later)},
	{Qwen, "loop_wakeup", `{"prompt":"/x","reason":"y"}`, Schedule, nil, nil, "", list(Later)},
	{Qwen, "send_message", `{"to":"a","message":"touch /x"}`, Message, nil, nil, "", list(Elsewhere)},
	{Qwen, "ask_user_question", `{"questions":[{"question":"/x"}]}`, Question, nil, nil, "", nil},
	{Qwen, "tool_search", `{"query":"/x"}`, Note, nil, nil, "", nil},
	{Qwen, "todo_write", `{"todos":[{"content":"/x"}]}`, Note, nil, nil, "", nil},
	{Qwen, "task_create", `{"subject":"/x"}`, Note, nil, nil, "", nil},
	{Qwen, "task_update", `{"description":"/x"}`, Note, nil, nil, "", nil},
	{Qwen, "task_list", `{}`, Note, nil, nil, "", nil},
	{Qwen, "task_stop", `{"task_id":"1"}`, Note, nil, nil, "", nil},
	{Qwen, "list_agents", `{}`, Note, nil, nil, "", nil},
	{Qwen, "cron_list", `{}`, Note, nil, nil, "", nil},
	{Qwen, "cron_delete", `{"id":"1"}`, Note, nil, nil, "", nil},
	{Qwen, "get_goal", `{}`, Note, nil, nil, "", nil},
	{Qwen, "update_goal", `{"status":"done","summary":"/x"}`, Note, nil, nil, "", nil},
	{Qwen, "propose_goal", `{"objective":"/x"}`, Note, nil, nil, "", nil},
	{Qwen, "report_findings", `{"findings":[{"file":"/x"}]}`, Note, nil, nil, "", nil},
	{Qwen, "enter_plan_mode", `{}`, Note, nil, nil, "", nil},
	{Qwen, "exit_plan_mode", `{"plan":"/x"}`, Note, nil, nil, "", nil},
	{Qwen, "structured_output", `{}`, Note, nil, nil, "", nil},

	{Pi, "bash", `{"command":"ls /x","timeout":3}`, Shell, list("ls /x"), nil, "", nil},
	{Pi, "read", `{"path":"/host/a","offset":1}`, Read, nil, list(r("/host/a")), "", nil},
	{Pi, "write", `{"path":"a","content":"/host/secret"}`, Write, nil, list(w("a")), "", nil},
	{Pi, "edit", `{"path":"a","edits":[{"oldText":"/host","newText":"~/x"}]}`, Edit, nil, list(w("a")), "", nil},
	{Pi, "grep", `{"pattern":"/x","path":"/host","glob":"*.go"}`, Search, nil, list(r("/host")), "", nil},
	{Pi, "find", `{"pattern":"/host/*"}`, Search, nil, list(r("/host"), r(".")), "", nil},
	{Pi, "ls", `{"path":"/host"}`, Search, nil, list(r("/host")), "", nil},
}

func TestTools(t *testing.T) {
	for _, row := range rows {
		got, err := of(row.client).Decode(saidOf(row.client, row.tool, row.input))
		if err != nil {
			t.Errorf("%s %s %s: %v", row.client, row.tool, row.input, err)
			continue
		}
		want := Request{
			Client: row.client, Event: PreTool, Word: got.Word, Session: "s1", Call: "c1", Cwd: "/w",
			Tool: row.tool, Kind: row.kind, Commands: row.commands, Paths: row.paths, Dir: row.dir, Dangers: row.dangers, Input: []byte(row.input),
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s %s\ngot  %+v\nwant %+v", row.client, row.tool, row.input, got, want)
		}
	}
}

// TestToolsAreTested keeps a row from being added without a call in the test.
func TestToolsAreTested(t *testing.T) {
	for _, n := range clients.Names() {
		seen := make(map[string]bool)
		for _, tool := range of(n).Tools {
			if seen[tool.Name] {
				t.Errorf("%s has two rows for %s", n, tool.Name)
			}
			seen[tool.Name] = true
			if !slices.ContainsFunc(rows, func(r row) bool { return r.client == n && r.tool == tool.Name }) {
				t.Errorf("no call of %s %s is tested", n, tool.Name)
			}
		}
	}
}
