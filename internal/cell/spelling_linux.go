package cell

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// JSON has no place for a string that is not text. A visitor's request with one travels
// spelled: every byte of every string as the character of that number. encoding/gob would
// do without this, but sets itself up whenever the program starts, and a hook
// starts it for every tool call of an agent.

// spelled is a copy of a request that is all text.
func spelled(request any) (any, error) {
	v, err := respelled(reflect.ValueOf(request), spell)
	if err != nil {
		return nil, err
	}
	return v.Interface(), nil
}

// unspell turns a request that travelled spelled into what it was.
func unspell(into any) error {
	at := reflect.ValueOf(into).Elem()
	v, err := respelled(at, despell)
	if err == nil {
		at.Set(v)
	}
	return err
}

func spell(s string) (string, error) {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String(), nil
}

func despell(s string) (string, error) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return "", errors.New("a request that is spelled wrong")
		}
		b = append(b, byte(r))
	}
	return string(b), nil
}

// respelled is a copy with other strings. A kind of field that no request has yet is
// an error: a string must not be missed in it.
func respelled(v reflect.Value, other func(string) (string, error)) (reflect.Value, error) {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		s, err := other(v.String())
		out.SetString(s)
		return out, err
	case reflect.Struct:
		return out, respell(v.NumField(), v.Field, out.Field, other)
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		return out, respell(v.Len(), v.Index, out.Index, other)
	case reflect.Pointer:
		if v.IsNil() {
			return out, nil
		}
		to, err := respelled(v.Elem(), other)
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(to)
		return out, err
	case reflect.Array:
		return out, respell(v.Len(), v.Index, out.Index, other)
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint16, reflect.Uint32:
		return v, nil
	}
	return out, fmt.Errorf("a request has no place for %v", v.Type())
}

func respell(n int, from, to func(int) reflect.Value, other func(string) (string, error)) error {
	for i := range n {
		v, err := respelled(from(i), other)
		if err != nil {
			return err
		}
		to(i).Set(v)
	}
	return nil
}
