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
	Client *Dialect
	Binary string   // cordon, by an absolute path
	Lease  string   // the file of the lease
	Guard  []string // what a hook runs, if it is not just cordon hook --client … --lease …
	Extra  Hooks    // the operator's
	Label  string   // the name of the hook, where one can be named: it must not be guessed
	Plugin string   // where the text of Dialect.Plugin will be, where the client has one
	Shell  []string // for such a client: variables of the commands that it runs
}

// Patience is how many seconds a client waits. The guard gives up long before.
const Patience = 10

// Argv is how a client starts the guard.
func (w Wiring) Argv() []string {
	if len(w.Guard) > 0 {
		return w.Guard
	}
	return []string{w.Binary, "hook", "--client", string(w.Client.Name), "--lease", w.Lease}
}

// own are cordon's hooks: every tool call, and the start of a session, which
// shows that the hooks are alive before the first call.
func (w Wiring) own() Hooks {
	program, args := w.Argv()[0], w.Argv()[1:]
	h := []Handler{{Type: "command", Command: program, Args: &args, Timeout: Patience, OnFailure: "block"}}
	return Hooks{{"PreToolUse", "*", h}, {"SessionStart", "*", h}}
}

// Config renders cordon's hooks and the operator's in the form that the client
// reads.
func Config(w Wiring) ([]byte, error) {
	if w.Client == nil {
		return nil, errors.New("hooks are for a client, and none is named")
	}
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client.Name, err)
	}
	b, err := w.Client.Config(w, w.Hooks())
	if err != nil {
		return nil, fmt.Errorf("the hooks of %s: %w", w.Client.Name, err)
	}
	return b, nil
}

// Hooks are cordon's, and then the operator's.
func (w Wiring) Hooks() Hooks { return Merge(w.own(), w.Extra) }

// Check refuses a wiring that would not hold.
func (w Wiring) Check() error {
	paths := []string{w.Binary, w.Lease}
	if len(w.Guard) > 0 {
		paths = w.Guard[:1]
	}
	for _, p := range paths {
		if !path.IsAbs(p) || strings.ContainsAny(p, "\x00\n\r\u2028\u2029") {
			return fmt.Errorf("%q is not an absolute path", p)
		}
	}
	if w.Client.Check != nil {
		return w.Client.Check(w)
	}
	return nil
}

// Unguessed reports whether a name has letters and digits enough that nobody guesses it.
func Unguessed(name string) bool { return len(name) >= 16 && !strings.ContainsFunc(name, notInNames) }

// ShellText is a handler for a client that only knows commands of a shell.
func (h Handler) ShellText() (string, error) {
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
// when its time is over, before the client would. Some clients run a command in the
// operator's own shell, which may not be a POSIX one. The shell must not die itself
// of having nobody to tell; what it runs may. Some clients replace variables that they
// know in a command, so those here have names that no environment has.
func blocking(text string, simple bool, seconds int) string {
	if simple {
		text = "exec " + text // what is killed is the program itself
	} else {
		text += "\n" // it may end in a comment
	}
	return "/bin/sh -c " + Quote(`trap '' PIPE; { ( trap - PIPE; `+text+` ) <&3 3<&- & } 3<&0; cordon_hook=$!; `+
		`( exec </dev/null >/dev/null 2>&1; trap 'kill $!; exit' TERM; sleep `+strconv.Itoa(seconds)+` & wait $!; kill -9 $cordon_hook ) & cordon_watch=$!; `+
		`wait $cordon_hook || { [ $? -eq 2 ] || echo "BLOCKED: the hook that judges this call failed." >&2; kill $cordon_watch 2>/dev/null; exit 2; }; `+
		`kill $cordon_watch 2>/dev/null; exit 0`)
}

// grace is how many seconds more a client gets than the hook: it must not be the
// first to give up.
const grace = 3

// Limit is how many seconds a client waits for a handler.
func (h Handler) Limit() int {
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

// Word is the word of a client for the event of an entry. An event that it
// does not have is an error: nothing of what the operator wants is lost in silence.
func (e Entry) Word(d *Dialect) (string, error) {
	word := d.word(e.Event)
	if word == "" {
		return "", fmt.Errorf("it has no event %s", e.Event)
	}
	return word, nil
}

// Object is JSON whose members, a name and a value each, keep their order.
type Object [][2]any

// Set appends a member.
func (o *Object) Set(key string, v any) { *o = append(*o, [2]any{key, v}) }

// Add appends to the list under a key.
func (o *Object) Add(key string, v any) {
	for i, m := range *o {
		if list, ok := m[1].([]any); ok && m[0] == key {
			(*o)[i][1] = append(list, v)
			return
		}
	}
	o.Set(key, []any{v})
}

// MarshalJSON writes the members in the order in which they were set.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := Compact(m[0])
		if err != nil {
			return nil, err
		}
		v, err := Compact(m[1])
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

// Compact is JSON on one line, without the escapes meant for web pages.
func Compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
