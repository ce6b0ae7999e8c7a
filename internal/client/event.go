package client

import "fmt"

// Event is what a client reports, of what matters to the guard.
type Event string

// The events. Only PreTool carries a tool call that can still be refused.
const (
	PreTool      Event = "pre-tool"
	PostTool     Event = "post-tool"
	Permission   Event = "permission"
	SessionStart Event = "session-start"
	SessionEnd   Event = "session-end"
	Prompt       Event = "prompt"
	Stop         Event = "stop"
	OtherEvent   Event = "other" // known, and of no concern
)

// eventRow is one event in the words of the clients; an empty word means that
// the client does not have it, or that nobody has seen it there.
type eventRow struct {
	event                                    Event
	claude, codex, gemini, copilot, opencode string
}

// events translates between the clients. Claude's word is the one that hooks are
// written in.
var events = []eventRow{
	{PreTool, "PreToolUse", "PreToolUse", "BeforeTool", "preToolUse", "tool.execute.before"},
	{PostTool, "PostToolUse", "PostToolUse", "AfterTool", "postToolUse", "tool.execute.after"},
	{Permission, "PermissionRequest", "PermissionRequest", "", "", "permission.ask"},
	{SessionStart, "SessionStart", "SessionStart", "SessionStart", "sessionStart", "session.start"},
	{SessionEnd, "SessionEnd", "SessionEnd", "SessionEnd", "sessionEnd", ""},
	{Prompt, "UserPromptSubmit", "UserPromptSubmit", "BeforeAgent", "userPromptSubmitted", ""},
	{Stop, "Stop", "Stop", "AfterAgent", "", ""},
	{OtherEvent, "PreCompact", "PreCompact", "PreCompress", "", ""},
	{OtherEvent, "PostCompact", "PostCompact", "", "", ""},
	{OtherEvent, "SubagentStart", "SubagentStart", "", "", ""},
	{OtherEvent, "SubagentStop", "SubagentStop", "", "", ""},
	{OtherEvent, "Notification", "", "Notification", "", ""},
	{OtherEvent, "", "Interrupt", "", "", ""},
	{OtherEvent, "", "", "BeforeModel", "", ""},
	{OtherEvent, "", "", "AfterModel", "", ""},
	{OtherEvent, "", "", "BeforeToolSelection", "", ""},
	{OtherEvent, "PostToolUseFailure", "", "", "", ""},
	{OtherEvent, "PostToolBatch", "", "", "", ""},
	{OtherEvent, "UserPromptExpansion", "", "", "", ""},
	{OtherEvent, "StopFailure", "", "", "", ""},
	{OtherEvent, "PreModelSwitch", "", "", "", ""},
	{OtherEvent, "PostModelSwitch", "", "", "", ""},
	{OtherEvent, "PermissionDenied", "", "", "", ""},
	{OtherEvent, "Setup", "", "", "", ""},
	{OtherEvent, "TeammateIdle", "", "", "", ""},
	{OtherEvent, "TaskCreated", "", "", "", ""},
	{OtherEvent, "TaskCompleted", "", "", "", ""},
	{OtherEvent, "Elicitation", "", "", "", ""},
	{OtherEvent, "ElicitationResult", "", "", "", ""},
	{OtherEvent, "ConfigChange", "", "", "", ""},
	{OtherEvent, "WorktreeCreate", "", "", "", ""},
	{OtherEvent, "WorktreeRemove", "", "", "", ""},
	{OtherEvent, "InstructionsLoaded", "", "", "", ""},
	{OtherEvent, "CwdChanged", "", "", "", ""},
	{OtherEvent, "FileChanged", "", "", "", ""},
	{OtherEvent, "DirectoryAdded", "", "", "", ""},
	{OtherEvent, "MessageDisplay", "", "", "", ""},
}

// word is what a client calls the event.
func (r *eventRow) word(n Name) string {
	switch n {
	case Claude:
		return r.claude
	case Codex:
		return r.codex
	case Gemini:
		return r.gemini
	case Copilot:
		return r.copilot
	case OpenCode:
		return r.opencode
	}
	return ""
}

// eventOf is the event of a client's word. A word that is not known is an error:
// it may be what a newer client calls the one that matters.
func eventOf(n Name, word string) (Event, error) {
	for i := range events {
		if w := events[i].word(n); w != "" && w == word {
			return events[i].event, nil
		}
	}
	return "", fmt.Errorf("%s reports an event %.60q that is not known", n, word)
}

// copilotEvent tells by the parts that are there: this client does not name it.
func copilotEvent(v value) (Event, error) {
	switch {
	case v.has("toolName") && v.has("toolResult"):
		return PostTool, nil
	case v.has("toolName"):
		return PreTool, nil
	case v.has("source") || v.has("initialPrompt"):
		return SessionStart, nil
	case v.has("reason"):
		return SessionEnd, nil
	case v.has("prompt"):
		return Prompt, nil
	}
	return "", fmt.Errorf("copilot reports neither a tool nor an event that is known")
}
