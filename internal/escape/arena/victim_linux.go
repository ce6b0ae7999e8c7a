package arena

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A victim is a process of the host, beside the cell: it has a secret in its
// memory at a known address, in its arguments and in its environment, and holds a
// file open. It ends when the host closes its standard input.
const (
	VictimMode    = "--victim"
	VictimAddress = 0x10000000000
	VictimFile    = 9 // the descriptor of the file that it holds open
)

// RunVictim is the victim itself: its secret, and the file that it holds open.
func RunVictim(args []string) int {
	const page = 4096
	_, err := Call(unix.SYS_MMAP, VictimAddress, page, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, -1, 0)
	if err != nil || len(args) != 2 {
		fmt.Fprintln(os.Stderr, "victim:", err)
		return 1
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		return 1
	}
	if _, err := mem.WriteAt([]byte(args[0]), VictimAddress); err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		return 1
	}
	fd, err := unix.Open(args[1], unix.O_RDWR, 0)
	if err == nil && fd != VictimFile {
		err = unix.Dup3(fd, VictimFile, 0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		return 1
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the host lets it go
	return 0
}

// StartVictim starts the victim of a fixture.
func StartVictim(f *Fixture) error { return f.StartVictim(nil, &syscall.SysProcAttr{Setpgid: true}) }

// StartVictim starts a victim with a terminal, or without one.
func (f *Fixture) StartVictim(tty *os.File, attr *syscall.SysProcAttr) error {
	// Its command line must not look like one of the attack's processes.
	cmd := exec.Command(f.self[0], append(f.self[1:len(f.self):len(f.self)], VictimMode, f.Secret, "outside/file")...)
	cmd.Dir = f.Base
	cmd.Env = append(f.environment(), "VICTIM_TOKEN="+f.Secret)
	cmd.SysProcAttr = attr
	if tty != nil {
		cmd.ExtraFiles = []*os.File{tty}
	}
	hold, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	f.OnClose(func() {
		hold.Close()
		_ = cmd.Process.Kill() // it may be dead: that is what the attack was after
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		return fmt.Errorf("the victim did not start: %q %v", line, err)
	}
	f.Args["victim"] = strconv.Itoa(cmd.Process.Pid)
	return nil
}

// VictimLine is a line of a file in the victim's directory of /proc.
func (f *Fixture) VictimLine(file, prefix string) string {
	text, _ := os.ReadFile("/proc/" + f.Args["victim"] + "/" + file) // gone: no line
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// OfHost tries something with the directories in /proc of process 1, which is the
// cell's own if there is one, and of a process of the host.
func (a *Arena) OfHost(act func(dir string) error) error {
	return Each(func() error { return act("/proc/1") }, func() error { return act("/proc/" + a.Args["victim"]) })
}

// signalled reports whether a signal that ends or stops the victim waits for it.
func (f *Fixture) signalled() bool {
	for _, set := range []string{"SigPnd:", "ShdPnd:"} {
		waiting, err := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(f.VictimLine("status", set), set)), 16, 64)
		if err == nil && waiting&(1<<(unix.SIGKILL-1)|1<<(unix.SIGSTOP-1)) != 0 {
			return true
		}
	}
	return false
}

// JudgeVictimDead judges by whether the victim still runs.
func JudgeVictimDead(f *Fixture) (string, error) {
	state := ""
	struck := func() bool {
		state = strings.TrimSpace(strings.TrimPrefix(f.VictimLine("status", "State:"), "State:"))
		state = state[:min(1, len(state))]
		return state == "" || strings.ContainsAny(state, "ZXTt")
	}
	if !Await(100*time.Millisecond, struck) && f.signalled() { // the victim has to run once more, and others run now
		Await(RunLimit, struck)
	}
	switch {
	case state == "" || strings.ContainsAny(state, "ZX"):
		return "the victim is dead", nil
	case strings.ContainsAny(state, "Tt"):
		return "the victim is stopped", nil
	}
	return "", nil
}

// JudgeVictimMemory judges by the victim's memory.
func JudgeVictimMemory(f *Fixture) (string, error) {
	mem, err := os.Open("/proc/" + f.Args["victim"] + "/mem")
	if err != nil {
		return "", err
	}
	defer mem.Close()
	b := make([]byte, len(f.Secret))
	if _, err := mem.ReadAt(b, VictimAddress); err != nil {
		return "", err
	}
	if string(b) != f.Secret {
		return "the victim's memory was changed", nil
	}
	return "", nil
}

// JudgeVictimChange judges by whether a property of the victim is no longer what it was.
func JudgeVictimChange(of func(*Fixture) string) (prepare func(*Fixture) error, judge func(*Fixture) (string, error)) {
	prepare = func(f *Fixture) error {
		if err := StartVictim(f); err != nil {
			return err
		}
		f.Args["was"] = of(f)
		return nil
	}
	judge = func(f *Fixture) (string, error) {
		if is := of(f); is != f.Args["was"] {
			return fmt.Sprintf("the victim had %q and has %q", f.Args["was"], is), nil
		}
		return "", nil
	}
	return prepare, judge
}
