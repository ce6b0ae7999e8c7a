package main

import (
	"errors"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"cordon/internal/testschema"
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
	object, err := testschema.Object(ts.ReadFile("stdout"))
	if err != nil {
		ts.Fatalf("stdout is not one JSON object: %v", err)
	}
	if object["schema"] != args[0] {
		ts.Fatalf("the schema is %v, want %s", object["schema"], args[0])
	}
	if err := valid(ts.ReadFile("stdout")); err != nil {
		ts.Fatalf("it is not what docs/schema says: %v", err)
	}
	if err := testschema.Check(object, args[1:]); err != nil {
		ts.Fatalf("%v", err)
	}
}
