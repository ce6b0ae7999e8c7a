package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names of hard links cost a command next to nothing. The next exec --live does not remember more of
// them than fits, and says so; fewer, or shorter ones, do not matter.
func TestExecAmongManyLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	name := func(of string, i int) string { return filepath.Join(dir, of, fmt.Sprint(i)) }
	long := strings.Repeat(strings.Repeat("d", 240)+"/", 14)
	for of, many := range map[string]int{"short": 20_000, long: 20_000} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, of), 0o755), os.WriteFile(name(of, 0), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		for i := range many {
			if err := os.Link(name(of, 0), name(of, i+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if o := s.try(s.command("-C", dir, "exec", "--live", "--", "true")); o.code != 3 || !strings.Contains(o.err, "too many hard links") {
		t.Errorf("code %d: %.300s", o.code, o.err)
	}
	if err := os.RemoveAll(filepath.Join(dir, strings.Repeat("d", 240))); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--live", "-v"} {
		if o := s.try(s.command("-C", dir, "exec", flag, "--", "true")); o.code != 0 {
			t.Errorf("%s: %+v", flag, o)
		}
	}
}
