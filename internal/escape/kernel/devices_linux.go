package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Devices are attempts to reach the machine through its devices.
func Devices() []arena.Attempt {
	list := []arena.Attempt{
		{Name: "mknod", What: "make a device node in the tree", Safe: true, Root: true, Act: arena.Act{
			Attack: func(a *arena.Arena) error { return unix.Mknod(a.In("node"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) },
			Judge: func(f *arena.Fixture) (string, error) {
				if st, err := os.Lstat(f.In("node")); err == nil && st.Mode()&os.ModeDevice != 0 {
					return "there is a device node in the tree", nil
				}
				return "", nil
			},
		}},
		{Name: "disk-node", What: "read a disk through a device node of one's own", Root: true, Act: arena.Act{
			Tries: "/dev/loop-control", Prepare: makeDisk, Attack: readOwnNode, Judge: arena.JudgeLoot, Alone: true,
		}},
		{Name: "disk", What: "read a disk through /dev", Root: true, Act: arena.Act{
			Tries: "/dev/loop-control", Prepare: makeDisk, Judge: arena.JudgeLoot, Alone: true,
			Attack: func(a *arena.Arena) error { return leakBlock(a, a.Args["disk"]) },
		}},
		{Name: "loop", What: "attach a loop device to a file of the tree", Root: true, Act: arena.Act{
			Tries: "/dev/loop-control", Prepare: detachLoop, Judge: loopAttached, Alone: true,
			Attack: func(a *arena.Arena) error {
				if err := os.Truncate(a.In("own"), 1<<20); err != nil {
					return err
				}
				_, err := attachLoop(a.In("own"))
				return err
			},
		}},
		{Name: "tun", What: "make a network interface of the host", Root: true, Act: arena.Act{
			Tries: "/dev/net/tun",
			Prepare: func(f *arena.Fixture) error {
				f.Args["name"] = "cdn" + arena.RandomName()[:8]
				f.OnClose(func() { _ = tun(f.Args["name"], 0) })
				return nil
			},
			Attack: func(a *arena.Arena) error { return tun(a.Args["name"], 1) },
			Judge: func(f *arena.Fixture) (string, error) {
				if _, err := os.Stat("/sys/class/net/" + f.Args["name"]); err == nil {
					return "the host has a new network interface", nil
				}
				return "", nil
			},
		}},
	}
	for _, d := range []string{"/dev/kvm", "/dev/fuse", "/dev/vsock", "/dev/kmsg", "/dev/loop-control", "/dev/hwrng", "/dev/tty1", "/dev/vcs1", "/dev/userfaultfd", "/dev/btrfs-control", "/dev/cpu_dma_latency"} {
		list = append(list, arena.Attempt{Name: "open-" + filepath.Base(d), What: "open " + d, Safe: true, Root: d != "/dev/fuse" && d != "/dev/kvm", Act: arena.Act{
			Tries: d, Judge: arena.JudgeObtained("opened device"),
			Attack: func(a *arena.Arena) error {
				fd, err := unix.Open(d, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
				if err != nil {
					return err
				}
				var st unix.Stat_t
				if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
					return fmt.Errorf("it is no device: %w", err)
				}
				return a.Leak([]byte("opened device"))
			},
		}})
	}
	return list
}

// makeDisk attaches a loop device to a file with the secret: a disk of the host
// that holds nothing of the operator's.
func makeDisk(f *arena.Fixture) error {
	if err := detachLoop(f); err != nil {
		return err
	}
	if err := f.Put("outside/disk", f.Secret+strings.Repeat("\x00", 1<<20), 0o600); err != nil {
		return err
	}
	at, err := attachLoop(f.Out("disk"))
	if err != nil {
		return err
	}
	f.Args["disk"] = at
	var st unix.Stat_t
	err = unix.Stat(at, &st)
	f.Args["number"] = strconv.Itoa(int(st.Rdev))
	return err
}

func leakBlock(a *arena.Arena, path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return a.LeakFd(fd)
}

func readOwnNode(a *arena.Arena) error {
	if err := unix.Mknod(a.In("node"), unix.S_IFBLK|0o600, a.Number("number")); err != nil {
		return err
	}
	return leakBlock(a, a.In("node"))
}

// attachLoop attaches a file to a free loop device.
func attachLoop(path string) (string, error) {
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(control)
	n, err := unix.IoctlRetInt(control, unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return "", err
	}
	at := fmt.Sprintf("/dev/loop%d", n)
	loop, err := unix.Open(at, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(loop)
	file, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(file)
	return at, unix.IoctlSetInt(loop, unix.LOOP_SET_FD, file)
}

func attached(f *arena.Fixture) string {
	names, _ := filepath.Glob("/sys/block/loop*/loop/backing_file") // the pattern is good
	for _, n := range names {
		if to, err := os.ReadFile(n); err == nil && strings.HasPrefix(string(to), f.Base) {
			return "/dev/" + strings.Split(n, "/")[3]
		}
	}
	return ""
}

func loopAttached(f *arena.Fixture) (string, error) {
	if dev := attached(f); dev != "" {
		return dev + " is attached to a file of the tree", nil
	}
	return "", nil
}

func detachLoop(f *arena.Fixture) error {
	f.OnClose(func() {
		if dev := attached(f); dev != "" {
			if fd, err := unix.Open(dev, unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
				_ = unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0) // the next use of it would say so
				unix.Close(fd)
			}
		}
	})
	return nil
}

// tun makes an interface that stays, or takes it away again.
func tun(name string, persist int) error {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, r); err != nil {
		return err
	}
	return unix.IoctlSetInt(fd, unix.TUNSETPERSIST, persist)
}
