package worktree

import "testing"

func TestFilterOf(t *testing.T) {
	for line, want := range map[string]string{
		"*.bin filter=lfs":                  "lfs",
		"*.bin filter=lfs diff=lfs -text\r": "lfs",
		"\"a b\" filter=crypt":              "crypt",
		"[attr]secret filter=crypt":         "crypt",
		"# *.bin filter=lfs":                "",
		"*.bin -filter":                     "",
		"*.bin !filter":                     "",
		"filter=lfs":                        "", // a pattern
		"":                                  "",
	} {
		if got := FilterOf(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
