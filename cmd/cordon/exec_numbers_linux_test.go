package main

import (
	"os"
	"os/exec"
	"testing"
)

// In a container, the number of cordon is small, and a process of the cell has the same one.
func TestExecWithASmallNumber(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	confined := s.command("exec", "--", "/bin/true")
	how := []string{"--pid", "--fork", "--mount-proc"}
	if os.Getuid() != 0 {
		how = append(how, "--user", "--map-root-user")
	}
	alone := func(argv ...string) ([]byte, error) {
		cmd := exec.Command("unshare", append(how, argv...)...)
		cmd.Dir, cmd.Env = confined.Dir, confined.Env
		return cmd.CombinedOutput()
	}
	if out, err := alone("true"); err != nil {
		t.Skipf("no namespace of its own here: %v\n%s", err, out)
	}
	for _, others := range []string{"", "true; ", "true; true; true; true; "} {
		argv := append([]string{"sh", "-c", others + `"$0" "$@"; exit $?`, confined.Path}, confined.Args[1:]...)
		if out, err := alone(argv...); err != nil {
			t.Errorf("%sexec: %v\n%s", others, err, out)
		}
	}
}
