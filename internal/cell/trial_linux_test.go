package cell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The trial runs in the finished cell, before the command and with what it is given to read.
// Whoever starts the cell sees what came of it, and may refuse to let the command go.
func TestConfinedTrial(t *testing.T) {
	r := newRoom(t)
	for _, c := range []struct {
		name, program, line string
		want                Tried
	}{
		{"denies", "/bin/sh", `cat; echo no >&2; test ! -e ran; exit 2`, Tried{Code: 2, Stdout: []byte("input"), Stderr: []byte("no\n")}},
		{"is confined", "/bin/sh", `echo x >"$OUTSIDE/trial" && echo escaped; exit 0`, Tried{}},
		{"kills itself", "/bin/sh", `kill -9 $$`, Tried{Code: 137}},
		{"is not there", filepath.Join(r.tree, "absent"), "", Tried{Error: "no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got *Tried
			command := r.command
			order := r.order
			order.Trial = &Trial{Argv: []string{c.program, "-c", c.line}, Input: "input"}
			command.Cell, command.Env = &order, append(command.Env, "OUTSIDE="+r.outside)
			command.Argv = []string{"sh", "-c", "touch ran"}
			command.Started = func(l Launch) error { got = l.Tried; return errors.New("not let go") }
			if _, err := Run(context.Background(), command); err == nil || !strings.Contains(err.Error(), "not let go") {
				t.Fatal(err)
			}
			if got == nil || got.Code != c.want.Code || !strings.Contains(got.Error, c.want.Error) || (got.Error != "") != (c.want.Error != "") ||
				string(got.Stdout) != string(c.want.Stdout) || c.want.Stderr != nil && string(got.Stderr) != string(c.want.Stderr) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			for _, name := range []string{filepath.Join(r.tree, "ran"), filepath.Join(r.outside, "trial")} {
				if _, err := os.Lstat(name); err == nil {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}

// A command without a trial has none.
func TestConfinedWithoutTrial(t *testing.T) {
	r := newRoom(t)
	r.command.Started = func(l Launch) error {
		if l.Tried != nil {
			t.Errorf("%+v", l.Tried)
		}
		return nil
	}
	if out := r.sh("echo went"); out != "went\n" {
		t.Error(out)
	}
}
