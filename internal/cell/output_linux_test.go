package cell

import (
	"bytes"
	"context"
	"testing"
	"time"

	"cordon/internal/cell/plan"
)

// slowly is a reader that takes its time.
type slowly struct {
	got    bytes.Buffer
	waited bool
}

func (s *slowly) Write(p []byte) (int, error) {
	if !s.waited {
		s.waited = true
		time.Sleep(3 * time.Second)
	}
	return s.got.Write(p)
}

// Whoever reads slowly gets everything: it is not cut when the command has ended.
func TestSlowReaderGetsEverything(t *testing.T) {
	var out slowly
	dir := t.TempDir()
	argv := []string{"/bin/sh", "-c", "i=0; while [ $i -lt 12000 ]; do echo $i; i=$((i+1)); done"}
	exit, err := Run(context.Background(), Command{
		Argv: argv, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out,
		Cell: &plan.Order{Argv: argv, Dir: dir, Write: []string{dir}},
	})
	if err != nil || !exit.OK() {
		t.Fatalf("%+v, %v", exit, err)
	}
	if !bytes.HasSuffix(out.got.Bytes(), []byte("\n11999\n")) {
		t.Errorf("%d bytes, the end of which is missing", out.got.Len())
	}
}
