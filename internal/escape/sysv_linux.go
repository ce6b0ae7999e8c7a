package escape

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemV are attempts through the oldest kind of shared objects.
func systemV() []Attempt {
	return []Attempt{
		{Name: "sysv-shm", What: "write shared memory of the host", Safe: true, attempt: attempt{
			prepare: makeSharedMemory, attack: writeSharedMemory, judge: sharedMemoryChanged,
		}},
		{Name: "sysv-sem", What: "set a semaphore of the host", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				id, err := call(unix.SYS_SEMGET, f.newKey(), 1, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
				f.onClose(func() { _, _ = call(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) })
				f.peaks["id"] = int(id)
				return err
			},
			attack: func(a *Arena) error {
				id, err := call(unix.SYS_SEMGET, a.number("key"), 1, 0)
				if err != nil {
					return err
				}
				_, err = call(unix.SYS_SEMCTL, id, 0, semSetValue, 7)
				return err
			},
			judge: func(f *Fixture) (string, error) {
				n, err := call(unix.SYS_SEMCTL, f.peaks["id"], 0, semGetValue)
				if n == 7 {
					return "the semaphore was set", nil
				}
				return "", err
			},
		}},
		{Name: "sysv-msg", What: "send a message to a queue of the host", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				id, err := call(unix.SYS_MSGGET, f.newKey(), unix.IPC_CREAT|unix.IPC_EXCL|0o600)
				f.onClose(func() { _, _ = call(unix.SYS_MSGCTL, id, unix.IPC_RMID, nil) })
				f.peaks["id"] = int(id)
				return err
			},
			attack: func(a *Arena) error {
				id, err := call(unix.SYS_MSGGET, a.number("key"), 0)
				if err != nil {
					return err
				}
				_, err = call(unix.SYS_MSGSND, id, append(words(uint64(1)), a.Mark...), len(a.Mark), unix.IPC_NOWAIT)
				return err
			},
			judge: func(f *Fixture) (string, error) {
				b := make([]byte, 128)
				if _, err := call(unix.SYS_MSGRCV, f.peaks["id"], b, 100, 0, unix.IPC_NOWAIT); err == nil && strings.Contains(string(b), f.Mark) {
					return "the host received the attack's message", nil
				}
				return "", nil
			},
		}},
		{Name: "sysv-names", What: "list shared memory of the host", Safe: true, attempt: attempt{
			prepare: makeSharedMemory,
			attack:  func(a *Arena) error { return a.leakFile("/proc/sysvipc/shm") },
			judge:   func(f *Fixture) (string, error) { return f.obtained(f.Args["key"]) },
		}},
	}
}

const (
	semSetValue = 16
	semGetValue = 12
)

// newKey is a key that nobody else uses.
func (f *Fixture) newKey() int {
	n, err := strconv.ParseUint("1"+random()[:6], 16, 31)
	if err != nil {
		panic(err) // it is hexadecimal
	}
	f.Args["key"] = fmt.Sprint(n)
	return int(n)
}

func makeSharedMemory(f *Fixture) error {
	id, err := unix.SysvShmGet(f.newKey(), 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	f.onClose(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	f.peaks["id"] = id
	return err
}

func writeSharedMemory(a *Arena) error {
	id, err := unix.SysvShmGet(a.number("key"), 4096, 0)
	if err != nil {
		return err
	}
	m, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return err
	}
	copy(m, a.Mark)
	return unix.SysvShmDetach(m)
}

func sharedMemoryChanged(f *Fixture) (string, error) {
	m, err := unix.SysvShmAttach(f.peaks["id"], 0, unix.SHM_RDONLY)
	if err != nil {
		return "", err
	}
	defer unix.SysvShmDetach(m)
	if strings.HasPrefix(string(m), f.Mark) {
		return "the shared memory was written", nil
	}
	return "", nil
}

// queues are the newer kind: message queues and shared memory by name.
func queues() []Attempt {
	return []Attempt{
		{Name: "posix-mq", What: "send a message to a named queue of the host", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				f.Args["queue"] = "cordon-escape-" + random()
				attr := words(uint64(0), 4, 128, 0, 0, 0, 0, 0)
				fd, err := call(unix.SYS_MQ_OPEN, f.Args["queue"], unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600, attr)
				f.peaks["id"] = int(fd)
				f.onClose(func() {
					_, _ = call(unix.SYS_MQ_UNLINK, f.Args["queue"])
					_ = unix.Close(int(fd))
				})
				return err
			},
			attack: func(a *Arena) error {
				fd, err := call(unix.SYS_MQ_OPEN, a.Args["queue"], unix.O_WRONLY|unix.O_NONBLOCK, 0, nil)
				if err != nil {
					return err
				}
				_, err = call(unix.SYS_MQ_TIMEDSEND, fd, []byte(a.Mark), len(a.Mark), 0, nil)
				return err
			},
			judge: func(f *Fixture) (string, error) {
				b := make([]byte, 128)
				if _, err := call(unix.SYS_MQ_TIMEDRECEIVE, f.peaks["id"], b, len(b), nil, nil); err == nil && strings.Contains(string(b), f.Mark) {
					return "the host received the attack's message", nil
				}
				return "", nil
			},
		}},
		{Name: "posix-shm", What: "write named shared memory of the host", Safe: true, attempt: attempt{
			tries: "/dev/shm",
			prepare: func(f *Fixture) error {
				f.Args["path"] = "/dev/shm/cordon-escape-" + random()
				f.onClose(func() { _ = os.Remove(f.Args["path"]) })
				return os.WriteFile(f.Args["path"], []byte("the operator's"), 0o600)
			},
			attack: func(a *Arena) error { return a.write(a.Args["path"]) },
			judge: func(f *Fixture) (string, error) {
				text, err := os.ReadFile(f.Args["path"])
				if err == nil && strings.HasPrefix(string(text), f.Mark) {
					return "the shared memory was written", nil
				}
				return "", errors.Join(err)
			},
		}},
	}
}
