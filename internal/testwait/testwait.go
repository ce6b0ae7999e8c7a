// Package testwait waits in tests: for a condition, not for a time. It is the only place in which a
// test sleeps, and not part of the product.
package testwait

import (
	"context"
	"strings"
	"time"
)

// Bound is how long a condition may take on a slow machine that does other things too.
const Bound = 5 * time.Minute

// pace is the time between two looks.
const pace = 5 * time.Millisecond

// T is a test. Package testing itself is for test files alone.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Until returns when a condition holds. A test whose condition does not hold in time ends with what it
// waited for, and with what the functions in shows print: a screen, a journal, the processes.
func Until(t T, what string, holds func() bool, shows ...func() string) {
	t.Helper()
	for end := time.Now().Add(Bound); !holds(); time.Sleep(pace) {
		if time.Now().After(end) {
			t.Fatalf("waited %v, and still not: %s\n%s", Bound, what, shown(shows))
		}
	}
}

// Still returns after a condition has held without a break for a while: nothing happened that should not
// happen. It ends the test when the condition breaks.
func Still(t T, what string, while time.Duration, holds func() bool, shows ...func() string) {
	t.Helper()
	for end := time.Now().Add(while); time.Now().Before(end); time.Sleep(pace) {
		if !holds() {
			t.Fatalf("no longer: %s\n%s", what, shown(shows))
		}
	}
}

// Pass lets a time pass that is itself part of a test: how long a peer takes to answer, how long a machine is away,
// the pace of an operator. What the test waits for is a condition and takes Until. It reports whether the context
// is still alive.
func Pass(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func shown(shows []func() string) string {
	var texts []string
	for _, show := range shows {
		texts = append(texts, show())
	}
	return strings.Join(texts, "\n")
}
