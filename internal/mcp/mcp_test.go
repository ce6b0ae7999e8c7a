package mcp

import (
	"reflect"
	"slices"
	"testing"
)

// All that the server can ask of cordon is here: a method more is a decision of a person's.
func TestDesk(t *testing.T) {
	want := []string{"Answer", "Diff", "Dispatch", "Plan", "Plans", "Review", "Wait", "Worker", "Workers"}
	var got []string
	for m := range reflect.TypeFor[Desk]().Methods() {
		got = append(got, m.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
