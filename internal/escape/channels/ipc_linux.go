package channels

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Ipc are attempts to speak with processes of the host. All are judged by whether
// the host received the attack's mark.
func Ipc() []arena.Attempt {
	var list []arena.Attempt
	for _, kind := range []string{"stream", "dgram", "seqpacket"} {
		for _, at := range []struct{ name, what, path string }{
			{"", "in a directory that can be seen", "outside/sock"},
			{"abstract-", "with no file", "@"},
			{"tree-", "in the tree", "work/sock"},
		} {
			list = append(list, arena.Attempt{Name: at.name + kind, What: "speak to a " + kind + " socket " + at.what, Safe: true, Act: arena.Act{
				Prepare: arena.ListenAt(kind, at.path), Attack: speak, Judge: arena.JudgeReceived,
			}})
		}
	}
	for _, at := range []struct{ name, path string }{
		{"docker", "home/.docker/run/docker.sock"}, {"gpg-agent", "home/.gnupg/S.gpg-agent"}, {"home", "home/.cache/app.sock"},
	} {
		list = append(list, arena.Attempt{Name: "socket-" + at.name, What: "speak to the socket ~/" + strings.TrimPrefix(at.path, "home/"), Safe: true, Act: arena.Act{
			Prepare: arena.ListenAt("stream", at.path), Attack: speak, Judge: arena.JudgeReceived,
		}})
	}
	for _, dir := range []struct {
		path string
		root bool
	}{{"/tmp", false}, {"/var/tmp", false}, {"/dev/shm", false}, {"/run", true}, {"/var/run", true}, {"/var/lib", true}, {"/srv", true}} {
		list = append(list, arena.Attempt{Name: "socket-in" + strings.ReplaceAll(dir.path, "/", "-"), What: "speak to a socket in " + dir.path, Safe: true, Root: dir.root, Act: arena.Act{
			Tries: dir.path, Attack: speak, Judge: arena.JudgeReceived,
			Prepare: func(f *arena.Fixture) error {
				return f.ListenUnix("stream", filepath.Join(dir.path, "cordon-escape."+arena.RandomName()))
			},
		}})
	}
	list = append(list, otherWays()...)
	list = append(list, systemV()...)
	return append(append(list, queues()...), keyrings()...)
}

// speak sends the mark to the fixture's socket.
func speak(a *arena.Arena) error {
	fd, err := unix.Socket(unix.AF_UNIX, arena.SocketKinds[a.Args["kind"]]|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: a.Args["socket"]}); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	_, err = unix.Write(fd, []byte(a.Mark))
	return err
}

// otherWays do not call connect, or not on a name that is seen.
func otherWays() []arena.Attempt {
	row := func(name, what, kind string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{Prepare: arena.ListenAt(kind, "outside/sock"), Attack: attack, Judge: arena.JudgeReceived}}
	}
	return []arena.Attempt{
		row("sendto", "send a datagram to a name without connecting", "dgram", func(a *arena.Arena) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(fd, []byte(a.Mark), 0, &unix.SockaddrUnix{Name: a.Args["socket"]})
		}),
		row("socketpair-sendmsg", "send from a socket pair to a name", "dgram", func(a *arena.Arena) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Sendmsg(pair[0], []byte(a.Mark), nil, &unix.SockaddrUnix{Name: a.Args["socket"]}, 0)
		}),
		row("symlink", "speak to a socket through a link in the tree", "stream", func(a *arena.Arena) error {
			if err := os.Symlink(a.Args["socket"], a.In("way")); err != nil {
				return err
			}
			a.Args["socket"] = a.In("way")
			return speak(a)
		}),
		row("hard-link", "link a socket into the tree", "stream", func(a *arena.Arena) error {
			if err := os.Link(a.Args["socket"], a.In("way")); err != nil {
				return err
			}
			a.Args["socket"] = a.In("way")
			return speak(a)
		}),
		row("proc-root", "speak to a socket through /proc/self/root", "stream", func(a *arena.Arena) error {
			a.Args["socket"] = "/proc/self/root" + a.Args["socket"]
			if len(a.Args["socket"]) > 107 {
				if err := os.Chdir("/proc/self/root" + a.Outside); err != nil {
					return err
				}
				a.Args["socket"] = "sock"
			}
			return speak(a)
		}),
		{Name: "agent-variable", What: "speak to the agent that SSH_AUTH_SOCK names", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := f.ListenUnix("stream", filepath.Join(os.TempDir(), "agent."+arena.RandomName())); err != nil {
					return err
				}
				f.Env = append(f.Env, "SSH_AUTH_SOCK="+f.Args["socket"])
				return nil
			},
			Attack: func(a *arena.Arena) error {
				if s := os.Getenv("SSH_AUTH_SOCK"); s != "" {
					a.Args["socket"] = s
				}
				return speak(a)
			},
			Judge: arena.JudgeReceived,
		}},
		{Name: "inherited-socket-directory", What: "speak to a socket from a directory that is standard input", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				return errors.Join(arena.ListenAt("stream", "outside/sock")(f), arena.Standard(0, ".", os.O_RDONLY)(f))
			},
			Attack: func(a *arena.Arena) error {
				if err := unix.Fchdir(0); err != nil {
					return err
				}
				a.Args["socket"] = "sock"
				return speak(a)
			},
			Judge: arena.JudgeReceived,
		}},
	}
}

// keyrings are attempts through the kernel's store of keys.
func keyrings() []arena.Attempt {
	const userRing, sessionRing = -4, -5
	search := func(name, what string, ring int) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				f.Args["key"] = "cordon-escape-" + arena.RandomName()
				id, err := unix.AddKey("user", f.Args["key"], []byte(f.Secret), ring)
				f.OnClose(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0) })
				f.Args["id"] = strconv.Itoa(id)
				return err
			},
			Attack: func(a *arena.Arena) error {
				id, err := unix.KeyctlSearch(ring, "user", a.Args["key"], 0)
				if err != nil {
					id = a.Number("id")
				}
				b := make([]byte, 64)
				n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b, 0)
				if err != nil {
					return err
				}
				return a.Leak(b[:n])
			},
			Judge: arena.JudgeLoot,
		}}
	}
	return []arena.Attempt{
		search("key-user", "read a key of the user's keyring", userRing),
		search("key-session", "read a key of the user's session keyring", sessionRing),
		{Name: "key-add", What: "put a key into the user's keyring", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { f.Args["key"] = "cordon-escape-" + arena.RandomName(); return nil },
			Attack: func(a *arena.Arena) error {
				_, err := unix.AddKey("user", a.Args["key"], []byte(a.Mark), userRing)
				return err
			},
			Judge: func(f *arena.Fixture) (string, error) {
				id, err := unix.KeyctlSearch(userRing, "user", f.Args["key"], 0)
				if err != nil {
					return "", nil
				}
				_, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0) // it goes with the user's last process at the latest
				return "the host's keyring has a new key", nil
			},
		}},
		{Name: "key-names", What: "list the keys of the host", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				id, err := unix.AddKey("user", f.Secret, []byte("x"), userRing)
				f.OnClose(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0) })
				return err
			},
			Attack: func(a *arena.Arena) error { return a.LeakFile("/proc/keys") },
			Judge:  arena.JudgeLoot,
		}},
	}
}
