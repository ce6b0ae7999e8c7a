package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// value is JSON that was read strictly. encoding/json fills structures by names
// that differ in case, takes the last of two equal keys and replaces what is not
// text: the client may have understood something else, so none of that is taken.
type value struct {
	is      kindOf
	text    string // of a string; "true" and "false"; the digits of a number
	list    []value
	members []member
	from    int // where it is in the input
	to      int
}

type member struct {
	key string
	value
}

type kindOf byte

const (
	isNull kindOf = iota
	isBool
	isNumber
	isString
	isList
	isObject
)

// get is a member that is there and not null.
func (v value) get(key string) (value, bool) {
	for _, m := range v.members {
		if m.key == key && m.is != isNull {
			return m.value, true
		}
	}
	return value{}, false
}

func (v value) has(key string) bool { _, ok := v.get(key); return ok }

// string is a member that is text; one that is not there is empty.
func (v value) string(key string) (string, error) {
	m, ok := v.get(key)
	if ok && m.is != isString {
		return "", fmt.Errorf("%q is not text", key)
	}
	return m.text, nil
}

// texts are the strings of a list, or the one that the value is.
func (v value) texts() ([]string, bool) {
	if v.is == isString {
		return []string{v.text}, true
	}
	if v.is != isList {
		return nil, false
	}
	texts := make([]string, 0, len(v.list))
	for _, item := range v.list {
		if item.is != isString {
			return nil, false
		}
		texts = append(texts, item.text)
	}
	return texts, true
}

// parse reads one object and nothing after it.
func parse(data []byte) (value, error) {
	switch {
	case len(data) > maxInput:
		return value{}, &SlipError{Err: fmt.Errorf("a call of more than %d bytes is too long to be judged", maxInput)}
	case !utf8.Valid(data):
		return value{}, errors.New("it is not UTF-8")
	case !json.Valid(data):
		return value{}, errors.New("it is not JSON")
	case halfCharacter(data):
		return value{}, errors.New("it has half of a character")
	}
	b := builder{data: data, dec: json.NewDecoder(bytes.NewReader(data)), left: maxNodes}
	b.dec.UseNumber()
	v, err := b.value(0)
	if err == nil && v.is != isObject {
		err = errors.New("it is not an object")
	}
	if err != nil {
		return value{}, err
	}
	return v, nil
}

// halfCharacter looks for an escaped surrogate without its other half. Each
// parser makes something else of it.
func halfCharacter(data []byte) bool {
	for i := 0; i+1 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		i++
		if data[i] != 'u' {
			continue
		}
		switch unit := digits(data, i+1); {
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		case unit >= 0xd800 && unit <= 0xdbff:
			if low := digits(data, i+7); !bytes.HasPrefix(data[i+5:], []byte(`\u`)) || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 6
		}
	}
	return false
}

// digits is the number that four digits at an offset write, or 0.
func digits(data []byte, at int) uint64 {
	if at+4 > len(data) {
		return 0
	}
	n, _ := strconv.ParseUint(string(data[at:at+4]), 16, 32) // not digits: no surrogate
	return n
}

// builder makes values of input that is known to be JSON.
type builder struct {
	data []byte
	dec  *json.Decoder
	left int
}

func (b *builder) value(depth int) (value, error) {
	if b.left--; b.left < 0 {
		return value{}, &SlipError{Err: errors.New("a call of so many parts cannot be judged")}
	}
	if depth > maxDepth {
		return value{}, &SlipError{Err: errors.New("a call that is nested so deeply cannot be judged")}
	}
	from := int(b.dec.InputOffset())
	for from < len(b.data) && bytes.IndexByte([]byte(" \t\r\n,:"), b.data[from]) >= 0 {
		from++
	}
	token, err := b.dec.Token()
	if err != nil {
		return value{}, err
	}
	v := value{from: from}
	switch t := token.(type) {
	case string:
		v.is, v.text = isString, t
	case json.Number:
		v.is, v.text = isNumber, t.String()
	case bool:
		v.is, v.text = isBool, strconv.FormatBool(t)
	case json.Delim:
		if t == '[' {
			v.is = isList
			err = b.list(&v, depth)
		} else {
			v.is = isObject
			err = b.object(&v, depth)
		}
	}
	v.to = int(b.dec.InputOffset())
	return v, err
}

func (b *builder) list(v *value, depth int) error {
	for b.dec.More() {
		item, err := b.value(depth + 1)
		if err != nil {
			return err
		}
		v.list = append(v.list, item)
	}
	_, err := b.dec.Token()
	return err
}

func (b *builder) object(v *value, depth int) error {
	seen := make(map[string]bool)
	for b.dec.More() {
		token, err := b.dec.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok || seen[key] {
			return fmt.Errorf("the key %.60q is there twice", key)
		}
		seen[key] = true
		item, err := b.value(depth + 1)
		if err != nil {
			return err
		}
		v.members = append(v.members, member{key, item})
	}
	_, err := b.dec.Token()
	return err
}
