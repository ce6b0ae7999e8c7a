//go:build amd64 || arm64

package seccomp

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// long is when a test has hung.
const long = 60 * time.Second

// supervise answers for the child until it has ended well.
func supervise(t *testing.T, w watched) []Refusal {
	t.Helper()
	records := superviseOnly(t, w)
	if err := w.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, w.out)
	}
	return records
}

func superviseOnly(t *testing.T, w watched) (records []Refusal) {
	t.Helper()
	superviseEach(t, w, func(r Refusal) { records = append(records, r) })
	return records
}

// superviseEach answers for the child until nobody is left who could ask.
func superviseEach(t *testing.T, w watched, record func(Refusal)) {
	t.Helper()
	defer unix.Close(w.listener)
	done := make(chan error, 1)
	go func() { done <- Supervise(w.listener, record) }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(long):
		t.Fatal("Supervise has not returned")
	}
}

// TestSupervise makes every attempt with a supervisor: the same answers, and a
// record of those that are worth one, in their order.
func TestSupervise(t *testing.T) {
	w := watch(t, "attempts", "notify")
	records := supervise(t, w)
	outcomes := decode[[]outcome](t, w.out.Bytes())
	bare := index(t, output[[]outcome](t, actor(t, "attempts", "bare")))
	var want []rule
	for _, o := range outcomes {
		if o.Want != 0 && o.Errno != o.Want || o.Want == 0 && o.Errno != bare[o.Name].Errno {
			t.Errorf("%s: %v", o.Name, unix.Errno(o.Errno))
		}
		if o.Row >= 0 && rules()[o.Row].worth == recorded {
			want = append(want, rules()[o.Row])
		}
	}
	if len(records) != len(want) || len(want) == 0 {
		t.Fatalf("%d records, want %d", len(records), len(want))
	}
	for i, r := range records {
		if r.Call != want[i].call || r.Reason != want[i].reason || r.Pid <= 0 {
			t.Errorf("record %d is %+v, want %s: %s", i, r, want[i].call, want[i].reason)
		}
	}
}

// playFlood refuses to end: it makes refused calls on many threads at once.
func playFlood([]string) error {
	if err := enter("notify"); err != nil {
		return err
	}
	for range 8 {
		go func() {
			for {
				refusedHere()
			}
		}()
	}
	select {}
}

// TestKilledInTheMiddle kills processes whose calls are waiting, are being
// answered, or both.
func TestKilledInTheMiddle(t *testing.T) {
	for round := range 10 {
		w := watch(t, "flood")
		records := 0
		superviseEach(t, w, func(Refusal) {
			if records++; records == 1+round*10 { // the first answer, or when all threads ask
				go w.cmd.Process.Kill()
			}
		})
		w.cmd.Wait()
	}
}

// TestKilledBeforeTheAnswer: there is nobody to answer, and that is no error.
func TestKilledBeforeTheAnswer(t *testing.T) {
	w := watch(t, "flood")
	defer unix.Close(w.listener)
	n, err := receive(w.listener)
	if err != nil {
		t.Fatal(err)
	}
	w.cmd.Process.Kill()
	w.cmd.Wait()
	if err := respond(w.listener, n.id, unix.EPERM); !errors.Is(err, unix.ENOENT) {
		t.Errorf("the kernel says %v of a dead caller", err)
	}
	if err := settle(w.listener, n.id, unix.EPERM); err != nil {
		t.Error(err)
	}
}

// TestClosedListener: a supervisor whose descriptor is closed returns.
func TestClosedListener(t *testing.T) {
	w := watch(t, "flood")
	done := make(chan error, 1)
	first := make(chan bool, 1)
	go func() {
		done <- Supervise(w.listener, func(Refusal) {
			select {
			case first <- true:
			default:
			}
		})
	}()
	<-first
	unix.Close(w.listener)
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(long):
		t.Error("Supervise has not returned")
	}
	w.cmd.Process.Kill()
	w.cmd.Wait()
}

const calls = 200

// playSignals is hit by signals while it waits for answers.
func playSignals([]string) error {
	signal.Notify(make(chan os.Signal, 1), unix.SIGUSR1)
	if err := enter("notify"); err != nil {
		return err
	}
	runtime.LockOSThread()
	pid, tid := os.Getpid(), unix.Gettid()
	go func() {
		for {
			unix.Tgkill(pid, tid, unix.SIGUSR1)
		}
	}()
	for range calls {
		if errno := refusedHere(); errno != unix.EPERM {
			return fmt.Errorf("interrupted: %v", errno)
		}
	}
	return nil
}

func TestSignalsWhileWaiting(t *testing.T) {
	if n := len(supervise(t, watch(t, "signals"))); n < calls {
		t.Errorf("%d records of %d calls", n, calls)
	}
}

// playOrphan expects that nobody answers.
func playOrphan([]string) error {
	if err := enter("notify"); err != nil {
		return err
	}
	for range 2 {
		if errno := refusedHere(); errno != unix.ENOSYS {
			return fmt.Errorf("without a supervisor: %v", errno)
		}
	}
	return nil
}

// TestNobodyAnswers: without a supervisor calls are refused, whether they waited
// for it or came later.
func TestNobodyAnswers(t *testing.T) {
	w := watch(t, "orphan")
	more, err := await(w.listener)
	if !more || err != nil {
		t.Fatal(more, err)
	}
	unix.Close(w.listener)
	if err := w.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// playLoosen loads filters of the worker's own over ours.
func playLoosen(args []string) error {
	if err := enter(args[0]); err != nil {
		return err
	}
	runtime.LockOSThread()
	yes := []unix.SockFilter{allow()}
	if _, err := setFilter(yes, 0); err != nil {
		return fmt.Errorf("a worker may filter itself: %w", err)
	}
	if errno := refusedHere(); errno != unix.EPERM {
		return fmt.Errorf("under a filter that allows: %v", errno)
	}
	ask := []unix.SockFilter{
		load(offNumber), jump(unix.BPF_JEQ, unix.SYS_MOUNT, 0, 1),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF}, allow(),
	}
	fd, err := setFilter(ask, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if args[0] == "notify" {
		if !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("a listener over ours: %d, %v", fd, err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	// Whoever listens for itself may answer "continue", but is not asked.
	go letGo(fd)
	if errno := refusedHere(); errno != unix.EPERM {
		return fmt.Errorf("under a filter that asks: %v", errno)
	}
	return nil
}

// letGo answers as this package never does.
func letGo(listener int) {
	for {
		n, err := receive(listener)
		if err != nil {
			return
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	}
}

func TestWorkersFiltersDoNotLoosen(t *testing.T) {
	if out, err := actor(t, "loosen", "filter").Output(); err != nil {
		t.Errorf("%v %s", err, out)
	}
	supervise(t, watch(t, "loosen", "notify"))
}
