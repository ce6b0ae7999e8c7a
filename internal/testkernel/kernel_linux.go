package testkernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main is a program of its own: VERSION SOCKET COMMAND [ARG...]. It becomes COMMAND,
// on that kernel; SOCKET is what Serve listens at.
func Main(args []string) int {
	if err := enter(args); err != nil {
		fmt.Fprintln(os.Stderr, "testkernel:", err)
	}
	return 120
}

func enter(args []string) error {
	if len(args) < 3 {
		return errors.New("VERSION SOCKET COMMAND [ARG...]")
	}
	k, ok := find(args[0])
	if !ok {
		return fmt.Errorf("no kernel %q", args[0])
	}
	program, err := exec.LookPath(args[2])
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the filter is on this thread, and so is the exec
	if os.Getuid() != 0 {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	if err := k.load(args[1]); err != nil {
		return err
	}
	return syscall.Exec(program, args[2:], os.Environ())
}

// load puts the kernel's filter on this thread.
func (k Kernel) load(socket string) error {
	if k.landlock == 0 {
		_, err := setFilter(k.program(), 0)
		return err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		return fmt.Errorf("%s: %w", socket, err)
	}
	listener, err := setFilter(k.program(), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	defer unix.Close(listener)
	return unix.Sendmsg(fd, []byte(strconv.Itoa(k.landlock)), unix.UnixRights(listener), nil, 0)
}

// program is the filter.
func (k Kernel) program() []unix.SockFilter {
	const errno, notify = unix.SECCOMP_RET_ERRNO, unix.SECCOMP_RET_USER_NOTIF
	p := []unix.SockFilter{}
	number := func() { p = append(p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}) }
	jump := func(op uint16, value uint32, yes, no uint8) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: value, Jt: yes, Jf: no})
	}
	answer := func(value uint32) { p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}) }
	flagged := func(call uint32, arg int, flags, value uint32) {
		number()
		jump(unix.BPF_JEQ, call, 0, 3)
		p = append(p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(16 + 8*arg)})
		jump(unix.BPF_JSET, flags, 0, 1)
		answer(value)
	}
	number()
	jump(unix.BPF_JGT, k.last, 0, 1)
	answer(errno | uint32(unix.ENOSYS))
	for _, call := range k.without {
		jump(unix.BPF_JEQ, call, 0, 1)
		answer(errno | uint32(unix.ENOSYS))
	}
	if k.landlock > 0 {
		flagged(unix.SYS_LANDLOCK_CREATE_RULESET, 2, unix.LANDLOCK_CREATE_RULESET_VERSION, notify)
	}
	for _, f := range k.flags {
		if f.flags != 0 {
			flagged(f.call, f.arg, f.flags, errno|uint32(f.errno))
			continue
		}
		number()
		jump(unix.BPF_JEQ, f.call, 0, 1)
		answer(errno | uint32(f.errno))
	}
	answer(unix.SECCOMP_RET_ALLOW)
	return p
}

// Serve answers for the programs that Main starts, at a socket of that path, until
// it is closed.
func Serve(socket string) (stop func() error, err error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: socket})
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", socket, err), unix.Close(fd))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
			if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) {
				continue
			}
			if err != nil {
				return // it was shut down
			}
			go serve(conn)
		}
	}()
	return func() error {
		err := unix.Shutdown(fd, unix.SHUT_RDWR) // wakes up Accept, which closing does not
		<-ended
		return errors.Join(err, unix.Close(fd))
	}, nil
}

// serve answers for one program and what that starts, until the last has ended.
func serve(conn int) {
	defer unix.Close(conn)
	word, room := make([]byte, 16), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(conn, word, room, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return
	}
	version, err := strconv.Atoi(string(word[:n]))
	if err != nil {
		return
	}
	messages, err := unix.ParseSocketControlMessage(room[:oobn])
	if err != nil || len(messages) != 1 {
		return
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return
	}
	defer unix.Close(fds[0])
	for awaitCall(fds[0]) {
		answerCall(fds[0], int64(version))
	}
}

// awaitCall waits for a call, and is false when none will come any more.
func awaitCall(listener int) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false
		case fds[0].Revents&unix.POLLIN != 0:
			return true
		case fds[0].Revents&(unix.POLLHUP|unix.POLLNVAL) != 0:
			return false
		}
	}
}
