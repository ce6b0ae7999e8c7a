package policy

import (
	"fmt"
	"testing"
)

// A policy that was found valid lends nothing to another one, and the memory is bounded.
func TestValidateRemembersTexts(t *testing.T) {
	p := Default()
	for range 2 {
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	bad := p
	bad.Filesystem.WriteRoots = []string{"../out"}
	for range 2 {
		if bad.Validate() == nil {
			t.Error("a root outside of the tree is valid after another policy was")
		}
	}
	var s textSet
	for i := range 3 * maxTexts {
		s.add(fmt.Sprint(i))
		if !s.has(fmt.Sprint(i)) || len(s.texts) > maxTexts {
			t.Fatalf("after %d texts it holds %d", i+1, len(s.texts))
		}
	}
}
