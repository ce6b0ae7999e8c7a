// Command cordon runs AI coding agents in git worktrees of their own, audits what
// they really changed against a leased policy, and lets it into the operator's
// repository only through a gate.
//
// This package is an adapter: a command parses its flags into a value, calls
// package session, and says what came of it. It refuses to decide anything.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"cordon/internal/journal"
)

func main() {
	os.Exit(run(os.Args[1:], nil))
}

// wantsJSON looks for --json before the flags are parsed: a mistake among them is
// answered in JSON too.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// run is the whole program. watch observes the journal; tests use it to kill
// the process between two steps.
func run(args []string, watch func(journal.Moment, journal.Event)) int {
	// A worker decides how much an audit has to hold. What is no longer needed of it
	// makes room early. Most audits are over soon, and what they need is small.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(256 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A second ctrl-c ends this program at once, which loses nothing. The other signals come twice when a terminal closes.
	ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, stop)
	output := watchOutput()
	a := &app{out: os.Stdout, err: os.Stderr, in: os.Stdin, over: ctx.Done(), watch: watch, json: wantsJSON(args)}
	root := a.root(args...)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = errInterrupted
	}
	if closedOutput(err) {
		err = nil // nobody is there to tell
	}
	return output.code(a.finish(err))
}
