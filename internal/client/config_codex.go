package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// codexConfig is one value for -c on each line. Codex does not run a hook that
// nobody has trusted, and says nothing about it: the hash of each handler is
// passed along. The two features cannot be switched off by a project then: hooks
// at all, and that nothing can type into a process that runs already.
func codexConfig(hooks Hooks) ([]byte, error) {
	lines := []string{"features.hooks=true", "features.unified_exec_tty=false"}
	var words []string
	groups := make(map[string][]string)
	var trusted []string
	for _, e := range hooks {
		word, err := e.translated(Codex)
		if err != nil {
			return nil, err
		}
		if len(groups[word]) == 0 {
			words = append(words, word)
		}
		group, hashes, err := codexGroup(e, word, len(groups[word]))
		if err != nil {
			return nil, err
		}
		groups[word] = append(groups[word], group)
		trusted = append(trusted, hashes...)
	}
	for _, word := range words {
		lines = append(lines, "hooks."+word+"=["+strings.Join(groups[word], ",")+"]")
	}
	lines = append(lines, "hooks.state={"+strings.Join(trusted, ",")+"}")
	return []byte(strings.Join(lines, "\n") + "\n"), nil
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
		handlers = append(handlers, "{type=\"command\",command="+tomlString(text)+",timeout="+strconv.Itoa(h.seconds())+"}")
		hash, err := codexHash(word, matcher, text, h.seconds())
		if err != nil {
			return "", nil, err
		}
		key := fmt.Sprintf("/<session-flags>/config.toml:%s:%d:%d", snake(word), number, i)
		trusted = append(trusted, tomlString(key)+"={trusted_hash="+tomlString(hash)+"}")
	}
	group := "hooks=[" + strings.Join(handlers, ",") + "]}"
	if matcher == "" {
		return "{" + group, trusted, nil
	}
	return "{matcher=" + tomlString(matcher) + "," + group, trusted, nil
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

// tomlString is a basic string of TOML, on one line.
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
