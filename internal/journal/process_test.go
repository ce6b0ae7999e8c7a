package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func init() {
	roles["crowd"] = crowd
	roles["endless"] = endless
	roles["full"] = full
	roles["reader"] = reader
	roles["claim"] = claim
	roles["watched"] = watched
}

const crowdProcesses, crowdGoroutines, crowdEvents = 4, 4, 6

// crowd appends from several goroutines, half of them through one Journal,
// and prints what it has recorded.
func crowd(dir string) error {
	shared, err := Open(dir)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make(chan error, crowdGoroutines*crowdEvents)
	for g := range crowdGoroutines {
		wg.Go(func() {
			j := shared
			if g%2 == 1 {
				j, _ = Open(dir)
			}
			for i := range crowdEvents {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), g, i)
				e, err := j.Append("", "test.crowd", map[string]string{"id": id})
				if err == nil {
					_, err = fmt.Printf("%d %s\n", e.Seq, id)
				}
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestCrowd has processes and goroutines append at once, while readers must
// never see anything but a sound, growing journal.
func TestCrowd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outputs := make([]bytes.Buffer, crowdProcesses)
	var cmds []*exec.Cmd
	for i := range outputs {
		cmd := actor(t, "crowd", dir)
		cmd.Stdout = &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { readAlong(t, dir, stop) })
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()

	recorded := map[string]string{}
	for _, e := range all(t, dir) {
		var data struct{ ID string }
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		recorded[fmt.Sprint(e.Seq)] = data.ID
	}
	acknowledged := 0
	for i := range outputs {
		for line := range strings.Lines(outputs[i].String()) {
			seq, id, _ := strings.Cut(strings.TrimSpace(line), " ")
			if recorded[seq] != id {
				t.Errorf("event %s is %q, but was returned as %q", seq, recorded[seq], id)
			}
			acknowledged++
		}
	}
	if want := crowdProcesses * crowdGoroutines * crowdEvents; acknowledged != want || len(recorded) != want {
		t.Errorf("%d events returned, %d recorded, want %d", acknowledged, len(recorded), want)
	}
	if r := verify(t, dir); r.Problem != nil || r.Torn || r.Events != len(recorded) {
		t.Errorf("%+v", r)
	}
}

func readAlong(t *testing.T, dir string, stop chan struct{}) {
	seen := 0
	for {
		select {
		case <-stop:
			return
		default:
		}
		j, err := Open(dir)
		if err != nil {
			t.Error(err)
			return
		}
		es, err := j.Events()
		if err != nil || len(es) < seen {
			t.Errorf("a reader saw %d events after %d, %v", len(es), seen, err)
			return
		}
		seen = len(es)
		if r, err := Verify(dir); err != nil || r.Problem != nil || r.Torn {
			t.Errorf("Verify beside appends: %+v, %v", r, err)
			return
		}
	}
}

// claim takes the lowest number that nobody has, by a check.
func claim(dir string) error {
	j, err := Open(dir)
	if err != nil {
		return err
	}
	for range 5 {
		for n := 0; ; n++ {
			mine := fmt.Sprintf("id-%d", n)
			taken := errors.New("taken")
			_, err := appendIf(j, mine, "test.claim", nil, func(es []Event) error {
				for _, e := range es {
					if e.Worker == mine {
						return taken
					}
				}
				return nil
			})
			if err == nil {
				break
			}
			if err != taken {
				return err
			}
		}
	}
	return nil
}

func TestClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		cmd := actor(t, "claim", dir)
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, e := range all(t, dir) {
		if want := fmt.Sprintf("id-%d", i); e.Worker != want {
			t.Errorf("event %d is of %s, want %s", e.Seq, e.Worker, want)
		}
	}
	if r := verify(t, dir); r.Events != 20 {
		t.Errorf("%+v, want 20 events", r)
	}
}

// endless appends until it is killed: a small event, then ones so large that a
// kill finds a write to interrupt. It acknowledges each that is recorded.
func endless(dir string) error {
	j, err := Open(dir)
	if err != nil {
		return err
	}
	for size := 10; ; size = 2_000_000 {
		e, err := j.Append("", "test.endless", map[string]string{"text": strings.Repeat("x", size)})
		if err != nil {
			return err
		}
		fmt.Printf("%d %s\n", e.Seq, e.Hash)
	}
}

// TestKill kills an appending process again and again: after some
// acknowledgements, and in the middle of a write.
func TestKill(t *testing.T) {
	t.Parallel()
	torn := 0
	for range 3 {
		dir := t.TempDir()
		acknowledged := map[string]string{}
		for round := range 5 {
			killOnce(t, dir, round%4 > 0, acknowledged)
			r := verify(t, dir)
			if r.Problem != nil {
				t.Fatalf("round %d: %+v", round, r)
			}
			if r.Torn {
				torn++
			}
		}
		add(t, open(t, dir), "test.after", nil)
		if len(acknowledged) < 5 {
			t.Errorf("only %d events were acknowledged", len(acknowledged))
		}
		for _, e := range all(t, dir) {
			if h, ok := acknowledged[fmt.Sprint(e.Seq)]; ok && h != e.Hash {
				t.Errorf("event %d is not the one acknowledged", e.Seq)
			}
			delete(acknowledged, fmt.Sprint(e.Seq))
		}
		if len(acknowledged) > 0 {
			t.Errorf("acknowledged but lost: %v", acknowledged)
		}
	}
	t.Logf("%d of 15 kills tore a line", torn)
}

// killOnce starts an appender, kills it after the first acknowledgement (while
// it writes: when the file has begun to grow again), and notes all that it
// has acknowledged.
func killOnce(t *testing.T, dir string, writing bool, acknowledged map[string]string) {
	t.Helper()
	cmd := actor(t, "endless", dir)
	out, err := cmd.StdoutPipe()
	must(t, out, err)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	acknowledge(acknowledged, lines.Text())
	for before := fileSize(t, dir); writing && fileSize(t, dir) == before; {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		acknowledge(acknowledged, lines.Text())
	}
	cmd.Wait()
}

func fileSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, File))
	return must(t, info, err).Size()
}

func acknowledge(to map[string]string, line string) {
	seq, hash, _ := strings.Cut(line, " ")
	if len(hash) == 64 {
		to[seq] = hash
	}
}

// watched kills itself from an observer.
func watched(dir string) error {
	j, err := Open(dir)
	if err != nil {
		return err
	}
	j.Watch(func(m Moment, e Event) {
		if m.String() == os.Getenv("JOURNAL_TEST_MOMENT") {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	_, err = j.Append("", "test.watched", nil)
	return errors.Join(errors.New("survived"), err)
}

func TestKillAtMoment(t *testing.T) {
	t.Parallel()
	for _, prepared := range []int{0, 1} {
		for moment, want := range map[Moment]int{Before: 0, After: 1} {
			dir := t.TempDir()
			for j := open(t, dir); len(all(t, dir)) < prepared; {
				add(t, j, "test.x", nil)
			}
			cmd := actor(t, "watched", dir)
			cmd.Env = append(cmd.Env, "JOURNAL_TEST_MOMENT="+moment.String())
			err := cmd.Run()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%v: %v", moment, err)
			}
			if got := len(all(t, dir)); got != prepared+want {
				t.Errorf("killed %v: %d events, want %d", moment, got, prepared+want)
			}
			if e := add(t, open(t, dir), "test.x", nil); e.Seq != uint64(prepared+want+1) {
				t.Errorf("killed %v: then %+v", moment, e)
			}
		}
	}
}

// full runs out of room at every byte of a line: with the limit on the size of
// files, the kernel writes what fits and then refuses, as on a full disk.
func full(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	j, err := Open(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, File)
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for room := range 220 {
		tight := limit
		tight.Cur = uint64(len(before) + room)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
			return err
		}
		e, err := j.Append("", "test.full", map[string]string{"text": strings.Repeat("x", 100)})
		if !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("room for %d bytes: %+v, %v", room, e, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			return fmt.Errorf("room for %d bytes: the journal has %d bytes, before %d (%v)", room, len(after), len(before), err)
		}
		if r, err := Verify(dir); err != nil || r.Problem != nil || r.Torn {
			return fmt.Errorf("room for %d bytes: %+v, %v", room, r, err)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	_, err = j.Append("", "test.room", nil)
	return err
}

func TestFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sample(t, dir, 3) // longer than a head, which must not meet the limit first
	if err := actor(t, "full", dir).Run(); err != nil {
		t.Fatal(err)
	}
	if es := all(t, dir); len(es) != 4 || es[3].Type != "test.room" {
		t.Errorf("%+v", es)
	}
}

// reader reads where it must not write.
func reader(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "probe"), nil, 0o600); err == nil {
		return errors.New("the directory is writable: nothing is tested")
	}
	j, err := Open(dir)
	if err != nil {
		return err
	}
	if _, err := j.Append("", "test.x", nil); err == nil {
		return errors.New("Append succeeded")
	}
	es, err := j.Events()
	if err != nil {
		return err
	}
	r, err := Verify(dir)
	if err != nil {
		return err
	}
	fmt.Println(len(es), r.Events, r.Torn, r.Problem != nil)
	return nil
}

// TestReadOnly reads as a user who may not write. Root may always, so that it
// becomes another user first, to whom the files belong.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(string, []string)
		want string
	}{
		"sound":   {func(string, []string) {}, "2 2 false false"},
		"torn":    {func(dir string, l []string) { put(t, dir, File, []byte(l[0]+l[1]+"x")) }, "2 2 true false"},
		"nothing": {func(dir string, _ []string) { os.Remove(dir + "/" + File); os.Remove(dir + "/" + HeadFile) }, "0 0 false false"},
	} {
		dir, err := os.MkdirTemp("", "journal")
		must(t, dir, err)
		t.Cleanup(func() { os.Chmod(dir, 0o700); os.RemoveAll(dir) })
		c.edit(dir, sample(t, dir, 2))
		cmd := actor(t, "reader", dir)
		if os.Getuid() == 0 {
			become(t, cmd, dir)
		}
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// become has cmd run as an ordinary user who owns dir, from a copy of the test
// binary that this user can reach.
func become(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	const somebody = 65534
	bin, err := os.MkdirTemp("", "journal-bin")
	must(t, bin, err)
	t.Cleanup(func() { os.RemoveAll(bin) })
	exe, err := os.ReadFile(cmd.Path)
	must(t, exe, err)
	copied := filepath.Join(bin, "reader")
	if err := errors.Join(os.Chmod(bin, 0o755), os.WriteFile(copied, exe, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Dir = copied, bin
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
	names, err := os.ReadDir(dir)
	must(t, names, err)
	for _, n := range names {
		err = errors.Join(err, os.Chown(filepath.Join(dir, n.Name()), somebody, somebody))
	}
	if err = errors.Join(err, os.Chown(dir, somebody, somebody)); err != nil {
		t.Fatal(err)
	}
}
