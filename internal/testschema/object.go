package testschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Object reads a text that is exactly one JSON object. Numbers stay as they are written.
func Object(text string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("it is null")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after it")
	}
	return object, nil
}

// Check reports which of some values an object does not have: "status=merged", "checks.0.code=0" or
// "checks.length=1".
func Check(object map[string]any, wants []string) error {
	for _, want := range wants {
		path, value, ok := strings.Cut(want, "=")
		if !ok {
			return fmt.Errorf("%q has no =", want)
		}
		got, err := lookUp(object, strings.Split(path, "."))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if fmt.Sprint(got) != value {
			return fmt.Errorf("%s is %v, want %s", path, got, value)
		}
	}
	return nil
}

func lookUp(v any, path []string) (any, error) {
	for _, key := range path {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[key]
			if !ok {
				return nil, fmt.Errorf("no %q", key)
			}
			v = next
		case []any:
			if key == "length" {
				v = len(in)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) {
				return nil, fmt.Errorf("no %q in a list of %d", key, len(in))
			}
			v = in[i]
		default:
			return nil, fmt.Errorf("nothing below %v", v)
		}
	}
	return v, nil
}
