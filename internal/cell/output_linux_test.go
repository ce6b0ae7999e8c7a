package cell

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"cordon/internal/testwait"
)

// slowly is a reader that takes nothing until it may.
type slowly struct {
	got          bytes.Buffer
	once         sync.Once
	asked, reads chan struct{}
}

func (s *slowly) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.asked) })
	<-s.reads
	return s.got.Write(p)
}

// Whoever reads slowly gets everything: it is not cut when the command has ended.
func TestSlowReaderGetsEverything(t *testing.T) {
	const mark = "cordon-test-slow-reader"
	out := slowly{asked: make(chan struct{}), reads: make(chan struct{})}
	r := newRoom(t)
	c := r.command
	c.Argv = []string{"/bin/sh", "-c", "i=0; while [ $i -lt 12000 ]; do echo $i; i=$((i+1)); done", mark}
	c.Stdout, c.Stderr = &out, &out
	read := sync.OnceFunc(func() { close(out.reads) })
	b := r.begin(t.Context(), c)
	defer read()
	select {
	case <-out.asked:
	case <-b.ended:
		t.Fatalf("it printed nothing: %+v, %v", b.exit, b.err)
	}
	testwait.Until(t, "the command has ended", func() bool { return withArgument(t, mark) == 0 })
	testwait.Still(t, "the reader is waited for", 3*time.Second, b.runs) // longer than for the output of a command without a cell
	read()
	exit, _, err := b.end()
	if err != nil || !exit.OK() {
		t.Fatalf("%+v, %v", exit, err)
	}
	if !bytes.HasSuffix(out.got.Bytes(), []byte("\n11999\n")) {
		t.Errorf("%d bytes, the end of which is missing", out.got.Len())
	}
}
