package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// cordon policy show says which size a worker gets for "auto", and says nothing of a size
// that the policy names.
func TestPolicyShowsSizes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	shown := s.cordon([]int{0}, "policy", "show").out
	memory := regexp.MustCompile(`(?m)^  memory: auto  # (\d+[MG]iB) here$`).FindStringSubmatch(shown)
	if memory == nil || !regexp.MustCompile(`(?m)^  disk: auto  # \d+[MG]iB here$`).MatchString(shown) {
		t.Fatal(shown)
	}
	s.cordon([]int{0}, "run", "--", "true")
	var leased struct {
		Lease struct {
			Terms struct {
				Policy struct{ Limits struct{ Memory string } }
			}
		}
	}
	text := s.cordon([]int{0}, "lease", "show", s.only().Worker, "--json").out
	if err := json.Unmarshal([]byte(text), &leased); err != nil || leased.Lease.Terms.Policy.Limits.Memory != memory[1] {
		t.Errorf("shown %s, leased %+v, %v", memory[1], leased, err)
	}
	file := s.write("policy.yaml", "version: 1\nlimits: {memory: 512MiB, disk: none}\n")
	if out := s.cordon([]int{0}, "policy", "show", "--policy", file).out; strings.Contains(out, " here\n") {
		t.Error(out)
	}
}
