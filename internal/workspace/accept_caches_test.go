package workspace

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A cache of go is known by its results: what is kept of one has few of its directories.
func TestExpireTests(t *testing.T) {
	sum := "7f" + strings.Repeat("0", 62)
	for name, want := range map[string]bool{
		"7f/" + sum + "-a": true, "00/" + sum + "-a": true,
		"7f/" + sum + "-d": false, "7f/" + sum[:38]: false, "trim.txt": false, "deep/7f/" + sum + "-a": false, "7f": false,
	} {
		notes, err := expireTests(fstest.MapFS{name: {Data: []byte("x")}}, 12)
		if err != nil || (notes["testexpire.txt"] == "12\n") != want || len(notes) > 1 {
			t.Errorf("%s: %v, %v", name, notes, err)
		}
	}
	if notes, err := expireTests(fstest.MapFS{}, 12); err != nil || len(notes) > 0 {
		t.Errorf("%v, %v", notes, err)
	}
}
