package ledger

import (
	"slices"
	"testing"

	"cordon/internal/journal"
)

// TestRateLimitsSince: a worker has the rate limits of all its grants, and each is known by when it was met.
func TestRateLimitsSince(t *testing.T) {
	w := &Worker{}
	for seq, text := range []string{"429", "529"} {
		data, err := Encode(RateLimited, RateLimit{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if err := transitions[RateLimited](w, journal.Event{Seq: uint64(seq + 5), Type: RateLimited, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if all, late := w.RateLimitsSince(0), w.RateLimitsSince(5); !slices.Equal(all, []string{"429", "529"}) || !slices.Equal(late, []string{"529"}) {
		t.Errorf("%v, %v", all, late)
	}
}

// TestProvider: the provider is that of the client's own models, unless its arguments name one and it takes any.
func TestProvider(t *testing.T) {
	for _, row := range []struct {
		client, provider string
		args             []string
	}{
		{"claude", "anthropic", nil},
		{"claude", "anthropic", []string{"--model", "eu/opus"}},
		{"codex", "openai", []string{"-m", "gpt-5.5"}},
		{"opencode", "opencode", nil},
		{"opencode", "opencode", []string{"--model", "big-pickle"}},
		{"opencode", "anthropic", []string{"-m", "anthropic/opus"}},
		{"opencode", "openrouter", []string{"--model=openrouter/anthropic/opus"}},
		{"pi", "openrouter", nil},
		{"pi", "openai", []string{"--model", "anthropic/opus", "--provider", "openai"}},
	} {
		a := Agent{Client: row.client, Args: row.args}
		if got := a.Provider(); got != row.provider {
			t.Errorf("%s %v: %s, not %s", row.client, row.args, got, row.provider)
		}
	}
}
