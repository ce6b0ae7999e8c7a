package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs a command that must end with a certain code: exits 4 cordon run …
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %v", err)
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("ended with %d, want %d", got, want)
	}
}

// json checks that the last command printed exactly one JSON object of a schema,
// and that it holds certain values: json cordon.worker/1 status=merged gate.checks.0.code=0
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json SCHEMA [PATH=VALUE...]")
	}
	object, err := oneObject(ts.ReadFile("stdout"))
	if err != nil {
		ts.Fatalf("stdout is not one JSON object: %v", err)
	}
	if object["schema"] != args[0] {
		ts.Fatalf("the schema is %v, want %s", object["schema"], args[0])
	}
	if err := valid(ts.ReadFile("stdout")); err != nil {
		ts.Fatalf("it is not what docs/schema says: %v", err)
	}
	for _, arg := range args[1:] {
		path, want, ok := strings.Cut(arg, "=")
		if !ok {
			ts.Fatalf("json: %q has no =", arg)
		}
		got, err := lookUp(object, strings.Split(path, "."))
		if err != nil {
			ts.Fatalf("%s: %v", path, err)
		}
		if fmt.Sprint(got) != want {
			ts.Fatalf("%s is %v, want %s", path, got, want)
		}
	}
}

func oneObject(text string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
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
