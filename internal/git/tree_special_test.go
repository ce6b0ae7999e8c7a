package git

import (
	"path"
	"reflect"
	"strings"
	"testing"
)

// Special files are those of the whole listing that are not ordinary, and git is asked once for a tree.
func TestSpecialAgreesWithTree(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{SHA1, SHA256} {
		r, commit := mixed(t, format)
		ctx := t.Context()
		blob := must[OID](t)(r.PutBlob(ctx, strings.NewReader("* text")))
		top := []File{{Attributes, Entry{Regular, blob}}, {"a" + Attributes, Entry{Regular, blob}}, {"mixed", Entry{Directory, must[OID](t)(r.TreeOf(ctx, commit))}},
			{"tab\t", Entry{Directory, must[OID](t)(r.PutTree(ctx, []File{{Attributes, Entry{Executable, blob}}, {"x", Entry{Regular, blob}}}))}}}
		commit = must[OID](t)(r.CommitTree(ctx, must[OID](t)(r.PutTree(ctx, top)), nil, "m", Person{"n", "e@x"}))
		var want []File
		for _, f := range must[[]File](t)(r.Tree(ctx, commit)) {
			if f.Mode != Regular && f.Mode != Executable || path.Base(f.Path) == Attributes {
				want = append(want, f)
			}
		}
		m := &recall{known: map[string]string{}}
		r.bin = r.bin.Remembering(m.memory)
		for range 2 {
			if got := must[[]File](t)(r.Special(ctx, commit)); !reflect.DeepEqual(got, want) || len(got) != 5 {
				t.Errorf("%s: %v, want %v", format, got, want)
			}
		}
		if m.asked != 1 {
			t.Errorf("%s: git was asked %d times", format, m.asked)
		}
		for dir, n := range map[string]int{"mixed": 12, "mixed/a": 3, "none": 0, "mixed/a.b": 0, "mixed/sub": 0} {
			if got := must[[]File](t)(r.FilesBelow(ctx, commit, dir)); len(got) != n {
				t.Errorf("%s: below %s lie %v", format, dir, got)
			}
		}
	}
}
