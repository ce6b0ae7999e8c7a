package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// codexFeatures cannot be switched by a project: hooks at all, that nothing can type
// into a process that runs already, and that no tool runs code which calls the others
// without a hook.
var codexFeatures = []string{"hooks=true", "unified_exec_tty=false", "code_mode=false", "code_mode_only=false"}

// codexConfig is one value for -c on each line. Codex does not run a hook that
// nobody has trusted, and says nothing about it: the hash of each handler is
// passed along.
func codexConfig(hooks Hooks) ([]byte, error) {
	var lines []string
	for _, f := range codexFeatures {
		lines = append(lines, "features."+f)
	}
	events, trusted, err := codexEvents(hooks)
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		lines = append(lines, "hooks."+event)
	}
	lines = append(lines, "hooks.state={"+strings.Join(trusted, ",")+"}")
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// Requirements renders cordon's hooks and the operator's as the requirements of a
// machine for Codex, which no flag and no other file overrules: they need no trust,
// and hooks from anywhere else do not run.
func Requirements(w Wiring) ([]byte, error) {
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client, err)
	}
	if w.Client != Codex {
		return nil, fmt.Errorf("%s knows no requirements", w.Client)
	}
	events, _, err := codexEvents(Merge(w.own(), w.Extra))
	if err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client, err)
	}
	lines := slices.Concat([]string{"allow_managed_hooks_only=true", "[features]"}, codexFeatures, []string{"[hooks]"}, events)
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// codexEvents renders each event with its hooks, and the trust in them.
func codexEvents(hooks Hooks) (events, trusted []string, err error) {
	var words []string
	groups := make(map[string][]string)
	for _, e := range hooks {
		word, err := e.translated(Codex)
		if err != nil {
			return nil, nil, err
		}
		if len(groups[word]) == 0 {
			words = append(words, word)
		}
		group, hashes, err := codexGroup(e, word, len(groups[word]))
		if err != nil {
			return nil, nil, err
		}
		groups[word] = append(groups[word], group)
		trusted = append(trusted, hashes...)
	}
	for _, word := range words {
		events = append(events, word+"=["+strings.Join(groups[word], ",")+"]")
	}
	return events, trusted, nil
}

// codexGroup renders an entry, and the trust in each of its handlers.
func codexGroup(e Entry, word string, number int) (string, []string, error) {
	matcher, err := codexMatcher(e, word)
	if err != nil {
		return "", nil, err
	}
	var handlers, trusted []string
	for i, h := range e.Handlers {
		text, err := h.shellText()
		if err != nil {
			return "", nil, err
		}
		handlers = append(handlers, "{type=\"command\",command="+TOMLString(text)+",timeout="+strconv.Itoa(h.limit())+"}")
		hash, err := codexHash(word, matcher, text, h.limit())
		if err != nil {
			return "", nil, err
		}
		key := fmt.Sprintf("/<session-flags>/config.toml:%s:%d:%d", snake(word), number, i)
		trusted = append(trusted, TOMLString(key)+"={trusted_hash="+TOMLString(hash)+"}")
	}
	group := "hooks=[" + strings.Join(handlers, ",") + "]}"
	if matcher == "" {
		return "{" + group, trusted, nil
	}
	return "{matcher=" + TOMLString(matcher) + "," + group, trusted, nil
}

// codexMatcher is the matcher of an entry: an expression, or nothing for events
// that need none. On some of them it would not be a part of what is hashed.
func codexMatcher(e Entry, word string) (string, error) {
	switch word {
	case "PreToolUse", "PostToolUse", "PermissionRequest":
		return e.pattern(Codex)
	}
	if !all(e.Matcher) {
		return "", fmt.Errorf("it matches nothing on the event %s", e.Event)
	}
	return "", nil
}

// codexHash is what Codex compares to know a handler that was trusted: the sum of
// its canonical JSON, the keys sorted.
func codexHash(word, matcher, command string, timeout int) (string, error) {
	identity := object{
		{"event_name", snake(word)},
		{"hooks", []object{{{"async", false}, {"command", command}, {"timeout", timeout}, {"type", "command"}}}},
	}
	if matcher != "" {
		identity.set("matcher", matcher)
	}
	b, err := compact(identity)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// snake is PreToolUse as pre_tool_use.
func snake(word string) string {
	var b bytes.Buffer
	for i, r := range word {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TOMLString is text as a basic string of TOML, on one line.
func TOMLString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
