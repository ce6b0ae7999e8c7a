package post

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The kernel says who connects. Another user is refused, also where the modes of the socket and of
// its directory let them connect; this user is the control.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can connect as another user")
	}
	const somebody = 65534
	dir := t.TempDir()
	office(t, dir, echo)
	shared(t, dir)
	question := `{"verb":"` + string(Look) + `","text":"x"}` + "\n"
	if got := as(t, os.Geteuid(), dir, question); !strings.Contains(got, `"answer":"x"`) {
		t.Errorf("the control: %q", got)
	}
	if got := as(t, somebody, dir, question); !strings.Contains(got, "user 65534 is not the worker's user") || strings.Contains(got, `"answer"`) {
		t.Errorf("another user: %q", got)
	}

	// A server with a protocol of its own never sees them.
	dir = t.TempDir()
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	shared(t, dir)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Conns().Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "welcome")
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	if got := as(t, os.Geteuid(), dir, ""); got != "welcome" {
		t.Errorf("the control of the server: %q", got)
	}
	if got := as(t, somebody, dir, ""); got != "" {
		t.Errorf("the server answered another user: %q", got)
	}
}

// shared lets every user come to the socket of a directory.
func shared(t *testing.T, dir string) {
	t.Helper()
	if err := errors.Join(os.Chmod(filepath.Join(dir, Socket), 0o666), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// as is what a user hears who connects to the socket of a directory and says something. One thread
// becomes that user, and ends afterwards.
func as(t *testing.T, uid int, dir, text string) string {
	t.Helper()
	type outcome struct {
		heard string
		err   error
	}
	said := make(chan outcome)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		heard, err := connectAs(uid, filepath.Join(dir, Socket), text)
		said <- outcome{heard, err}
	}()
	o := <-said
	if o.err != nil {
		t.Fatalf("user %d does not even connect: %v", uid, o.err)
	}
	return o.heard
}

func connectAs(uid int, socket, text string) (string, error) {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
		return "", errno // of this thread alone; unix.Setresuid would change them all
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	file := os.NewFile(uintptr(fd), socket)
	defer file.Close()
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		return "", err
	}
	conn, err := net.FileConn(file)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text) // who is refused may be gone before that
	heard, err := io.ReadAll(conn)
	if errors.Is(err, unix.ECONNRESET) {
		err = nil // closed with what was said unread
	}
	return string(heard), err
}
