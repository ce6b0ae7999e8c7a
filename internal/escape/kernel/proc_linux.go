package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Procs are attempts on the kernel's own files: other processes, settings, logs.
func Procs() []arena.Attempt {
	list := []arena.Attempt{
		{Name: "mem-write", What: "write the memory of a host process", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeVictimMemory,
			Attack: func(a *arena.Arena) error {
				return writeMemory(a, "/proc/"+a.Args["victim"]+"/mem", arena.VictimAddress)
			},
		}},
		{Name: "mem-read", What: "read the memory of a host process", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeLoot,
			Attack: func(a *arena.Arena) error { return leakAt(a, "/proc/"+a.Args["victim"]+"/mem", arena.VictimAddress) },
		}},
		{Name: "environ", What: "read the environment of a host process", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeLoot,
			Attack: func(a *arena.Arena) error { return a.LeakFile("/proc/" + a.Args["victim"] + "/environ") },
		}},
		{Name: "cmdline", What: "read the arguments of every process", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeLoot, Attack: leakCommandLines,
		}},
		{Name: "fd-steal", What: "open a file through the descriptor of a host process", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim,
			Attack: func(a *arena.Arena) error {
				return a.Write("/proc/" + a.Args["victim"] + "/fd/" + strconv.Itoa(arena.VictimFile))
			},
		}},
		{Name: "fd-walk", What: "open a file through the descriptors of any process that is seen", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Attack: walkDescriptors,
		}},
		{Name: "cwd-walk", What: "climb out of the directory of any process that is seen", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Attack: walkDirectories,
		}},
	}
	list = append(list, processFiles()...)
	list = append(list, settings()...)
	return append(list, kernelLog()...)
}

func writeMemory(a *arena.Arena, path string, at int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(a.Mark), at)
	return errors.Join(err, f.Close())
}

func leakAt(a *arena.Arena, path string, at int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, 64)
	if _, err := f.ReadAt(b, at); err != nil {
		return err
	}
	return a.Leak(b)
}

func leakCommandLines(a *arena.Arena) error {
	for _, p := range arena.Pids() {
		if line, err := os.ReadFile("/proc/" + p + "/cmdline"); err == nil && strings.Contains(string(line), arena.VictimMode) {
			if err := a.Leak(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkDescriptors opens, for writing, what other processes have open of the
// fixture; of nothing else, because the control does the same on the host.
func walkDescriptors(a *arena.Arena) error {
	last := errors.New("nothing found")
	for _, p := range arena.Pids() {
		entries, _ := os.ReadDir("/proc/" + p + "/fd") // refused: on to the next
		for _, e := range entries {
			at := "/proc/" + p + "/fd/" + e.Name()
			to, err := os.Readlink(at)
			if err != nil || p == strconv.Itoa(os.Getpid()) {
				continue
			}
			switch {
			case to == a.Out("file"):
				last = a.Write(at)
			case to == a.Base || to == "/":
				last = arena.Each(func() error { return a.Write(at + "/outside/file") }, func() error { return a.Write(at + a.Out("file")) })
			}
		}
	}
	return last
}

func walkDirectories(a *arena.Arena) error {
	last := errors.New("nothing found")
	for _, p := range arena.Pids() {
		// On the host, only where the fixture's own processes are.
		if to, err := os.Readlink("/proc/" + p + "/cwd"); err != nil || to != "/" && !strings.HasPrefix(to, a.Base) {
			continue
		}
		for _, way := range []string{"/cwd/outside/file", "/cwd/../outside/file", "/cwd" + a.Out("file")} {
			if err := a.Write("/proc/" + p + way); err == nil || !errors.Is(err, unix.ENOENT) {
				last = err
			}
		}
	}
	return last
}

// processFiles are the writable files of a host process's directory.
func processFiles() []arena.Attempt {
	var list []arena.Attempt
	for _, p := range []struct {
		file, value string
		root        bool
	}{
		{"oom_score_adj", "500", false}, {"coredump_filter", "0x1", false}, {"timerslack_ns", "77777", true},
	} {
		prepare, judge := arena.JudgeVictimChange(func(f *arena.Fixture) string { return f.VictimLine(p.file, "") })
		list = append(list, arena.Attempt{Name: strings.ReplaceAll(p.file, "_", "-"), What: "write " + p.file + " of a host process", Safe: true, Root: p.root,
			Act: arena.Act{Prepare: prepare, Judge: judge, Attack: func(a *arena.Arena) error {
				return os.WriteFile("/proc/"+a.Args["victim"]+"/"+p.file, []byte(p.value), 0)
			}}})
	}
	return list
}

// settings are values of the kernel that the control changes for an instant. All
// are harmless at any value, and put back. Each run has a value of its own: what
// another run on this machine sets, in another container perhaps, is not its doing.
func settings() []arena.Attempt {
	var list []arena.Attempt
	for _, s := range []struct {
		name, path string
		value      func() string
	}{
		{"core-pattern", "/proc/sys/kernel/core_pattern", func() string { return "core.%p." + arena.RandomName() }},
		{"sysctl-kernel", "/proc/sys/kernel/printk_ratelimit_burst", from(11, 1)},
		{"sysctl-vm", "/proc/sys/vm/stat_interval", from(2, 1)},
		{"sysctl-fs", "/proc/sys/fs/lease-break-time", from(46, 1)},
		{"sysctl-net", "/proc/sys/net/ipv4/igmp_max_msf", from(11, 1)},
		{"domain-name", domainName, anyDomain},
		{"sysfs", "/sys/kernel/mm/ksm/sleep_millisecs", from(21, 1)},
		{"sysfs-block", "/sys/block/loop0/queue/read_ahead_kb", from(64, 4)},
		{"thp", "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan", from(4097, 1)},
	} {
		list = append(list, arena.Attempt{Name: s.name, What: "change " + s.path, Root: true, Act: arena.Act{
			Alone: true, Tries: s.path,
			Prepare: keep(s.path, s.value),
			Attack:  func(a *arena.Arena) error { return os.WriteFile(s.path, []byte(a.Args["value"]), 0) },
			Judge:   setTo(s.path),
		}})
	}
	return append(list, arena.Attempt{Name: "setdomainname", What: "change the host's domain name by system call", Root: true, Act: arena.Act{
		Alone: true, Prepare: keep(domainName, anyDomain), Attack: setDomainName, Judge: setTo(domainName),
	}}, arena.Attempt{Name: "cgroup-create", What: "create a control group of the host", Root: true, Act: arena.Act{
		Prepare: func(f *arena.Fixture) error {
			root, err := cgroupRoot()
			f.Args["path"] = root + "/cordon-escape-" + arena.RandomName()
			f.OnClose(func() { _ = unix.Rmdir(f.Args["path"]) })
			return err
		},
		Attack: func(a *arena.Arena) error { return os.Mkdir(a.Args["path"], 0o755) },
		Judge:  arena.JudgeExists,
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

const domainName = "/proc/sys/kernel/domainname"

func anyDomain() string { return arena.RandomName() + ".invalid" }

func setDomainName(a *arena.Arena) error { return unix.Setdomainname([]byte(a.Args["value"])) }

// from chooses one of a thousand numbers.
func from(least, step int) func() string {
	return func() string { return strconv.Itoa(least + step*rand.IntN(1000)) }
}

// keep chooses the value that the attack sets, and puts the setting back afterwards.
func keep(path string, value func() string) func(*arena.Fixture) error {
	return func(f *arena.Fixture) error {
		f.Args["value"] = value()
		was, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f.OnClose(func() {
			if err := os.WriteFile(path, []byte(strings.TrimSpace(string(was))), 0); err != nil {
				fmt.Fprintf(os.Stderr, "escape: %s could not be put back to %q: %v\n", path, was, err)
			}
		})
		return nil
	}
}

func setTo(path string) func(*arena.Fixture) (string, error) {
	return func(f *arena.Fixture) (string, error) {
		is, err := os.ReadFile(path)
		if strings.TrimSpace(string(is)) == f.Args["value"] {
			return path + " was changed", nil
		}
		return "", err
	}
}

// kernelLog are attempts to write and read the host's kernel log, and to have
// the kernel do something by a key.
func kernelLog() []arena.Attempt {
	logged := func(text string) func(*arena.Fixture) (string, error) {
		return func(f *arena.Fixture) (string, error) {
			if n := strings.Count(readLog(), cmp.Or(text, f.Mark)); n > f.Peaks["logged"] && f.Ended() == "done" {
				return "the host's kernel log has the attack's line", nil
			}
			return "", nil
		}
	}
	return []arena.Attempt{
		{Name: "kmsg-write", What: "write into the kernel log", Root: true, Act: arena.Act{
			Tries:  "/dev/kmsg",
			Attack: func(a *arena.Arena) error { return os.WriteFile("/dev/kmsg", []byte(a.Mark+"\n"), 0) },
			Judge:  logged(""),
		}},
		{Name: "kmsg-read", What: "read the kernel log", Root: true, Act: arena.Act{
			Tries:   "/dev/kmsg",
			Prepare: func(f *arena.Fixture) error { return os.WriteFile("/dev/kmsg", []byte(f.Secret+"\n"), 0) },
			Attack:  func(a *arena.Arena) error { return a.Leak([]byte(readLog())) },
			Judge:   arena.JudgeLoot,
		}},
		{Name: "sysrq", What: "press a key of the kernel's own (help)", Root: true, Act: arena.Act{
			Alone: true, Tries: "/proc/sysrq-trigger",
			Prepare: func(f *arena.Fixture) error { f.Peaks["logged"] = strings.Count(readLog(), "sysrq: HELP"); return nil },
			Attack:  func(*arena.Arena) error { return os.WriteFile("/proc/sysrq-trigger", []byte("h"), 0) },
			Judge:   logged("sysrq: HELP"),
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
