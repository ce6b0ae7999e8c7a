//go:build amd64 || arm64

package seccomp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// An outcome is what an attempt came to, and the row of the table it meets.
type outcome struct {
	Name  string
	Want  int // 0 if it is not to be refused
	Errno int
	Row   int // -1 if it meets none
}

func playAttempts(args []string) error {
	list, err := attempts()
	if err != nil {
		return err
	}
	if err := enter(args[0]); err != nil {
		return err
	}
	var out []outcome
	for _, a := range list {
		out = append(out, outcome{a.name, int(a.want), int(a.try()), row(a)})
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func row(a attempt) int {
	c := call{nr: int32(a.nr), arch: nativeArch}
	for i, v := range a.args {
		c.args[i] = uint64(v)
	}
	r := judge(c)
	for i := range rules() {
		if r == &rules()[i] {
			return i
		}
	}
	return -1
}

func index(t *testing.T, list []outcome) map[string]outcome {
	t.Helper()
	byName := map[string]outcome{}
	for _, o := range list {
		if _, twice := byName[o.Name]; twice {
			t.Fatalf("two attempts are named %q", o.Name)
		}
		byName[o.Name] = o
	}
	return byName
}

// TestAttempts makes every attempt without the filter, with it, and with the
// same filter under errnos that no kernel knows.
func TestAttempts(t *testing.T) {
	bare := index(t, output[[]outcome](t, actor(t, "attempts", "bare")))
	filtered := index(t, output[[]outcome](t, actor(t, "attempts", "filter")))
	sure := index(t, output[[]outcome](t, actor(t, "attempts", "marked")))
	for name, o := range filtered {
		control := unix.Errno(bare[name].Errno)
		switch {
		case o.Want == 0 && o.Errno != int(control):
			t.Errorf("%s: %v, without the filter %v", name, unix.Errno(o.Errno), control)
		case o.Want == 0:
			t.Logf("%s: allowed, the kernel says %d (%v)", name, control, control)
		case o.Errno != o.Want:
			t.Errorf("%s: %v, want %v", name, unix.Errno(o.Errno), unix.Errno(o.Want))
		case name == "clone3" && int(control) == o.Want:
			t.Log("clone3: this kernel has none")
		case name != "clone3" && sure[name].Errno != o.Want+mark:
			t.Errorf("%s: not the filter but the kernel has answered", name)
		case int(control) == o.Want:
			t.Logf("%s: %v, which the kernel says as well here", name, control)
		default:
			t.Logf("%s: %v, without the filter %d (%v)", name, unix.Errno(o.Want), control, control)
		}
	}
}

// TestEveryRowIsAttempted holds the list of attempts to the table.
func TestEveryRowIsAttempted(t *testing.T) {
	met := map[int]bool{}
	for _, o := range output[[]outcome](t, actor(t, "attempts", "filter")) {
		met[o.Row] = true
		if o.Row >= 0 && int(rules()[o.Row].errno) != o.Want {
			t.Errorf("%s: wants %v, its row says %v", o.Name, unix.Errno(o.Want), rules()[o.Row].errno)
		}
	}
	for i, r := range rules() {
		if !met[i] {
			t.Errorf("nobody attempts %s %s", r.call, r.when.words)
		}
	}
}

func playExec(args []string) error {
	if err := enter(args[0]); err != nil {
		return err
	}
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	return syscall.Exec(path, args[1:], os.Environ())
}

// TestOrdinaryPrograms runs programs that a worker needs, with the same result
// as without the filter.
func TestOrdinaryPrograms(t *testing.T) {
	const work = `mkdir d && cd d && git init -q . && echo x >f && chmod 755 f && git add f &&
		git -c user.name=a -c user.email=a@b commit -qm m && git status --short && git log --format=%s && mkfifo p &&
		(cat p & echo through >p; wait) && cp -a f g && tar cf - f g | tar tf -`
	for _, argv := range [][]string{
		{"sh", "-c", "echo $((6*7)); (exit 3) || echo $?"},
		{"git", "--version"},
		{"sh", "-c", work},
		{"python3", "-c", "import threading, subprocess, socket, tempfile, multiprocessing\n" +
			"t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n" +
			"print(subprocess.run(['echo', 'child'], capture_output=True).stdout)\n" +
			"s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); print('connected')\n" +
			"p = multiprocessing.Process(target=print, args=('process',)); p.start(); p.join()"},
		{"node", "-e", "const fs=require('fs'); fs.writeFileSync('n','x'); console.log(require('child_process').execSync('echo child').toString());" +
			"require('os').networkInterfaces();" +
			"fs.promises.readFile('n','utf8').then(x => { console.log(x);" +
			"new (require('worker_threads').Worker)('console.log(\"worker\")',{eval:true}) })"},
		{"go", "version"},
		{"java", "-version"},
		{"cargo", "--version"},
	} {
		t.Run(argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skip(err)
			}
			want, err := actor(t, "exec", append([]string{"bare"}, argv...)...).Output()
			if err != nil {
				t.Skipf("%s does not run here without the filter: %v", argv[0], err)
			}
			got, err := actor(t, "exec", append([]string{"filter"}, argv...)...).Output()
			if err != nil || string(got) != string(want) {
				t.Errorf("%v, %q, without the filter %q", err, got, want)
			}
		})
	}
}

// refusedHere makes a call that any filter of ours refuses.
func refusedHere() unix.Errno {
	_, _, errno := unix.Syscall6(unix.SYS_MOUNT, bad, bad, bad, 0, 0, 0)
	return errno
}

func playThreads(args []string) error {
	const n = 16
	var loaded, started, done sync.WaitGroup
	loaded.Add(1)
	errnos := make([]unix.Errno, n)
	for i := range n {
		started.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			started.Done()
			loaded.Wait()
			errnos[i] = refusedHere()
		})
	}
	started.Wait()
	if err := enter(args[0]); err != nil {
		return err
	}
	loaded.Done()
	done.Wait()
	for i, errno := range errnos {
		if errno != unix.EPERM {
			return fmt.Errorf("thread %d: %v", i, errno)
		}
	}
	return everyThread("Seccomp:\t2", "NoNewPrivs:\t1")
}

// everyThread asserts lines of the kernel's status of all of this process's
// threads.
func everyThread(lines ...string) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		status, err := os.ReadFile("/proc/self/task/" + task.Name() + "/status")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) { // it ended before it was opened, or before it was read
			continue
		}
		if err != nil {
			return err
		}
		for _, line := range lines {
			if !slices.Contains(strings.Split(string(status), "\n"), line) {
				return fmt.Errorf("thread %s: not %q", task.Name(), line)
			}
		}
	}
	return nil
}

func TestFilterIsOnAllThreads(t *testing.T) {
	if out, err := actor(t, "threads", "filter").Output(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	w := watch(t, "threads", "notify")
	records := supervise(t, w)
	if len(records) != 16 {
		t.Errorf("%d refusals, want 16", len(records))
	}
}

func playWithoutNoNewPrivs([]string) error {
	prog, err := Program(false)
	if err != nil {
		return err
	}
	if _, err := Load(prog, false); err == nil || !strings.Contains(err.Error(), "no_new_privs") {
		return fmt.Errorf("loaded without no_new_privs: %v", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, err := Load(nil, false); err == nil {
		return errors.New("loaded nothing")
	}
	if _, err := Load(make([]unix.SockFilter, unix.BPF_MAXINSNS+1), false); err == nil {
		return errors.New("loaded too much")
	}
	if _, err := Load(prog[:1], false); err == nil {
		return errors.New("loaded a program without an end")
	}
	return everyThread("Seccomp:\t0")
}

func TestLoadRefuses(t *testing.T) {
	if out, err := actor(t, "bare").Output(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}
