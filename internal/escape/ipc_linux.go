package escape

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ipc are attempts to speak with processes of the host. All are judged by whether
// the host received the attack's mark.
func ipc() []Attempt {
	var list []Attempt
	for _, kind := range []string{"stream", "dgram", "seqpacket"} {
		for _, at := range []struct{ name, what, path string }{
			{"", "in a directory that can be seen", "outside/sock"},
			{"abstract-", "with no file", "@"},
			{"tree-", "in the tree", "work/sock"},
		} {
			list = append(list, Attempt{Name: at.name + kind, What: "speak to a " + kind + " socket " + at.what, Safe: true, attempt: attempt{
				prepare: listenAt(kind, at.path), attack: speak, judge: told,
			}})
		}
	}
	for _, at := range []struct{ name, path string }{
		{"docker", "home/.docker/run/docker.sock"}, {"gpg-agent", "home/.gnupg/S.gpg-agent"}, {"home", "home/.cache/app.sock"},
	} {
		list = append(list, Attempt{Name: "socket-" + at.name, What: "speak to the socket ~/" + strings.TrimPrefix(at.path, "home/"), Safe: true, attempt: attempt{
			prepare: listenAt("stream", at.path), attack: speak, judge: told,
		}})
	}
	for _, dir := range []struct {
		path string
		root bool
	}{{"/tmp", false}, {"/var/tmp", false}, {"/dev/shm", false}, {"/run", true}, {"/var/run", true}, {"/var/lib", true}, {"/srv", true}} {
		list = append(list, Attempt{Name: "socket-in" + strings.ReplaceAll(dir.path, "/", "-"), What: "speak to a socket in " + dir.path, Safe: true, Root: dir.root, attempt: attempt{
			tries: dir.path, attack: speak, judge: told,
			prepare: func(f *Fixture) error {
				return f.listenUnix("stream", filepath.Join(dir.path, "cordon-escape."+random()))
			},
		}})
	}
	list = append(list, otherWays()...)
	list = append(list, systemV()...)
	return append(append(list, queues()...), keyrings()...)
}

// listenAt serves a socket below the base, or an abstract one.
func listenAt(kind, at string) func(*Fixture) error {
	return func(f *Fixture) error {
		if at == "@" {
			return f.listenUnix(kind, "@cordon-escape-"+random())
		}
		path := filepath.Join(f.Base, at)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return f.listenUnix(kind, path)
	}
}

var kinds = map[string]int{"stream": unix.SOCK_STREAM, "dgram": unix.SOCK_DGRAM, "seqpacket": unix.SOCK_SEQPACKET}

// listenUnix serves a unix socket until the fixture is closed.
func (f *Fixture) listenUnix(kind, name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, kinds[kind]|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f.onClose(func() { unix.Close(fd) })
	if !strings.HasPrefix(name, "@") {
		f.onClose(func() { _ = os.Remove(name) })
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: name}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.Args["socket"], f.Args["kind"] = name, kind
	if kind != "dgram" {
		err = unix.Listen(fd, 8)
	}
	f.serve(fd, kind != "dgram")
	return err
}

// serve collects what arrives at a socket. It polls, so that closing ends it.
func (f *Fixture) serve(fd int, accept bool) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	f.onClose(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		b := make([]byte, 4096)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if n, err := unix.Poll(fds, 20); err != nil || n == 0 {
				continue
			}
			for i, p := range fds {
				switch {
				case p.Revents == 0:
				case i == 0 && accept:
					if c, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC); err == nil {
						defer unix.Close(c)
						fds = append(fds, unix.PollFd{Fd: int32(c), Events: unix.POLLIN})
					}
				default:
					if n, err := unix.Read(int(p.Fd), b); err == nil && n > 0 {
						f.receive(b[:n])
					} else if i > 0 {
						fds[i].Fd = -1
					}
				}
			}
		}
	}()
}

// speak sends the mark to the fixture's socket.
func speak(a *Arena) error {
	fd, err := unix.Socket(unix.AF_UNIX, kinds[a.Args["kind"]]|unix.SOCK_CLOEXEC, 0)
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
func otherWays() []Attempt {
	row := func(name, what, kind string, attack func(*Arena) error) Attempt {
		return Attempt{Name: name, What: what, Safe: true, attempt: attempt{prepare: listenAt(kind, "outside/sock"), attack: attack, judge: told}}
	}
	return []Attempt{
		row("sendto", "send a datagram to a name without connecting", "dgram", func(a *Arena) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(fd, []byte(a.Mark), 0, &unix.SockaddrUnix{Name: a.Args["socket"]})
		}),
		row("socketpair-sendmsg", "send from a socket pair to a name", "dgram", func(a *Arena) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Sendmsg(pair[0], []byte(a.Mark), nil, &unix.SockaddrUnix{Name: a.Args["socket"]}, 0)
		}),
		row("symlink", "speak to a socket through a link in the tree", "stream", func(a *Arena) error {
			if err := os.Symlink(a.Args["socket"], a.in("way")); err != nil {
				return err
			}
			a.Args["socket"] = a.in("way")
			return speak(a)
		}),
		row("hard-link", "link a socket into the tree", "stream", func(a *Arena) error {
			if err := os.Link(a.Args["socket"], a.in("way")); err != nil {
				return err
			}
			a.Args["socket"] = a.in("way")
			return speak(a)
		}),
		row("proc-root", "speak to a socket through /proc/self/root", "stream", func(a *Arena) error {
			a.Args["socket"] = "/proc/self/root" + a.Args["socket"]
			if len(a.Args["socket"]) > 107 {
				if err := os.Chdir("/proc/self/root" + a.Outside); err != nil {
					return err
				}
				a.Args["socket"] = "sock"
			}
			return speak(a)
		}),
		{Name: "agent-variable", What: "speak to the agent that SSH_AUTH_SOCK names", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				if err := f.listenUnix("stream", filepath.Join(os.TempDir(), "agent."+random())); err != nil {
					return err
				}
				f.env = append(f.env, "SSH_AUTH_SOCK="+f.Args["socket"])
				return nil
			},
			attack: func(a *Arena) error {
				if s := os.Getenv("SSH_AUTH_SOCK"); s != "" {
					a.Args["socket"] = s
				}
				return speak(a)
			},
			judge: told,
		}},
		{Name: "inherited-socket-directory", What: "speak to a socket from a directory that is standard input", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				return errors.Join(listenAt("stream", "outside/sock")(f), standard(0, ".", os.O_RDONLY)(f))
			},
			attack: func(a *Arena) error {
				if err := unix.Fchdir(0); err != nil {
					return err
				}
				a.Args["socket"] = "sock"
				return speak(a)
			},
			judge: told,
		}},
	}
}

// keyrings are attempts through the kernel's store of keys.
func keyrings() []Attempt {
	const userRing, sessionRing = -4, -5
	search := func(name, what string, ring int) Attempt {
		return Attempt{Name: name, What: what, Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				f.Args["key"] = "cordon-escape-" + random()
				id, err := unix.AddKey("user", f.Args["key"], []byte(f.Secret), ring)
				f.onClose(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0) })
				f.Args["id"] = strconv.Itoa(id)
				return err
			},
			attack: func(a *Arena) error {
				id, err := unix.KeyctlSearch(ring, "user", a.Args["key"], 0)
				if err != nil {
					id = a.number("id")
				}
				b := make([]byte, 64)
				n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b, 0)
				if err != nil {
					return err
				}
				return a.leak(b[:n])
			},
			judge: looted,
		}}
	}
	return []Attempt{
		search("key-user", "read a key of the user's keyring", userRing),
		search("key-session", "read a key of the user's session keyring", sessionRing),
		{Name: "key-add", What: "put a key into the user's keyring", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { f.Args["key"] = "cordon-escape-" + random(); return nil },
			attack: func(a *Arena) error {
				_, err := unix.AddKey("user", a.Args["key"], []byte(a.Mark), userRing)
				return err
			},
			judge: func(f *Fixture) (string, error) {
				id, err := unix.KeyctlSearch(userRing, "user", f.Args["key"], 0)
				if err != nil {
					return "", nil
				}
				_, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0) // it goes with the user's last process at the latest
				return "the host's keyring has a new key", nil
			},
		}},
		{Name: "key-names", What: "list the keys of the host", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				id, err := unix.AddKey("user", f.Secret, []byte("x"), userRing)
				f.onClose(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0) })
				return err
			},
			attack: func(a *Arena) error { return a.leakFile("/proc/keys") },
			judge:  looted,
		}},
	}
}
