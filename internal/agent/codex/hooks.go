package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/client"
)

// features cannot be switched by a project: hooks at all, that nothing can type
// into a process that runs already, and that no tool runs code which calls the others
// without a hook.
var features = []string{"hooks=true", "unified_exec_tty=false", "code_mode=false", "code_mode_only=false"}

// flags is one value for -c on each line. Codex does not run a hook that
// nobody has trusted, and says nothing about it: the hash of each handler is
// passed along.
func flags(w client.Wiring, hooks client.Hooks) ([]byte, error) {
	var lines []string
	for _, f := range features {
		lines = append(lines, "features."+f)
	}
	list, trusted, err := events(w.Client, hooks)
	if err != nil {
		return nil, err
	}
	for _, event := range list {
		lines = append(lines, "hooks."+event)
	}
	lines = append(lines, "hooks.state={"+strings.Join(trusted, ",")+"}")
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// Requirements renders cordon's hooks and the operator's as the requirements of a
// machine, which no flag and no other file overrules: they need no trust,
// and hooks from anywhere else do not run.
func Requirements(w client.Wiring) ([]byte, error) {
	if w.Client.Name != dialect.Name {
		return nil, fmt.Errorf("%s knows no requirements", w.Client.Name)
	}
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client.Name, err)
	}
	list, _, err := events(w.Client, w.Hooks())
	if err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client.Name, err)
	}
	lines := slices.Concat([]string{"allow_managed_hooks_only=true", "[features]"}, features, []string{"[hooks]"}, list)
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// events renders each event with its hooks, and the trust in them.
func events(d *client.Dialect, hooks client.Hooks) (list, trusted []string, err error) {
	var words []string
	groups := make(map[string][]string)
	for _, e := range hooks {
		word, err := e.Word(d)
		if err != nil {
			return nil, nil, err
		}
		if len(groups[word]) == 0 {
			words = append(words, word)
		}
		text, hashes, err := group(d, e, word, len(groups[word]))
		if err != nil {
			return nil, nil, err
		}
		groups[word] = append(groups[word], text)
		trusted = append(trusted, hashes...)
	}
	for _, word := range words {
		list = append(list, word+"=["+strings.Join(groups[word], ",")+"]")
	}
	return list, trusted, nil
}

// group renders an entry, and the trust in each of its handlers.
func group(d *client.Dialect, e client.Entry, word string, number int) (string, []string, error) {
	matcher, err := matcherOf(d, e, word)
	if err != nil {
		return "", nil, err
	}
	var handlers, trusted []string
	for i, h := range e.Handlers {
		text, err := h.ShellText()
		if err != nil {
			return "", nil, err
		}
		handlers = append(handlers, "{type=\"command\",command="+tomlString(text)+",timeout="+strconv.Itoa(h.Limit())+"}")
		hash, err := hashOf(word, matcher, text, h.Limit())
		if err != nil {
			return "", nil, err
		}
		key := fmt.Sprintf("/<session-flags>/config.toml:%s:%d:%d", snake(word), number, i)
		trusted = append(trusted, tomlString(key)+"={trusted_hash="+tomlString(hash)+"}")
	}
	rest := "hooks=[" + strings.Join(handlers, ",") + "]}"
	if matcher == "" {
		return "{" + rest, trusted, nil
	}
	return "{matcher=" + tomlString(matcher) + "," + rest, trusted, nil
}

// matcherOf is the matcher of an entry: an expression, or nothing for events
// that need none. On some of them it would not be a part of what is hashed.
func matcherOf(d *client.Dialect, e client.Entry, word string) (string, error) {
	switch word {
	case "PreToolUse", "PostToolUse", "PermissionRequest":
		return e.Pattern(d)
	}
	if !client.MatchesAll(e.Matcher) {
		return "", fmt.Errorf("it matches nothing on the event %s", e.Event)
	}
	return "", nil
}

// hashOf is what Codex compares to know a handler that was trusted: the sum of
// its canonical JSON, the keys sorted.
func hashOf(word, matcher, command string, timeout int) (string, error) {
	identity := client.Object{
		{"event_name", snake(word)},
		{"hooks", []client.Object{{{"async", false}, {"command", command}, {"timeout", timeout}, {"type", "command"}}}},
	}
	if matcher != "" {
		identity.Set("matcher", matcher)
	}
	b, err := client.Compact(identity)
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

// tomlString is text as a basic string of TOML, on one line.
func tomlString(s string) string {
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
