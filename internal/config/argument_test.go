package config

import "testing"

func TestShellReads(t *testing.T) {
	for _, row := range []struct {
		argv []string
		i    int
		want bool
	}{
		{[]string{"sh", "-c", "echo $CORDON_ID"}, 2, true},
		{[]string{"/bin/bash", "-o", "pipefail", "-ec", "echo $CORDON_ID"}, 4, true},
		{[]string{"bash", "-c", "-o", "pipefail", "echo $CORDON_ID"}, 4, true},
		{[]string{"env", "A=b", "nice", "zsh", "-lc", "x"}, 5, true},
		{[]string{"busybox", "sh", "-c", "x"}, 3, true},
		{[]string{"fish", "--command", "x"}, 2, true},
		{[]string{"fish", "--command=x $CORDON_ID"}, 1, true},
		{[]string{"sh", "-c", "$CORDON_ID"}, 2, true},
		{[]string{"sh", "-c", "echo $0", "$CORDON_ID"}, 3, false},
		{[]string{"sh", "-c", "echo $0", "${CORDON_ID}"}, 3, false},
		{[]string{"sh", "/home/me/script", "--to=$CORDON_ID"}, 2, false},
		{[]string{"git", "-c", "a.b=$CORDON_ID", "push"}, 2, false},
		{[]string{"gh", "--title=$CORDON_SUBJECT"}, 1, false},
	} {
		if got := ShellReads(row.argv, row.i); got != row.want {
			t.Errorf("%q, argument %d: %v", row.argv, row.i, got)
		}
	}
}
