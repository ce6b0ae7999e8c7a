package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	programs["with-mounts"] = func() { os.Exit(withMounts(os.Args[1:])) }
}

// withMounts runs a command where some places are mounts: "PLACE,PLACE COMMAND…". A
// file or a directory is mounted on itself, and "tmpfs:PLACE" is an empty directory.
func withMounts(args []string) int {
	if args[0] != "--inside" {
		return again(syscall.CLONE_NEWNS, []uintptr{unix.CAP_SYS_ADMIN}, append([]string{"with-mounts", "--inside"}, args...)...)
	}
	for place := range strings.SplitSeq(args[1], ",") {
		at, empty := strings.CutPrefix(place, "tmpfs:")
		var err error
		if empty {
			err = unix.Mount("tmpfs", at, "tmpfs", 0, "mode=0755")
		} else {
			err = unix.Mount(at, at, "", unix.MS_BIND, "")
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "stage: mount %s: %v\n", place, err)
			return 99
		}
	}
	return become(args[2:])
}

// Whatever is mounted below the directories of a system, a cell starts, shows what is
// there, and hides what is hidden. Containers always have such mounts.
func TestMountsBelow(t *testing.T) {
	t.Parallel()
	for name, places := range map[string][]string{
		"a file in /etc":              {"/etc/hosts"},
		"three files in /etc":         {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"},
		"a hidden file":               {"/etc/shadow", "/etc/gshadow"},
		"a directory in /etc":         {"/etc/ssl"},
		"an empty directory in /etc":  {"tmpfs:/etc/ssl"},
		"a directory below that":      {"/etc/ssl", "/etc/ssl/certs"},
		"a file among many":           {"/usr/bin/env"},
		"a directory in /usr":         {"/usr/share"},
		"nested in /usr":              {"/usr/lib", "/usr/share", "/usr/share/doc"},
		"in /var":                     {"/var/lib", "tmpfs:/var/cache"},
		"in /var, nested":             {"/var/lib", "/var/lib/dpkg"},
		"the home":                    {"HOME"},
		"a directory in the home":     {"HOME/.cache"},
		"a file in the home":          {"HOME/.profile"},
		"a hidden file in the home":   {"HOME/.ssh/id_ed25519"},
		"a hidden directory there":    {"HOME/.ssh"},
		"an empty directory in /home": {"tmpfs:/home"},
		"everything":                  {"/etc/hosts", "/etc/ssl", "/usr/bin/env", "/usr/share", "/var/lib", "HOME/.cache"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			for _, file := range []string{".cache/x", ".profile", ".ssh/id_ed25519"} {
				s.write("home/"+file, "secret\n")
			}
			var there []string
			for _, p := range places {
				p = strings.Replace(p, "HOME", s.home, 1)
				if _, err := os.Lstat(strings.TrimPrefix(p, "tmpfs:")); err != nil {
					t.Skipf("this machine has no %s", p)
				}
				there = append(there, p)
			}
			const look = `cat /etc/hosts >/dev/null && env true && git --version >/dev/null && ls /usr/share /var/lib >/dev/null && echo works
cat /etc/shadow /etc/gshadow ~/.ssh/id_ed25519 2>/dev/null; echo in place >src/a.txt`
			try := func(argv ...string) outcome {
				cmd := s.command()
				path, err := exec.LookPath("with-mounts")
				if err != nil {
					t.Fatal(err)
				}
				cmd.Path, cmd.Args = path, append([]string{"with-mounts", strings.Join(there, ",")}, argv...)
				return s.try(cmd)
			}
			if o := try("sh", "-c", look); o.code != 0 || !strings.HasPrefix(o.out, "works\n") || !strings.Contains(o.out, "secret") {
				t.Fatalf("without a cell: %+v", o)
			}
			s.git("reset", "-q", "--hard")
			o := try("cordon", "exec", "--", "sh", "-c", look)
			if o.code != 0 || o.out != "works\n" {
				t.Errorf("in a cell: %+v", o)
			}
			if text, err := os.ReadFile(filepath.Join(s.repo, "src/a.txt")); err != nil || string(text) != "in place\n" {
				t.Errorf("the tree was not written: %q, %v", text, err)
			}
		})
	}
}

// A worker starts although something is mounted in a cache of its home, and does without that cache.
func TestMountsBelowACache(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("home/.cache/mounted/x", "x\n")
	s.write("home/.cache/y", "y\n")
	path, err := exec.LookPath("with-mounts")
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"tmpfs:" + s.home + "/.cache", "tmpfs:" + s.home + "/.cache/mounted"} {
		cmd := s.command()
		cmd.Path, cmd.Args = path, []string{"with-mounts", place, "cordon", "run", "--no-merge", "--", "sh", "-c", "mkdir -p ~/.cache; echo new >~/.cache/new; cat ~/.cache/new"}
		if o := s.try(cmd); o.code != 0 || !strings.Contains(o.out, "new\n") {
			t.Errorf("%s: %+v", place, o)
		}
	}
}
