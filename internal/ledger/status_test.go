package ledger

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestStatuses compares the list of words with the constants.
func TestStatuses(t *testing.T) {
	text, err := os.ReadFile("status.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []Status
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Status = "([^"]+)"`).FindAllSubmatch(text, -1) {
		declared = append(declared, Status(m[1]))
	}
	if got := Statuses(); !slices.Equal(got, declared) {
		t.Errorf("the list has %q, and declared are %q", got, declared)
	}
}
