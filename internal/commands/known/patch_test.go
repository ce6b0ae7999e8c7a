package known

import (
	"strings"
	"testing"

	"cordon/internal/commands"
)

// A patch of apply_patch is written where it says, however it is given.
func TestApplyPatch(t *testing.T) {
	patch := "*** Begin Patch\n*** Add File: ../a\n+*** Add File: content\n+x\n*** Update File: /b\n*** Move to: c d\n@@\n-x\n*** Delete File: e\n*** End Patch\n"
	for name, c := range map[string]commands.Call{
		"fed":      {Args: []string{"apply_patch"}, Stdin: patch, Fed: true},
		"argument": {Args: []string{"/usr/bin/applypatch", patch}},
	} {
		u := Of(c)
		var wrote []string
		for _, a := range u.Access {
			if a.Role == commands.Write {
				wrote = append(wrote, a.Path)
			}
		}
		if got, want := strings.Join(wrote, ","), "../a,/b,c d,e"; got != want {
			t.Errorf("%s: writes %q, want %q", name, got, want)
		}
		if len(u.Runs) != 0 {
			t.Errorf("%s: a patch that is known is opaque", name)
		}
		if len(u.Effects) == 0 || u.Effects[0].Text != "*** Add File: content\nx\n" {
			t.Errorf("%s: leaves %+v", name, u.Effects)
		}
	}
	if u := Of(commands.Call{Args: []string{"apply_patch"}}); len(u.Runs) != 1 || u.Runs[0].Lang != commands.Opaque {
		t.Errorf("a patch that is not known is %+v", u)
	}
}
