package testnet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command starts this program again as stage, a name by which it calls Enter, in
// namespaces of its own. There it becomes itself with args. As root it stays root;
// anybody else has a user namespace, and nothing to say in it when the test runs.
func Command(stage, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{stage, dir}, args...)
	cmd.Env = append(os.Environ(), dirVariable+"="+dir)
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER}
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
	return cmd
}

// Enter prepares the namespaces and becomes the program of the arguments, which is
// this one by another name. It returns only when that fails.
func Enter(args []string) int {
	dir := args[0]
	for _, step := range []func() error{
		func() error { return mounts(dir) },
		func() error { return linkUp("lo") },
		addresses, settings,
	} {
		if err := step(); err != nil {
			fmt.Fprintln(os.Stderr, "testnet:", err)
			return 99
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "testnet:", err)
		return 99
	}
	fmt.Fprintln(os.Stderr, "testnet:", syscall.Exec("/proc/self/exe", args[1:], os.Environ()))
	return 99
}

// mounts puts a /etc and a /run of the test's in the place of the host's. The
// first is the host's own with a layer that the user owns, so that programs find
// what they need and the test can change what it likes.
func mounts(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	if err := layer(dir); err != nil {
		return err
	}
	options := fmt.Sprintf("userxattr,lowerdir=/etc,upperdir=%s/etc,workdir=%[1]s/work", dir)
	if err := unix.Mount("overlay", "/etc", "overlay", 0, options); err != nil {
		return fmt.Errorf("overlay at /etc: %w", err)
	}
	run := filepath.Join(dir, "run")
	if err := os.MkdirAll(filepath.Join(run, "sshd"), 0o755); err != nil {
		return err
	}
	return unix.Mount(run, "/run", "", unix.MS_BIND, "")
}

// layer writes what is the test's own in /etc.
func layer(dir string) error {
	for _, d := range []string{"etc/ssl/certs", "etc/testnet", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	ca, err := writeAuthority(filepath.Join(dir, "ca"))
	if err != nil {
		return err
	}
	known, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for name, text := range map[string][]byte{
		"ssl/certs/ca-certificates.crt": append(known, ca...),
		"testnet/ca.pem":                ca,
		"resolv.conf":                   []byte("nameserver 127.0.0.1\n"),
		"hosts":                         []byte("127.0.0.1 localhost\n::1 localhost ip6-localhost\n"),
		"nsswitch.conf":                 []byte("passwd: files\ngroup: files\nhosts: files dns\n"),
		"passwd":                        users(),
	} {
		if err := os.WriteFile(filepath.Join(dir, "etc", name), text, 0o644); err != nil {
			return err
		}
	}
	return copyProgram(filepath.Join(dir, "etc/testnet/probe"))
}

// users are the host's, but that ours may log in.
func users() []byte {
	known, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(known)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(os.Getuid()) {
			fields[6] = "/bin/sh"
		}
		lines = append(lines, strings.Join(fields, ":"))
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func copyProgram(to string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// settings let an ordinary user be every server, and send echo requests.
func settings() error {
	group := strconv.Itoa(os.Getgid())
	for name, value := range map[string]string{
		"ip_unprivileged_port_start": "0",
		"ping_group_range":           group + " " + group,
	} {
		file := "/proc/sys/net/ipv4/" + name
		if err := os.WriteFile(file, []byte(value), 0); err != nil {
			return err
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Contains(got, []byte(strings.Fields(value)[0])) {
			return fmt.Errorf("%s is %q: %v", file, got, err)
		}
	}
	return nil
}
