package view

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Text is a text that may not be UTF-8, such as the name of a file. In JSON it is a
// string if it is UTF-8, and {"base64": …} if it is not: an encoder that replaces bytes
// would make two names one.
type Text string

// Bytes is the JSON form of a text that is not UTF-8.
type Bytes struct {
	Base64 []byte `json:"base64" doc:"The bytes of a text that is not UTF-8."`
}

// MarshalJSON keeps every byte.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return plain(string(t))
	}
	return plain(Bytes{[]byte(t)})
}

// plain encodes without the escapes that are meant for HTML.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads either form.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = Text(s)
		return nil
	}
	var raw Bytes
	err := json.Unmarshal(b, &raw)
	*t = Text(raw.Base64)
	return err
}
