package backoff

import (
	"os"
	"testing"
	"time"
)

func TestLimited(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit"}}`: 0,
		"Rate limit reached for gpt. Please try again in 3s.":                                                                       3 * time.Second,
		"exceeded retry limit, last status: 429 Too Many Requests, retry-after: 20":                                                 20 * time.Second,
		`{"type":"overloaded_error","message":"Overloaded"}`:                                                                        0,
		"RESOURCE_EXHAUSTED: quota; retry in 900ms":                                                                                 900 * time.Millisecond,
		"429: retry after 500 milliseconds":                                                                                         500 * time.Millisecond,
		"429: try again in 1m30s":                                                                                                   90 * time.Second,
		"429: Try Again In 20S":                                                                                                     20 * time.Second,
		"429: retry in 2 minutes, 5 seconds":                                                                                        125 * time.Second,
		"429: retry in 20 or 30 s":                                                                                                  20 * time.Second,
		"429: retry after 20 429":                                                                                                   20 * time.Second,
		"429: try again in 99h":                                                                                                     longest,
		"The model is not available.":                                                                                               -1,
		"404 no such thing, try again in 3s":                                                                                        -1,
		"wrote 4290 bytes":                                                                                                          -1,
	} {
		after, ok := Limited(text)
		if ok != (want >= 0) || ok && after != want {
			t.Errorf("%q: got %v, %v", text, after, ok)
		}
	}
}

// Answers in a row make it longer, up to a bound. A long time without one begins anew.
func TestNext(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := Wait{}
	for i, want := range []time.Duration{first, 2 * first, 4 * first, 8 * first, 16 * first, 32 * first, longest, longest} {
		w = Next(w, "429", 0, now)
		if got := w.Until.Sub(now); got != want {
			t.Errorf("the %d. is %v, want %v", i+1, got, want)
		}
		now = w.Until
	}
	if w = Next(w, "429", 0, now.Add(longest)); w.Count != 1 {
		t.Errorf("after a long time it is the %d. in a row", w.Count)
	}
	if again := Next(Wait{Until: now.Add(time.Minute), Count: 1}, "429", time.Second, now); !again.Until.Equal(now.Add(time.Minute)) {
		t.Error("a shorter back-off ended a longer one")
	}
}

func TestStore(t *testing.T) {
	s, now := Store(t.TempDir()+"/backoff"), time.Now()
	if _, ok := s.Until("one", now); ok {
		t.Error("there is a back-off of nobody")
	}
	if _, err := s.Note("one", "429", time.Minute, now); err != nil {
		t.Fatal(err)
	}
	if w, ok := s.Until("one", now); !ok || w.Why != "429" {
		t.Errorf("got %+v", w)
	}
	if all := s.All(now); len(all) != 1 || !all["one"].Equal(now.Add(time.Minute)) || len(s.All(now.Add(time.Minute))) > 0 {
		t.Errorf("all are %v", all)
	}
	if _, ok := s.Until("one", now.Add(time.Minute)); ok {
		t.Error("it does not end")
	}
	if _, ok := s.Until("other", now); ok {
		t.Error("another client waits too")
	}
	for _, text := range []string{"{", `{"until":"9999-01-01T00:00:00Z"}`} { // nobody waits for ever
		if err := os.WriteFile(s.file("one"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if w, ok := s.Until("one", now); ok {
			t.Errorf("%s: got %+v", text, w)
		}
	}
}
