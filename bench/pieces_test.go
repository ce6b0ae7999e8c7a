package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A piece that fails or does not end keeps what it measured, and says so in one row.
func TestPiecesThatFail(t *testing.T) {
	one := goal{"a", "× 3", "× 2"}
	for name, c := range map[string]struct {
		limit   time.Duration
		measure func(context.Context) ([]goal, error)
		want    []string
	}{
		"clean": {time.Minute, func(context.Context) ([]goal, error) { return []goal{one}, nil }, []string{"× 2"}},
		"fails": {time.Minute, func(context.Context) ([]goal, error) { return []goal{one}, errors.New("git said no\nand more | of it") },
			[]string{"× 2", "failed: git said no"}},
		"too long": {time.Millisecond, func(ctx context.Context) ([]goal, error) { <-ctx.Done(); return nil, ctx.Err() }, []string{"not measured within 1ms"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, g := range (piece{"a piece", c.limit, c.measure}).rows(t.Context()) {
				got = append(got, g.measured)
			}
			if strings.Join(got, ";") != strings.Join(c.want, ";") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
