package terminal

import (
	"context"
	"io"
)

// Typed reads what a person types or pipes in. Read returns when a signal closes Over; a read of the terminal alone would go on.
type Typed struct {
	In   io.Reader
	Over <-chan struct{}
}

func (t Typed) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	got := make(chan result, 1)
	go func() {
		text := make([]byte, len(p))
		n, err := t.In.Read(text)
		got <- result{text[:n], err}
	}()
	select {
	case r := <-got:
		return copy(p, r.text), r.err
	case <-t.Over:
		return 0, context.Canceled
	}
}
