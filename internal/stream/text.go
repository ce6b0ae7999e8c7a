package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"cordon/internal/legible"
)

// Decode reads a line into the members that are wanted of it. One that has another
// type than it had in the streams that were seen is left out; the rest counts.
func Decode(b []byte, into any) bool {
	var other *json.UnmarshalTypeError
	err := json.Unmarshal(b, into)
	return err == nil || errors.As(err, &other)
}

// OneLine is a text in one line of at most so many characters.
func OneLine(s string, room int) string {
	s = legible.PlainLine(cut(s, 8*room))
	if utf8.RuneCountInString(s) <= room {
		return s
	}
	return string([]rune(s)[:room-1]) + "…"
}

// firstLine is the first line of a text that says anything, in so many characters.
func firstLine(s string, room int) string {
	for l := range strings.Lines(cut(s, MaxText)) {
		if l = OneLine(l, room); l != "" {
			return l
		}
	}
	return ""
}

// cut shortens a text to so many bytes, at the edge of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tellingKeys are the members of an input that say best what a call is about, the
// best first.
var tellingKeys = []string{
	"command", "cmd", "file_path", "filePath", "notebook_path", "path", "dir_path", "pattern", "query", "url",
	"prompt", "message", "skill", "name", "description",
}

// InputLine is the input of a call in a line.
func InputLine(raw json.RawMessage) string {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil || len(o) == 0 {
		return ""
	}
	for _, key := range tellingKeys {
		var text string
		if json.Unmarshal(o[key], &text) == nil && text != "" {
			return OneLine(text, MaxInput)
		}
	}
	return OneLine(string(raw), MaxInput)
}

// Words are the texts of a content: a string, or a list of parts that have a text.
func Words(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if !Decode(raw, &parts) {
		return ""
	}
	var list []string
	for _, p := range parts {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

// Reason is what an error says. Clients pass on the answer of the model's provider,
// which is JSON with the words inside.
func Reason(text string) string {
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return text
	}
	var o struct {
		Message string
		Error   struct{ Message string }
	}
	d := json.NewDecoder(strings.NewReader(text[at:]))
	if d.Decode(&o) != nil {
		return text
	}
	return Or(o.Error.Message, Or(o.Message, text))
}

// thousands writes a number for a person.
func thousands(n int) string {
	s := fmt.Sprint(max(n, 0))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
