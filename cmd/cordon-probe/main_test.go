package main

import (
	"strings"
	"testing"

	"cordon/internal/escape"
)

func TestParse(t *testing.T) {
	if len(escape.Attempts()) == 0 {
		t.Skip("there are no attempts for this system")
	}
	for _, c := range []struct{ args, says string }{
		{"--cordon x --only files-", ""},
		{"--cordon x --all --json", ""},
		{"--cordon x --only nothing-like-this", "no attempt has a name that matches"},
		{"--cordon x --only (", "--only: "},
		{"--only files-", "usage: "},
		{"--cordon x more", "usage: "},
	} {
		_, err := parse(strings.Fields(c.args))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.args, err, c.says)
		}
	}
}
