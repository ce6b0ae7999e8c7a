package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// realProgram is cordon as people have it, with cordon-probe beside it.
func realProgram(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("CORDON_ESCAPE_PROGRAM"); program != "" {
		return program
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir+"/", "cordon/cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("cordon cannot be built here (CORDON_ESCAPE_PROGRAM can name one): %v: %s", err, out)
	}
	return filepath.Join(dir, "cordon")
}

// TestProbe: the fixtures lie where homes are, as those of an ordinary user do, and
// attempts are made and held. One of them has a log as its standard error.
func TestProbe(t *testing.T) {
	t.Parallel()
	dir, err := homeDir()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := realProgram(t)
	probe := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"doctor", "--probe", "--only",
			"^(files-write|files-deny-write-file|descriptors-stderr-reopen|secrets-home-ssh-key|secrets-tree-in-home|git-launch-hook)$"}, args...)...)
		cmd.Env = append(os.Environ(), "CORDON_ESCAPE_DIR="+dir, "HOME="+dir)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || said.Len() > 0 {
			t.Fatalf("%v: %s%s", err, out, said.String())
		}
		return string(out)
	}
	short := probe()
	if !strings.HasPrefix(short, "6 attempts: 6 held, 0 escaped, 0 not tested\nContained: ") || strings.Contains(short, "VERDICT") {
		t.Errorf("in short:\n%s", short)
	}
	var object struct {
		Attempts []struct{ Name, Control, Verdict string }
	}
	text := probe("--json")
	if err := valid(text); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte(text), &object); err != nil || len(object.Attempts) != 6 || object.Attempts[0].Control != "escaped" {
		t.Errorf("%v: %+v", err, object)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
