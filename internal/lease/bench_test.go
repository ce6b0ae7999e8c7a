package lease

import (
	"testing"

	"cordon/internal/policy"
)

// defaultLease is a lease as most are: of the default policy.
func defaultLease() Lease {
	l := sample()
	l.Policy = policy.Default()
	return l
}

func BenchmarkOpen(b *testing.B) {
	s, err := Seal(defaultLease())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := open(s.bytes, s.hash); err != nil {
			b.Fatal(err)
		}
	}
}

// Compile is what Open and Recall share.
func BenchmarkCompile(b *testing.B) {
	l := defaultLease()
	at := policy.Location{Worktree: l.Worktree, Home: l.Home}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policy.Compile(l.effective(), at); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecall(b *testing.B) {
	s, err := Seal(defaultLease())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Recall(s.bytes, s.hash); err != nil {
			b.Fatal(err)
		}
	}
}
