package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/testkernel"
)

// oldKernel answers for programs that run on an older kernel, and returns what starts
// cordon on one.
func oldKernel(t *testing.T) func(s *site, version string, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("", "kernel-") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
	stop, err := testkernel.Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop() })
	return func(s *site, version string, args ...string) *exec.Cmd {
		cmd := s.command()
		cmd.Path, err = exec.LookPath("kernel")
		if err != nil {
			s.t.Fatal(err)
		}
		cmd.Args = append([]string{"kernel", version, socket, "cordon"}, args...)
		return cmd
	}
}

const degradedPolicy = "version: 1\nisolation: degraded\nfilesystem:\n  write_roots: [\".\"]\n"

// On every kernel from the floor on, and where a container's filter refuses keyctl,
// cells start and a worker's change lands.
func TestOldKernelsRun(t *testing.T) {
	t.Parallel()
	on := oldKernel(t)
	for _, kernel := range []string{"5.13", "5.15", "6.1", "docker"} {
		for _, isolation := range []string{"strict", "degraded"} {
			t.Run(kernel+" "+isolation, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				s.write("home/.cache/tool/x", "x")
				policy := s.write("policy.yaml", strings.Replace(degradedPolicy, "degraded", isolation, 1))
				script := `rm -r ~/.cache/tool && mkdir ~/.cache/tool && mv src/a.txt docs/b.txt && test ! -e /etc/shadow -o ! -r /etc/shadow`
				if o := s.try(on(s, kernel, "exec", "--policy", policy, "--", "sh", "-c", script)); o.code != 0 {
					t.Errorf("exec: %+v", o)
				}
				s.git("reset", "-q", "--hard")
				o := s.try(on(s, kernel, "run", "--merge", "--policy", policy, "--", "sh", "-c", "echo more >>src/a.txt"))
				if o.code != 0 || s.git("show", "HEAD:src/a.txt") != "a\nmore" {
					t.Errorf("run: %+v", o)
				}
				weaker := strings.Contains(o.err, "without landlock (this kernel has version 1")
				if want := isolation == "degraded" && strings.HasPrefix(kernel, "5."); weaker != want {
					t.Errorf("told that Landlock is left out: %v, want %v\n%s", weaker, want, o.err)
				}
			})
		}
	}
}

// On a kernel that is too old nothing is leased, nothing runs, and the version that is
// needed is named.
func TestKernelsBelowTheFloor(t *testing.T) {
	t.Parallel()
	on := oldKernel(t)
	for _, c := range []struct {
		kernel, isolation string
		starts            bool
		lacks             string
	}{
		{"5.10", "strict", false, "has no mount_setattr, which came with Linux 5.12"},
		{"5.10", "degraded", false, "has no mount_setattr, which came with Linux 5.12"},
		{"5.12", "strict", false, "has no Landlock, which came with Linux 5.13"},
		{"5.12", "degraded", true, "has no Landlock, which came with Linux 5.13"},
	} {
		t.Run(c.kernel+" "+c.isolation, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			policy := s.write("policy.yaml", strings.Replace(degradedPolicy, "degraded", c.isolation, 1)+"gate: {land: auto}\n")
			for _, verb := range []string{"exec", "run"} {
				o := s.try(on(s, c.kernel, verb, "--policy", policy, "--", "sh", "-c", "echo more >>src/a.txt"))
				if (o.code == 0) != c.starts || !c.starts && o.code != exitRefused {
					t.Errorf("%s: %+v", verb, o)
				}
				if verb == "exec" && c.starts {
					s.git("reset", "-q", "--hard")
					continue
				}
				if !strings.Contains(o.err, c.lacks) || !strings.Contains(o.err, "Linux 5.13 or newer") {
					t.Errorf("%s does not say what is needed: %s", verb, o.err)
				}
			}
			if list := s.cordon([]int{0}, "ls", "--all-states").out; strings.Contains(list, "-") != c.starts {
				t.Errorf("leased: %s", list)
			}
			o := s.try(on(s, c.kernel, "doctor"))
			if o.code != exitFailed || !strings.Contains(o.out, c.lacks) || !strings.Contains(o.out, "Linux 5.13 or newer") {
				t.Errorf("doctor: %+v", o)
			}
		})
	}
}
