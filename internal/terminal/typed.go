package terminal

import (
	"context"
	"io"
)

// Typed is what a person types or pipes in. A signal, which closes Over, ends the wait for it: the system would not.
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
