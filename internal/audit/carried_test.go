package audit

import (
	"fmt"
	"testing"

	"cordon/internal/git"
)

// What an earlier attempt changed stays in the list, unless the last one changed it again or undid it.
func TestWithCarried(t *testing.T) {
	file := func(oid string) git.Entry { return git.Entry{Mode: git.Regular, OID: git.OID(oid)} }
	var none git.Entry
	t1 := Tree{Carried: []git.Delta{
		{Path: "again", Old: file("1"), New: file("2")}, {Path: "gone", Old: file("1"), New: none}, {Path: "kept", Old: none, New: file("2")},
		{Path: "odd", Old: none, New: file("2")}, {Path: "undone", Old: file("1"), New: file("2")},
	}}
	got := ""
	for _, c := range t1.withCarried([]Change{
		{Path: "again", Kind: Deleted, Old: file("2"), New: none}, {Path: "gone", Kind: Added, Ignored: true, New: file("3")},
		{Path: "new", Kind: Added, New: file("3")}, {Path: "odd", Kind: Special, Old: file("2")}, {Path: "undone", Kind: Modified, Old: file("2"), New: file("1")},
	}) {
		got += fmt.Sprintf("%s %s %s-%s %v %v\n", c.Path, c.Kind, c.Old.OID, c.New.OID, c.Ignored, c.Carried)
	}
	want := "again deleted 1- false false\ngone added -3 true false\ngone deleted 1- false true\nkept added -2 false true\nnew added -3 false false\nodd special - false false\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
