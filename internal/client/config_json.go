package client

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// claudeConfig is for --settings, on the command line: Claude ignores a file that
// is broken, and stops at broken JSON in its arguments. A project cannot switch
// off what stands here; EnterWorktree would make a worktree in the host's checkout.
func claudeConfig(hooks Hooks) ([]byte, error) {
	var rendered object
	for _, e := range hooks {
		matcher := e.Matcher
		if all(matcher) {
			matcher = "*"
		}
		if _, err := e.pattern(Claude); err != nil {
			return nil, err
		}
		rendered.add(e.Event, object{{"matcher", matcher}, {"hooks", e.Handlers}})
	}
	return compact(object{
		{"disableAllHooks", false},
		{"disableSkillShellExecution", true},
		{"permissions", object{{"deny", []string{"EnterWorktree"}}}},
		{"hooks", rendered},
	})
}

// geminiConfig is for the system settings. Every hook has a name that cannot be
// guessed: a project may list the names of hooks that are not to run.
func geminiConfig(hooks Hooks, label string) ([]byte, error) {
	var rendered object
	number := 0
	for _, e := range hooks {
		word, err := e.translated(Gemini)
		if err != nil {
			return nil, err
		}
		matcher, err := e.pattern(Gemini)
		if err != nil {
			return nil, err
		}
		if !all(matcher) && !e.ofTools() {
			return nil, fmt.Errorf("it compares what an event %s is about with a matcher letter by letter, and %q is more than that", word, e.Matcher)
		}
		var handlers []any
		for _, h := range e.Handlers {
			text, err := h.shellText()
			if err != nil {
				return nil, err
			}
			number++
			handlers = append(handlers, object{
				{"type", "command"}, {"command", text}, {"name", label + "-" + strconv.Itoa(number)}, {"timeout", 1000 * h.limit()},
			})
		}
		rendered.add(word, object{{"matcher", matcher}, {"hooks", handlers}})
	}
	return compact(object{{"hooksConfig", object{{"enabled", true}}}, {"hooks", rendered}})
}

// copilotConfig is the hooks.json of a plugin. Its hooks see every tool.
func copilotConfig(hooks Hooks) ([]byte, error) {
	var rendered object
	for _, e := range hooks {
		word, err := e.translated(Copilot)
		if err != nil {
			return nil, err
		}
		if !all(e.Matcher) {
			return nil, fmt.Errorf("it runs a hook for every tool, and not for those that match %q", e.Matcher)
		}
		for _, h := range e.Handlers {
			text, err := h.shellText()
			if err != nil {
				return nil, err
			}
			rendered.add(word, object{{"type", "command"}, {"bash", text}, {"timeoutSec", h.limit()}})
		}
	}
	return compact(object{{"version", 1}, {"hooks", rendered}})
}

// openCodeConfig is for OPENCODE_CONFIG_CONTENT. The hooks themselves are in the
// plugin, and what is wrong with them has to be said here.
func openCodeConfig(w Wiring) ([]byte, error) {
	if _, err := w.guards(); err != nil {
		return nil, err
	}
	if w.Plugin == "" {
		return nil, errors.New("it has no place for its plugin")
	}
	file := url.URL{Scheme: "file", Path: w.Plugin}
	return compact(object{{"plugin", []string{file.String()}}})
}
