package desk

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/view"
)

const patch = `diff --git a/src/a.go b/src/a.go
index 1..2 100644
--- a/src/a.go
+++ b/src/a.go
@@ -1,4 +1,5 @@ package a
 one
-two
-three
+zwei
+drei
+vier
 five
diff --git "a/docs/\303\244.md" "b/docs/\303\244.md"
new file mode 100644
index 0..2
--- /dev/null
+++ "b/docs/\303\244.md"
@@ -0,0 +1 @@
+--- no head
\ No newline at end of file
diff --git a/bin b/bin
index 1..2 100644
Binary files a/bin and b/bin differ
diff --git a/old name b/new name
similarity index 100%
rename from old name
rename to new name
`

func TestFiles(t *testing.T) {
	list, left := Files(patch, []view.Finding{
		{Path: "src/a.go", Class: "landing", Rule: `write_roots "src"`},
		{Path: "docs/ä.md", Class: "landing", Rule: "other"}, {Path: "docs/ä.md", Class: "violation", Rule: "outside write_roots"},
	})
	var got strings.Builder
	for _, f := range list {
		fmt.Fprintf(&got, "%s [%s] +%d -%d %s..%s\n", f.Name, f.Rule, f.Added, f.Removed, f.Old, f.New)
		for _, r := range f.Rows {
			fmt.Fprintf(&got, "%c %d %q %d %q\n", r.Kind, r.Old, r.Was, r.New, r.Is)
		}
	}
	want := `docs/ä.md [outside write_roots] +1 -0 ..2
\ 0 "new file mode 100644" 0 ""
@ 0 "@@ -0,0 +1 @@" 0 ""
+ 0 "" 1 "--- no head"
\ 0 "\\ No newline at end of file" 0 ""
src/a.go [write_roots "src"] +3 -2 1..2
@ 0 "@@ -1,4 +1,5 @@ package a" 0 ""
  1 "one" 1 "one"
~ 2 "two" 2 "zwei"
~ 3 "three" 3 "drei"
+ 0 "" 4 "vier"
  4 "five" 5 "five"
bin [] +0 -0 1..2
\ 0 "Binary files a/bin and b/bin differ" 0 ""
new name [] +0 -0 ..
\ 0 "similarity index 100%" 0 ""
\ 0 "rename from old name" 0 ""
`
	if got.String() != want || left != 0 {
		t.Errorf("%s", got.String())
	}
}

// A large patch comes in chunks, is folded and never cut without a word.
func TestLargePatch(t *testing.T) {
	text := "diff --git a/big b/big\n--- a/big\n+++ b/big\n@@ -0,0 +1,20000 @@\n" + strings.Repeat("+line\n", 20000)
	list, left := Files(text, nil)
	if len(list) != 1 || left != 0 || !list[0].Folded || list[0].Added != 20000 || len(list[0].Chunks()) != 101 {
		t.Errorf("%d files, %d chunks", len(list), len(list[0].Chunks()))
	}
	for i, c := range list[0].Chunks() {
		if len(c) > chunk {
			t.Errorf("chunk %d has %d rows", i, len(c))
		}
	}
	if _, left := Files(text+strings.Repeat("+line\n", maxRows), nil); left != 20001 {
		t.Errorf("%d lines are left", left)
	}
}
