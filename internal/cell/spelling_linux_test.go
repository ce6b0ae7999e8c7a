package cell

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestRequestOfBytes sends a request whose strings hold every byte there is.
func TestRequestOfBytes(t *testing.T) {
	var every strings.Builder
	for i := range 256 {
		every.WriteByte(byte(i))
	}
	all := every.String()
	want := request{Argv: []string{all}, Shell: "sh", Term: all, Terminal: [3]bool{true}, Joined: true, Rows: 1, Cols: 65535}
	f, err := newPlan()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := writeRequest(f, want); err != nil {
		t.Fatal(err)
	}
	if first := make([]byte, 1); firstByte(f, first) != nil || first[0] != 0 {
		t.Error("a request that is not text was written as text")
	}
	var got request
	if err := readRequest(f, &got); err != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("%v: sent %v\ngot  %v", err, want, got)
	}
}

func firstByte(f *os.File, b []byte) error {
	_, err := f.ReadAt(b, 0)
	return err
}

// TestSpellingRefuses keeps a string from being missed in a kind of field that
// requests do not have, and refuses what spell cannot have written.
func TestSpellingRefuses(t *testing.T) {
	if v, err := spelled(struct{ M map[string]string }{map[string]string{"a": "b"}}); err == nil {
		t.Errorf("a map was taken: %v", v)
	}
	if err := unspell(&request{Shell: "Ā"}); err == nil {
		t.Error("a character that stands for no byte was taken")
	}
}
