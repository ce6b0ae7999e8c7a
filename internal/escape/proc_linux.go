package escape

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procs are attempts on the kernel's own files: other processes, settings, logs.
func procs() []Attempt {
	list := []Attempt{
		{Name: "mem-write", What: "write the memory of a host process", Safe: true, attempt: attempt{
			prepare: startVictim, judge: remembered,
			attack: func(a *Arena) error { return a.write2("/proc/"+a.Args["victim"]+"/mem", victimAddress) },
		}},
		{Name: "mem-read", What: "read the memory of a host process", Safe: true, attempt: attempt{
			prepare: startVictim, judge: looted,
			attack: func(a *Arena) error { return a.leakAt("/proc/"+a.Args["victim"]+"/mem", victimAddress) },
		}},
		{Name: "environ", What: "read the environment of a host process", Safe: true, attempt: attempt{
			prepare: startVictim, judge: looted,
			attack: func(a *Arena) error { return a.leakFile("/proc/" + a.Args["victim"] + "/environ") },
		}},
		{Name: "cmdline", What: "read the arguments of every process", Safe: true, attempt: attempt{
			prepare: startVictim, judge: looted, attack: leakCommandLines,
		}},
		{Name: "fd-steal", What: "open a file through the descriptor of a host process", Safe: true, attempt: attempt{
			prepare: startVictim,
			attack: func(a *Arena) error {
				return a.write("/proc/" + a.Args["victim"] + "/fd/" + strconv.Itoa(victimFile))
			},
		}},
		{Name: "fd-walk", What: "open a file through the descriptors of any process that is seen", Safe: true, attempt: attempt{
			prepare: startVictim, attack: walkDescriptors,
		}},
		{Name: "cwd-walk", What: "climb out of the directory of any process that is seen", Safe: true, attempt: attempt{
			prepare: startVictim, attack: walkDirectories,
		}},
	}
	list = append(list, processFiles()...)
	list = append(list, settings()...)
	return append(list, kernelLog()...)
}

func (a *Arena) write2(path string, at int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(a.Mark), at)
	return errors.Join(err, f.Close())
}

func (a *Arena) leakAt(path string, at int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, 64)
	if _, err := f.ReadAt(b, at); err != nil {
		return err
	}
	return a.leak(b)
}

func pids() []string {
	entries, _ := os.ReadDir("/proc") // none: none is seen
	var list []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil {
			list = append(list, e.Name())
		}
	}
	return list
}

func leakCommandLines(a *Arena) error {
	for _, p := range pids() {
		if line, err := os.ReadFile("/proc/" + p + "/cmdline"); err == nil && strings.Contains(string(line), victimMode) {
			if err := a.leak(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkDescriptors opens, for writing, what other processes have open of the
// fixture; of nothing else, because the control does the same on the host.
func walkDescriptors(a *Arena) error {
	last := errors.New("nothing found")
	for _, p := range pids() {
		entries, _ := os.ReadDir("/proc/" + p + "/fd") // refused: on to the next
		for _, e := range entries {
			at := "/proc/" + p + "/fd/" + e.Name()
			to, err := os.Readlink(at)
			if err != nil || p == strconv.Itoa(os.Getpid()) {
				continue
			}
			switch {
			case to == a.out("file"):
				last = a.write(at)
			case to == a.Base || to == "/":
				last = each(func() error { return a.write(at + "/outside/file") }, func() error { return a.write(at + a.out("file")) })
			}
		}
	}
	return last
}

func walkDirectories(a *Arena) error {
	last := errors.New("nothing found")
	for _, p := range pids() {
		// On the host, only where the fixture's own processes are.
		if to, err := os.Readlink("/proc/" + p + "/cwd"); err != nil || to != "/" && !strings.HasPrefix(to, a.Base) {
			continue
		}
		for _, way := range []string{"/cwd/outside/file", "/cwd/../outside/file", "/cwd" + a.out("file")} {
			if err := a.write("/proc/" + p + way); err == nil || !errors.Is(err, unix.ENOENT) {
				last = err
			}
		}
	}
	return last
}

// processFiles are the writable files of a host process's directory.
func processFiles() []Attempt {
	var list []Attempt
	for _, p := range []struct {
		file, value string
		root        bool
	}{
		{"oom_score_adj", "500", false}, {"coredump_filter", "0x1", false}, {"timerslack_ns", "77777", true},
	} {
		prepare, judge := differs(func(f *Fixture) string { return f.victimLine(p.file, "") })
		list = append(list, Attempt{Name: strings.ReplaceAll(p.file, "_", "-"), What: "write " + p.file + " of a host process", Safe: true, Root: p.root,
			attempt: attempt{prepare: prepare, judge: judge, attack: func(a *Arena) error {
				return os.WriteFile("/proc/"+a.Args["victim"]+"/"+p.file, []byte(p.value), 0)
			}}})
	}
	return list
}

// settings are values of the kernel that the control changes for an instant. All
// are harmless at any value, and put back.
func settings() []Attempt {
	var list []Attempt
	for _, s := range []struct{ name, path, value string }{
		{"core-pattern", "/proc/sys/kernel/core_pattern", "core.%p"},
		{"sysctl-kernel", "/proc/sys/kernel/printk_ratelimit_burst", "11"},
		{"sysctl-vm", "/proc/sys/vm/stat_interval", "2"},
		{"sysctl-fs", "/proc/sys/fs/lease-break-time", "46"},
		{"sysctl-net", "/proc/sys/net/ipv4/igmp_max_msf", "11"},
		{"domain-name", "/proc/sys/kernel/domainname", "cordon.invalid"},
		{"sysfs", "/sys/kernel/mm/ksm/sleep_millisecs", "21"},
		{"sysfs-block", "/sys/block/loop0/queue/read_ahead_kb", "64"},
		{"thp", "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan", "4095"},
	} {
		list = append(list, Attempt{Name: s.name, What: "change " + s.path, Root: true, attempt: attempt{
			alone: true, tries: s.path,
			prepare: keep(s.path),
			attack:  func(*Arena) error { return os.WriteFile(s.path, []byte(s.value), 0) },
			judge:   setTo(s.path, s.value),
		}})
	}
	return append(list, Attempt{Name: "setdomainname", What: "change the host's domain name by system call", Root: true, attempt: attempt{
		alone: true, prepare: keep("/proc/sys/kernel/domainname"),
		attack: func(*Arena) error { return unix.Setdomainname([]byte("cordon.invalid")) },
		judge:  setTo("/proc/sys/kernel/domainname", "cordon.invalid"),
	}}, Attempt{Name: "cgroup-create", What: "create a control group of the host", Root: true, attempt: attempt{
		prepare: func(f *Fixture) error {
			root, err := cgroupRoot()
			f.Args["path"] = root + "/cordon-escape-" + random()
			f.onClose(func() { _ = unix.Rmdir(f.Args["path"]) })
			return err
		},
		attack: func(a *Arena) error { return os.Mkdir(a.Args["path"], 0o755) },
		judge:  existsOnHost,
	}})
}

func cgroupRoot() (string, error) {
	for _, d := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(d + "/cgroup.procs"); err == nil {
			return d, nil
		}
	}
	return "", errors.New("no cgroup v2 is mounted")
}

// keep puts a setting back afterwards.
func keep(path string) func(*Fixture) error {
	return func(f *Fixture) error {
		was, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f.onClose(func() {
			if err := os.WriteFile(path, []byte(strings.TrimSpace(string(was))), 0); err != nil {
				fmt.Fprintf(os.Stderr, "escape: %s could not be put back to %q: %v\n", path, was, err)
			}
		})
		return nil
	}
}

func setTo(path, value string) func(*Fixture) (string, error) {
	return func(*Fixture) (string, error) {
		is, err := os.ReadFile(path)
		if strings.TrimSpace(string(is)) == value {
			return path + " was changed", nil
		}
		return "", err
	}
}

// kernelLog are attempts to write and read the host's kernel log, and to have
// the kernel do something by a key.
func kernelLog() []Attempt {
	logged := func(text string) func(*Fixture) (string, error) {
		return func(f *Fixture) (string, error) {
			if n := strings.Count(readLog(), cmp.Or(text, f.Mark)); n > f.peaks["logged"] {
				return "the host's kernel log has the attack's line", nil
			}
			return "", nil
		}
	}
	return []Attempt{
		{Name: "kmsg-write", What: "write into the kernel log", Root: true, attempt: attempt{
			tries:  "/dev/kmsg",
			attack: func(a *Arena) error { return os.WriteFile("/dev/kmsg", []byte(a.Mark+"\n"), 0) },
			judge:  logged(""),
		}},
		{Name: "kmsg-read", What: "read the kernel log", Root: true, attempt: attempt{
			tries:   "/dev/kmsg",
			prepare: func(f *Fixture) error { return os.WriteFile("/dev/kmsg", []byte(f.Secret+"\n"), 0) },
			attack:  func(a *Arena) error { return a.leak([]byte(readLog())) },
			judge:   looted,
		}},
		{Name: "sysrq", What: "press a key of the kernel's own (help)", Root: true, attempt: attempt{
			alone: true, tries: "/proc/sysrq-trigger",
			prepare: func(f *Fixture) error { f.peaks["logged"] = strings.Count(readLog(), "sysrq: HELP"); return nil },
			attack:  func(*Arena) error { return os.WriteFile("/proc/sysrq-trigger", []byte("h"), 0) },
			judge:   logged("sysrq: HELP"),
		}},
	}
}

func readLog() string {
	const readAll = 3
	b := make([]byte, 1<<20)
	n, err := unix.Klogctl(readAll, b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}
