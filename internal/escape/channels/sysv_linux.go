package channels

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// systemV are attempts through the oldest kind of shared objects.
func systemV() []arena.Attempt {
	return []arena.Attempt{
		{Name: "sysv-shm", What: "write shared memory of the host", Safe: true, Act: arena.Act{
			Prepare: arena.MakeSharedMemory, Attack: arena.WriteSharedMemory, Judge: arena.JudgeSharedMemory,
		}},
		{Name: "sysv-sem", What: "set a semaphore of the host", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				id, err := arena.Call(unix.SYS_SEMGET, f.NewKey(), 1, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
				f.OnClose(func() { _, _ = arena.Call(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) })
				f.Peaks["id"] = int(id)
				return err
			},
			Attack: func(a *arena.Arena) error {
				id, err := arena.Call(unix.SYS_SEMGET, a.Number("key"), 1, 0)
				if err != nil {
					return err
				}
				_, err = arena.Call(unix.SYS_SEMCTL, id, 0, semSetValue, 7)
				return err
			},
			Judge: func(f *arena.Fixture) (string, error) {
				n, err := arena.Call(unix.SYS_SEMCTL, f.Peaks["id"], 0, semGetValue)
				if n == 7 {
					return "the semaphore was set", nil
				}
				return "", err
			},
		}},
		{Name: "sysv-msg", What: "send a message to a queue of the host", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				id, err := arena.Call(unix.SYS_MSGGET, f.NewKey(), unix.IPC_CREAT|unix.IPC_EXCL|0o600)
				f.OnClose(func() { _, _ = arena.Call(unix.SYS_MSGCTL, id, unix.IPC_RMID, nil) })
				f.Peaks["id"] = int(id)
				return err
			},
			Attack: func(a *arena.Arena) error {
				id, err := arena.Call(unix.SYS_MSGGET, a.Number("key"), 0)
				if err != nil {
					return err
				}
				_, err = arena.Call(unix.SYS_MSGSND, id, append(arena.Words(uint64(1)), a.Mark...), len(a.Mark), unix.IPC_NOWAIT)
				return err
			},
			Judge: func(f *arena.Fixture) (string, error) {
				b := make([]byte, 128)
				if _, err := arena.Call(unix.SYS_MSGRCV, f.Peaks["id"], b, 100, 0, unix.IPC_NOWAIT); err == nil && strings.Contains(string(b), f.Mark) {
					return "the host received the attack's message", nil
				}
				return "", nil
			},
		}},
		{Name: "sysv-names", What: "list shared memory of the host", Safe: true, Act: arena.Act{
			Prepare: arena.MakeSharedMemory,
			Attack:  func(a *arena.Arena) error { return a.LeakFile("/proc/sysvipc/shm") },
			Judge:   func(f *arena.Fixture) (string, error) { return f.Obtained(f.Args["key"]) },
		}},
	}
}

const (
	semSetValue = 16
	semGetValue = 12
)

// queues are the newer kind: message queues and shared memory by name.
func queues() []arena.Attempt {
	return []arena.Attempt{
		{Name: "posix-mq", What: "send a message to a named queue of the host", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				f.Args["queue"] = "cordon-escape-" + arena.RandomName()
				attr := arena.Words(uint64(0), 4, 128, 0, 0, 0, 0, 0)
				fd, err := arena.Call(unix.SYS_MQ_OPEN, f.Args["queue"], unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600, attr)
				f.Peaks["id"] = int(fd)
				f.OnClose(func() {
					_, _ = arena.Call(unix.SYS_MQ_UNLINK, f.Args["queue"])
					_ = unix.Close(int(fd))
				})
				return err
			},
			Attack: func(a *arena.Arena) error {
				fd, err := arena.Call(unix.SYS_MQ_OPEN, a.Args["queue"], unix.O_WRONLY|unix.O_NONBLOCK, 0, nil)
				if err != nil {
					return err
				}
				_, err = arena.Call(unix.SYS_MQ_TIMEDSEND, fd, []byte(a.Mark), len(a.Mark), 0, nil)
				return err
			},
			Judge: func(f *arena.Fixture) (string, error) {
				b := make([]byte, 128)
				if _, err := arena.Call(unix.SYS_MQ_TIMEDRECEIVE, f.Peaks["id"], b, len(b), nil, nil); err == nil && strings.Contains(string(b), f.Mark) {
					return "the host received the attack's message", nil
				}
				return "", nil
			},
		}},
		{Name: "posix-shm", What: "write named shared memory of the host", Safe: true, Act: arena.Act{
			Tries: "/dev/shm",
			Prepare: func(f *arena.Fixture) error {
				f.Args["path"] = "/dev/shm/cordon-escape-" + arena.RandomName()
				f.OnClose(func() { _ = os.Remove(f.Args["path"]) })
				return os.WriteFile(f.Args["path"], []byte("the operator's"), 0o600)
			},
			Attack: func(a *arena.Arena) error { return a.Write(a.Args["path"]) },
			Judge: func(f *arena.Fixture) (string, error) {
				text, err := os.ReadFile(f.Args["path"])
				if err == nil && strings.HasPrefix(string(text), f.Mark) {
					return "the shared memory was written", nil
				}
				return "", errors.Join(err)
			},
		}},
	}
}
