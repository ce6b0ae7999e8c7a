package testnet

import (
	"bytes"
	"fmt"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"cordon/internal/testwait"
)

// Key is the file of the key that the server of SSH knows.
const Key = Etc + "/key"

// KnownHosts is the file that has its own.
const KnownHosts = Etc + "/known_hosts"

// Git serves a repository at https://github.com/tiny/tiny, which may be pushed to.
func (n *Net) Git() error {
	bare := n.Repository()
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", bare},
		{"-C", bare, "config", "http.receivepack", "true"},
		{"-C", bare, "config", "safe.directory", "*"},
	} {
		if err := run("git", args...); err != nil {
			return err
		}
	}
	if err := commit(bare, filepath.Join(n.Dir, "git/seed")); err != nil {
		return err
	}
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	n.Names.Set("github.com", "93.184.216.44", "2606:2800:220:1::44")
	n.Web.handle("github.com", &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Join(n.Dir, "git"), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=test"},
	})
	return nil
}

// Repository is where the repository lies that Git serves.
func (n *Net) Repository() string { return filepath.Join(n.Dir, "git/tiny/tiny") }

func commit(bare, seed string) error {
	if err := run("git", "clone", "-q", bare, seed); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(seed, "README"), []byte(Tiny+"\n"), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"add", "README"},
		{"-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "commit", "-q", "-m", "first"},
		{"push", "-q", "origin", "HEAD:main"},
	} {
		if err := run("git", append([]string{"-C", seed}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// SSH starts the real server of SSH at port 22. Whoever has Key may log in as the
// user of the test.
func (n *Net) SSH() error {
	sshd, err := Server()
	if err != nil {
		return err
	}
	host := filepath.Join(n.Dir, "host")
	for _, key := range []string{host, Key} {
		if err := run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key); err != nil {
			return err
		}
	}
	public, err := os.ReadFile(host + ".pub")
	if err != nil {
		return err
	}
	if err := os.WriteFile(KnownHosts, []byte("* "+string(public)), 0o644); err != nil {
		return err
	}
	config := fmt.Sprintf("Port 22\nHostKey %s\nAuthorizedKeysFile %s.pub\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin "+
		"yes\nPasswordAuthentication no\n", host, Key)
	file := filepath.Join(n.Dir, "sshd_config")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return err
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", file)
	said := &serverLog{listens: make(chan struct{})}
	cmd.Stderr, cmd.WaitDelay = said, time.Second // what it leaves behind may hold its output open
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); err = cmd.Wait() }()
	n.atEnd(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); <-ended })
	select {
	case <-said.listens:
		return nil
	case <-ended:
		return fmt.Errorf("%s ended: %w: %s", sshd, err, said.text())
	case <-time.After(testwait.Bound):
		return fmt.Errorf("%s does not listen: %s", sshd, said.text())
	}
}

// serverLog is what a server of SSH says, and tells that it listens.
type serverLog struct {
	mu      sync.Mutex
	said    []byte
	once    sync.Once
	listens chan struct{}
}

func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, p...)
	if bytes.Contains(l.said, []byte("Server listening on ")) {
		l.once.Do(func() { close(l.listens) })
	}
	return len(p), nil
}

func (l *serverLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.said)
}

// Server is where the server of SSH is.
func Server() (string, error) {
	if path, err := exec.LookPath("sshd"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/sshd")
}
