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

// eventWord is an event in the words that hooks are written in, which are those of
// Claude Code's settings.
type eventWord struct {
	event Event
	word  string
}

var events = []eventWord{
	{PreTool, "PreToolUse"},
	{PostTool, "PostToolUse"},
	{Permission, "PermissionRequest"},
	{SessionStart, "SessionStart"},
	{SessionEnd, "SessionEnd"},
	{Prompt, "UserPromptSubmit"},
	{Stop, "Stop"},
	{OtherEvent, "PreCompact"},
	{OtherEvent, "PostCompact"},
	{OtherEvent, "SubagentStart"},
	{OtherEvent, "SubagentStop"},
	{OtherEvent, "Notification"},
	{OtherEvent, "PostToolUseFailure"},
	{OtherEvent, "PostToolBatch"},
	{OtherEvent, "UserPromptExpansion"},
	{OtherEvent, "StopFailure"},
	{OtherEvent, "PreModelSwitch"},
	{OtherEvent, "PostModelSwitch"},
	{OtherEvent, "PermissionDenied"},
	{OtherEvent, "Setup"},
	{OtherEvent, "TeammateIdle"},
	{OtherEvent, "TaskCreated"},
	{OtherEvent, "TaskCompleted"},
	{OtherEvent, "Elicitation"},
	{OtherEvent, "ElicitationResult"},
	{OtherEvent, "ConfigChange"},
	{OtherEvent, "WorktreeCreate"},
	{OtherEvent, "WorktreeRemove"},
	{OtherEvent, "InstructionsLoaded"},
	{OtherEvent, "CwdChanged"},
	{OtherEvent, "FileChanged"},
	{OtherEvent, "DirectoryAdded"},
	{OtherEvent, "MessageDisplay"},
}

// hookEvent is the event of a word that hooks are written in.
func hookEvent(word string) (Event, bool) {
	for _, e := range events {
		if e.word == word {
			return e.event, true
		}
	}
	return "", false
}

// word is what a client calls the event that hooks call so; "" if it does not have it.
func (d *Dialect) word(hook string) string {
	if d.Native {
		if _, known := hookEvent(hook); known {
			return hook
		}
		return ""
	}
	for _, e := range d.Events {
		if e[0] == hook && hook != "" {
			return e[1]
		}
	}
	return ""
}

// wordOf is what a client calls an event.
func (d *Dialect) wordOf(event Event) string {
	for _, e := range events {
		if e.event == event {
			return d.word(e.word)
		}
	}
	return ""
}

// eventOf is the event of a client's word. A word that is not known is an error:
// it may be what a newer client calls the one that matters.
func (d *Dialect) eventOf(word string) (Event, error) {
	if d.Native {
		if e, known := hookEvent(word); known {
			return e, nil
		}
	}
	for _, e := range d.Events {
		if e[1] != word {
			continue
		}
		if event, known := hookEvent(e[0]); known {
			return event, nil
		}
		return OtherEvent, nil
	}
	return "", fmt.Errorf("%s reports an event %.60q that is not known", d.Name, word)
}
