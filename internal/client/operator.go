package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ParseHooks reads the operator's hooks: {"hooks": {"PreToolUse": [{"matcher":
// "…", "hooks": [{"type": "command", …}]}]}}, as in the settings of Claude Code. That
// client drops an entry that it does not understand without a word; here that is an error.
func ParseHooks(data []byte) (Hooks, error) {
	v, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	hooks, ok := v.get("hooks")
	if !ok || hooks.is != isObject || len(v.members) != 1 {
		return nil, errors.New(`hooks: the file must hold an object with just "hooks", an object`)
	}
	var list Hooks
	for _, m := range hooks.members {
		if _, known := hookEvent(m.key); !known {
			return nil, fmt.Errorf("hooks: no event %.60q is known", m.key)
		}
		if m.is != isList {
			return nil, fmt.Errorf("hooks: %s is not a list", m.key)
		}
		for i, item := range m.list {
			e, err := parseEntry(m.key, item, data)
			if err != nil {
				return nil, fmt.Errorf("hooks: %s, entry %d: %w", m.key, i+1, err)
			}
			list = append(list, e)
		}
	}
	return list, nil
}

func parseEntry(event string, v value, data []byte) (Entry, error) {
	e := Entry{Event: event}
	if v.is != isObject {
		return e, errors.New("it is not an object")
	}
	if err := onlyKeys(v, "matcher", "hooks"); err != nil {
		return e, err
	}
	var err error
	if e.Matcher, err = v.string("matcher"); err != nil {
		return e, err
	}
	if _, err := readMatcher(e.Matcher); err != nil {
		return e, err
	}
	handlers, _ := v.get("hooks")
	if handlers.is != isList || len(handlers.list) == 0 {
		return e, errors.New(`"hooks" is not a list of handlers`)
	}
	for i, item := range handlers.list {
		h, err := parseHandler(item, data)
		if err != nil {
			return e, fmt.Errorf("handler %d: %w", i+1, err)
		}
		e.Handlers = append(e.Handlers, h)
	}
	return e, nil
}

// handlerKeys are what a handler of each type must have, and what it may.
var handlerKeys = []struct {
	kind      string
	must, may []string
}{
	{"command", []string{"command"}, []string{"args", "if", "shell", "timeout", "onFailure", "statusMessage", "once", "async", "asyncRewake"}},
	{"http", []string{"url"}, []string{"headers", "allowedEnvVars", "if", "timeout", "onFailure", "statusMessage", "once"}},
	{"mcp_tool", []string{"server", "tool"}, []string{"input", "if", "timeout", "statusMessage", "once"}},
	{"prompt", []string{"prompt"}, []string{"model", "continueOnBlock", "if", "timeout", "statusMessage", "once"}},
	{"agent", []string{"prompt"}, []string{"model", "if", "timeout", "statusMessage", "once"}},
}

func parseHandler(v value, data []byte) (Handler, error) {
	var h Handler
	if v.is != isObject {
		return h, errors.New("it is not an object")
	}
	kind, err := v.string("type")
	if err != nil {
		return h, err
	}
	i := slices.IndexFunc(handlerKeys, func(k struct {
		kind      string
		must, may []string
	}) bool {
		return k.kind == kind
	})
	if i < 0 {
		return h, fmt.Errorf("no type %.60q is known", kind)
	}
	keys := handlerKeys[i]
	if err := onlyKeys(v, slices.Concat([]string{"type"}, keys.must, keys.may)...); err != nil {
		return h, err
	}
	for _, key := range keys.must {
		if s, err := v.string(key); err != nil || strings.TrimSpace(s) == "" {
			return h, fmt.Errorf("%q is missing", key)
		}
	}
	if err := json.Unmarshal(data[v.from:v.to], &h); err != nil { // its keys are known, and each is there once
		return h, err
	}
	return h, h.check()
}

func (h Handler) check() error {
	switch {
	case h.Timeout < 0 || h.Timeout > 3600:
		return fmt.Errorf("a timeout of %d seconds", h.Timeout)
	case h.OnFailure != "" && h.OnFailure != "block":
		return fmt.Errorf(`onFailure is %.60q, and not "block"`, h.OnFailure)
	case strings.ContainsAny(h.Command, "\x00\u2028\u2029"):
		return errors.New("the command has characters that no shell reads")
	}
	return nil
}

func onlyKeys(v value, known ...string) error {
	for _, m := range v.members {
		if !slices.Contains(known, m.key) {
			return fmt.Errorf("%.60q is not known", m.key)
		}
	}
	return nil
}
