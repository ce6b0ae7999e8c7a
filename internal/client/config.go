package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Wiring is what a client's configuration is made of.
type Wiring struct {
	Client Name
	Binary string   // cordon, by an absolute path
	Lease  string   // the file of the lease
	Guard  []string // what a hook runs, if it is not just cordon hook --client … --lease …
	Extra  Hooks    // the operator's
	Label  string   // for Gemini: the name of the hook, which must not be guessed
	Plugin string   // for OpenCode: where the text of Plugin will be
	Shell  []string // for OpenCode: variables of the commands that it runs
}

// patience is how many seconds a client waits. The guard gives up long before.
const patience = 10

// argv is how a client starts the guard.
func (w Wiring) argv() []string {
	if len(w.Guard) > 0 {
		return w.Guard
	}
	return []string{w.Binary, "hook", "--client", string(w.Client), "--lease", w.Lease}
}

// own are cordon's hooks: every tool call, and the start of a session, which
// shows that the hooks are alive before the first call.
func (w Wiring) own() Hooks {
	program, args := w.argv()[0], w.argv()[1:]
	h := []Handler{{Type: "command", Command: program, Args: &args, Timeout: patience, OnFailure: "block"}}
	return Hooks{{"PreToolUse", "*", h}, {"SessionStart", "*", h}}
}

// Config renders cordon's hooks and the operator's in the form that the client
// reads: Claude and Gemini settings, one value of -c on each line for Codex, a
// hooks.json for Copilot, and for OpenCode the content of a configuration that
// loads Plugin.
func Config(w Wiring) ([]byte, error) {
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client, err)
	}
	merged := Merge(w.own(), w.Extra)
	var b []byte
	var err error
	switch w.Client {
	case Claude:
		b, err = claudeConfig(merged)
	case Codex:
		b, err = codexConfig(merged)
	case Gemini:
		b, err = geminiConfig(merged, w.Label)
	case Copilot:
		b, err = copilotConfig(merged)
	case OpenCode:
		b, err = openCodeConfig(w)
	}
	if err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client, err)
	}
	return b, nil
}

func (w Wiring) check() error {
	if _, err := Parse(string(w.Client)); err != nil {
		return err
	}
	paths := []string{w.Binary, w.Lease}
	if len(w.Guard) > 0 {
		paths = w.Guard[:1]
	}
	for _, p := range paths {
		if !path.IsAbs(p) || strings.ContainsAny(p, "\x00\n\r\u2028\u2029") {
			return fmt.Errorf("%q is not an absolute path", p)
		}
	}
	switch {
	case w.Client == Gemini && (len(w.Label) < 16 || strings.ContainsFunc(w.Label, notInNames)):
		return errors.New("the name of the hook must have sixteen letters and digits or more, so that nobody guesses it")
	case w.Client == OpenCode && !path.IsAbs(w.Plugin):
		return fmt.Errorf("%q is not an absolute path of a plugin", w.Plugin)
	}
	return nil
}

// shellText is a handler for a client that only knows commands of a shell.
func (h Handler) shellText() (string, error) {
	switch {
	case h.Type != "command":
		return "", fmt.Errorf("it runs commands, and no handler of the type %q", h.Type)
	case h.If != "" || h.Shell != "" || h.Once || h.Async || h.AsyncRewake:
		return "", errors.New(`it does not know "if", "shell", "once" and "async"`)
	}
	text := h.Command
	if h.Args != nil {
		text = spelled(append([]string{h.Command}, *h.Args...))
	}
	if h.OnFailure == "block" {
		text = blocking(text, h.Args != nil, h.seconds())
	}
	return text, nil
}

// blocking makes a refusal of everything but success: a program that is missing,
// was killed, failed or does not answer ends with another code than 2, or is given
// up by the client, and both let the call through. So a second process kills it
// when its time is over, before the client would. Codex runs a command in the
// operator's own shell, which may not be a POSIX one. The shell must not die itself
// of having nobody to tell; what it runs may. Gemini replaces the variables that it
// knows itself in a command, so those here have names that no environment has.
func blocking(text string, simple bool, seconds int) string {
	if simple {
		text = "exec " + text // what is killed is the program itself
	} else {
		text += "\n" // it may end in a comment
	}
	return "/bin/sh -c " + quote(`trap '' PIPE; { ( trap - PIPE; `+text+` ) <&3 3<&- & } 3<&0; cordon_hook=$!; `+
		`( exec </dev/null >/dev/null 2>&1; trap 'kill $!; exit' TERM; sleep `+strconv.Itoa(seconds)+` & wait $!; kill -9 $cordon_hook ) & cordon_watch=$!; `+
		`wait $cordon_hook || { [ $? -eq 2 ] || echo "BLOCKED: the hook that judges this call failed." >&2; kill $cordon_watch 2>/dev/null; exit 2; }; `+
		`kill $cordon_watch 2>/dev/null; exit 0`)
}

// grace is how many seconds more a client gets than the hook: it must not be the
// first to give up.
const grace = 3

// limit is how many seconds a client waits for a handler.
func (h Handler) limit() int {
	if h.OnFailure == "block" {
		return h.seconds() + grace
	}
	return h.seconds()
}

func (h Handler) seconds() int {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return 60
}

// translated is the word of a client for the event of an entry. An event that it
// does not have is an error: nothing of what the operator wants is lost in silence.
func (e Entry) translated(n Name) (string, error) {
	row, ok := e.row()
	if !ok || row.word(n) == "" {
		return "", fmt.Errorf("it has no event %s", e.Event)
	}
	return row.word(n), nil
}

// object is JSON whose members keep their order.
type object []struct {
	key   string
	value any
}

func (o *object) set(key string, v any) {
	*o = append(*o, struct {
		key   string
		value any
	}{key, v})
}

// add appends to the list under a key.
func (o *object) add(key string, v any) {
	for i, m := range *o {
		if list, ok := m.value.([]any); ok && m.key == key {
			(*o)[i].value = append(list, v)
			return
		}
	}
	o.set(key, []any{v})
}

// MarshalJSON writes the members in the order in which they were set.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := compact(m.key)
		if err != nil {
			return nil, err
		}
		v, err := compact(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// compact is JSON on one line, without the escapes meant for web pages.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
