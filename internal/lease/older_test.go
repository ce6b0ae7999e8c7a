package lease

import (
	"bytes"
	"strings"
	"testing"
)

// A lease from before there were filesystem.outside and limits.files is opened
// as it was sealed, and denies.
func TestOlderLease(t *testing.T) {
	t.Parallel()
	s := seal(t, sample())
	older := []byte(strings.Replace(string(s.Bytes()), `,"outside":"deny"`, "", 1))
	if bytes.Equal(older, s.Bytes()) || bytes.Contains(older, []byte(`"files"`)) {
		t.Fatalf("not the older form: %s", older)
	}
	got, err := Open(older, hashOf(older))
	if err != nil {
		t.Fatal(err)
	}
	if got.Lease().Policy.Filesystem.Outside.Captures() || !bytes.Equal(got.Bytes(), older) {
		t.Errorf("opened as %s", got.Bytes())
	}
}
