package codex

import "testing"

func TestUnwrapped(t *testing.T) {
	for got, want := range map[string]string{
		unwrapped("/bin/bash -lc 'echo one'"):       "echo one",
		unwrapped("/bin/bash -lc ls"):               "ls",
		unwrapped(`/usr/bin/zsh -lc 'a '\''b'\'''`): `'a '\''b'\'''`,
		unwrapped("env x -lc y"):                    "env x -lc y",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
