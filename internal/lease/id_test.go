package lease

import (
	"slices"
	"strings"
	"testing"
)

// A unique beginning of a name has to stay one.
func TestWordLists(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"qualities": qualities, "animals": animals} {
		words := strings.Fields(text)
		if len(words) < 100 {
			t.Errorf("%s: only %d words", name, len(words))
		}
		if !slices.IsSorted(words) {
			t.Errorf("%s are not sorted", name)
		}
		for i, w := range words {
			if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || len(w) < 2 {
				t.Errorf("%s: %q", name, w)
			}
			if i > 0 && strings.HasPrefix(w, words[i-1]) {
				t.Errorf("%s: %q is the beginning of %q, or the same", name, words[i-1], w)
			}
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	seen := map[ID]bool{}
	for range 500 {
		id, err := NewID(func(id ID) bool { return seen[id] })
		if err != nil {
			t.Fatal(err)
		}
		if seen[id] {
			t.Fatalf("%s was given twice", id)
		}
		if err := id.check(); err != nil {
			t.Fatal(err)
		}
		seen[id] = true
	}
	if id, err := NewID(func(ID) bool { return true }); err == nil {
		t.Errorf("%s was given although every name is taken", id)
	}
}

func TestOnlyNamesAreNames(t *testing.T) {
	t.Parallel()
	if err := ID("brisk-otter").check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []ID{"", "-", "brisk", "otter-brisk", "brisk-otter-x", "brisk-otter/..", "brisk--otter", "Brisk-otter", "brisk-otter\n",
		" brisk-otter", "brisk.otter", "br-ot"} {
		if bad.check() == nil {
			t.Errorf("%q was taken for a name", string(bad))
		}
	}
}
