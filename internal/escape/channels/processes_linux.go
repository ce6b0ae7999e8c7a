package channels

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Processes are attempts on processes of the host, and to outlive the cell.
func Processes() []arena.Attempt {
	var list []arena.Attempt
	for _, k := range []struct {
		name, what string
		act        func(a *arena.Arena, pid int) error
	}{
		{"kill", "kill", func(_ *arena.Arena, pid int) error { return unix.Kill(pid, unix.SIGKILL) }},
		{"kill-group", "kill, by its group,", func(_ *arena.Arena, pid int) error { return unix.Kill(-pid, unix.SIGKILL) }},
		{"tgkill", "kill, by its thread,", func(_ *arena.Arena, pid int) error { return unix.Tgkill(pid, pid, unix.SIGKILL) }},
		{"tkill", "kill, with tkill,", func(_ *arena.Arena, pid int) error {
			_, err := arena.Call(unix.SYS_TKILL, pid, int(unix.SIGKILL))
			return err
		}},
		{"sigqueue", "kill, with a queued signal,", sigqueue},
		{"pidfd", "kill, by a descriptor,", func(_ *arena.Arena, pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}},
		{"sigio", "kill, by a signal for input and output,", signalOfIO},
		{"stop", "stop", func(_ *arena.Arena, pid int) error { return unix.Kill(pid, unix.SIGSTOP) }},
	} {
		list = append(list, arena.Attempt{Name: k.name, What: k.what + " a host process", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeVictimDead,
			Attack: func(a *arena.Arena) error { return k.act(a, a.Number("victim")) },
		}})
	}
	list = append(list, properties()...)
	list = append(list, memory()...)
	list = append(list, inTracingCell()...)
	return append(list, survivors()...)
}

func sigqueue(_ *arena.Arena, pid int) error {
	info := make([]byte, 128)
	copy(info, arena.Words(int32(unix.SIGKILL), 0, -1)) // SI_QUEUE
	_, err := arena.Call(unix.SYS_RT_SIGQUEUEINFO, pid, int(unix.SIGKILL), info)
	return err
}

// signalOfIO makes the victim the one to be told when a pipe can be read, and
// SIGKILL the way to tell it.
func signalOfIO(_ *arena.Arena, pid int) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	const setSignal, setOwner = 10, 8
	for _, c := range [][2]int{{setOwner, pid}, {setSignal, int(unix.SIGKILL)}, {unix.F_SETFL, unix.O_ASYNC | unix.O_NONBLOCK}} {
		if _, err := unix.FcntlInt(uintptr(pair[0]), c[0], c[1]); err != nil {
			return err
		}
	}
	_, err = unix.Write(pair[1], []byte("x"))
	return err
}

// properties are what a process may change about another.
func properties() []arena.Attempt {
	stat := func(field int) func(*arena.Fixture) string {
		return func(f *arena.Fixture) string {
			line := f.VictimLine("stat", "")
			fields := strings.Fields(line[strings.LastIndex(line, ")")+1:])
			if len(fields) < field {
				return ""
			}
			return fields[field-3]
		}
	}
	var list []arena.Attempt
	for _, p := range []struct {
		name, what string
		of         func(*arena.Fixture) string
		act        func(pid int) error
	}{
		{"nice", "the priority", stat(19), func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 7) }},
		{"affinity", "the processors", func(f *arena.Fixture) string { return f.VictimLine("status", "Cpus_allowed_list") }, func(pid int) error {
			var set unix.CPUSet
			set.Set(0)
			return unix.SchedSetaffinity(pid, &set)
		}},
		{"scheduler", "the scheduling", stat(41), func(pid int) error {
			const batch = 3
			_, err := arena.Call(unix.SYS_SCHED_SETSCHEDULER, pid, batch, arena.Words(int32(0)))
			return err
		}},
		{"sched-attr", "the scheduling, by its attributes,", stat(41), func(pid int) error {
			return unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: 5}, 0)
		}},
		{"ioprio", "the disk priority", func(f *arena.Fixture) string {
			n, err := arena.Call(unix.SYS_IOPRIO_GET, 1, f.Number("victim"))
			return fmt.Sprint(n, err)
		}, func(pid int) error { _, err := arena.Call(unix.SYS_IOPRIO_SET, 1, pid, 3<<13); return err }},
		{"prlimit", "a limit", func(f *arena.Fixture) string { return f.VictimLine("limits", "Max open files") }, func(pid int) error {
			return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 20, Max: 20}, nil)
		}},
	} {
		prepare, judge := arena.JudgeVictimChange(p.of)
		list = append(list, arena.Attempt{Name: p.name, What: "change " + p.what + " of a host process", Safe: true, Act: arena.Act{
			Prepare: prepare, Judge: judge,
			Attack: func(a *arena.Arena) error { return p.act(a.Number("victim")) },
		}})
	}
	return list
}

// inTracingCell are the attempts of memory in a cell whose processes may trace each other, and one
// that lets a tracer change a call which the filter has let pass.
func inTracingCell() []arena.Attempt {
	list := memory()
	for i := range list {
		list[i].Name, list[i].Policy = "traced-"+list[i].Name, tracePolicy
	}
	if changesCalls {
		list = append(list, arena.Attempt{Name: "traced-call", What: "make a set-id file by changing a call that a filter has judged", Safe: true, Act: arena.Act{
			Policy: tracePolicy, Attack: arena.OnThread(changeCall),
			Judge: func(f *arena.Fixture) (string, error) {
				st, err := os.Stat(f.In("own"))
				if err == nil && st.Mode()&os.ModeSetuid != 0 {
					return "a set-id file in the tree", nil
				}
				return "", err
			},
		}})
	}
	return list
}

const tracePolicy = "version: 1\ncell: {trace: true}\n"

// memory are attempts on a host process as a debugger has them.
func memory() []arena.Attempt {
	remote := []unix.RemoteIovec{{Base: arena.VictimAddress, Len: 16}}
	return []arena.Attempt{
		{Name: "ptrace", What: "change the memory of a host process as its debugger", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeVictimMemory,
			Attack: arena.OnThread(func(a *arena.Arena) error {
				pid := a.Number("victim")
				if err := unix.PtraceAttach(pid); err != nil {
					return err
				}
				defer unix.PtraceDetach(pid)
				var status unix.WaitStatus
				if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
					return err
				}
				_, err := unix.PtracePokeData(pid, arena.VictimAddress, []byte(a.Mark[5:13]))
				return err
			}),
		}},
		{Name: "ptrace-seize", What: "stop a host process as its debugger", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeObtained("seized"),
			Attack: arena.OnThread(func(a *arena.Arena) error {
				if err := unix.PtraceSeize(a.Number("victim")); err != nil {
					return err
				}
				return a.Leak([]byte("seized"))
			}),
		}},
		{Name: "vm-write", What: "change the memory of a host process with process_vm_writev", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeVictimMemory,
			Attack: func(a *arena.Arena) error {
				b := []byte(a.Mark[5:])
				_, err := unix.ProcessVMWritev(a.Number("victim"), []unix.Iovec{{Base: &b[0], Len: 16}}, remote, 0)
				return err
			},
		}},
		{Name: "vm-read", What: "read the memory of a host process with process_vm_readv", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: func(f *arena.Fixture) (string, error) { return f.Obtained(f.Secret[:16]) },
			Attack: func(a *arena.Arena) error {
				b := make([]byte, 16)
				if _, err := unix.ProcessVMReadv(a.Number("victim"), []unix.Iovec{{Base: &b[0], Len: 16}}, remote, 0); err != nil {
					return err
				}
				return a.Leak(b)
			},
		}},
	}
}

// survivors are attempts to be there after the run. They are judged by the
// processes of the run that are left when cordon has ended.
func survivors() []arena.Attempt {
	row := func(name, what string, attr *syscall.SysProcAttr, during func(*arena.Fixture, <-chan struct{})) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{
			Attack: linger(attr, during != nil), During: during, Judge: func(f *arena.Fixture) (string, error) { return f.Left(), nil },
		}}
	}
	kill := func(sig syscall.Signal) func(*arena.Fixture, <-chan struct{}) {
		return func(f *arena.Fixture, _ <-chan struct{}) {
			if arena.Await(arena.RunLimit, func() bool { return strings.Contains(f.Trace(), "lingers\n") }) {
				_ = f.Top.Signal(sig) // its end is awaited by the run
			}
		}
	}
	session, group := &syscall.SysProcAttr{Setsid: true}, &syscall.SysProcAttr{Setpgid: true}
	return []arena.Attempt{
		row("survive-child", "leave a child behind", nil, nil),
		row("survive-group", "leave a child in a group of its own behind", group, nil),
		row("survive-session", "leave a daemon behind", session, nil),
		row("survive-kill", "outlive cordon when it is killed", session, kill(unix.SIGKILL)),
		row("survive-kill-child", "outlive a killed cordon in the same group", nil, kill(unix.SIGKILL)),
		row("survive-term", "outlive cordon when it is told to end", session, kill(unix.SIGTERM)),
		row("survive-hangup", "outlive cordon when its terminal hangs up", session, kill(unix.SIGHUP)),
	}
}

// linger starts a child that ignores what can be ignored, and whose own child
// does the same. With wait the attack stays as well.
func linger(attr *syscall.SysProcAttr, wait bool) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		signal.Ignore(unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGPIPE)
		var cmd *exec.Cmd
		switch a.Stage {
		case "":
			cmd = a.StartAgain("daemon", attr)
		case "daemon":
			cmd = a.StartAgain("grandchild", attr)
		default:
			a.Note("lingers")
			time.Sleep(10 * arena.RunLimit) // the fixture ends it
			return errors.New("was not ended")
		}
		cmd.Stderr = nil
		if err := cmd.Start(); err != nil {
			return err
		}
		if !arena.Await(arena.RunLimit, func() bool { return strings.Contains(traced(a), "lingers\n") }) {
			return errors.New("the child did not come up")
		}
		if a.Stage == "" && wait {
			time.Sleep(10 * arena.RunLimit)
		}
		return nil
	}
}

func traced(a *arena.Arena) string {
	b, _ := os.ReadFile(a.In(arena.TraceFile)) // it is there: this process began it
	return string(b)
}
