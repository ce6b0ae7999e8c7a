package line

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/state"
	"cordon/internal/testground"
)

// victimOf is the state directory of a process that this test starts of itself, to be killed.
const victimOf = "CORDON_TEST_QUEUE_VICTIM"

func TestMain(m *testing.M) {
	if top := os.Getenv(victimOf); top != "" {
		hold(top)
	}
	os.Exit(testground.Run("internal/queue/line", m))
}

// ticket is a place in the queue of main. Its branch stays where it is.
func ticket(dir state.Dir, id string) Ticket {
	return Ticket{Dir: dir, Target: "refs/heads/main", ID: id, Slots: 2, Result: Result{Base: "b", Snapshot: git.OID(id)}, Tip: "tip",
		Branch: func() (tip, tree git.OID, err error) { return "tip", "tree", nil }}
}

// hold enters the queue, passes its test, and stays in the middle of saying so, with the lock of
// the queue.
func hold(top string) {
	dir, err := place(top)
	if err == nil {
		t := ticket(dir, "victim")
		t.Branch = func() (git.OID, git.OID, error) {
			os.Stdout.WriteString("held\n")
			select {}
		}
		var p *Place
		if p, err = Enter(t); err == nil {
			os.Stdout.WriteString("entered\n")
			_, _ = os.Stdin.Read(make([]byte, 1)) // until another waits behind it
			var turn Turn
			if turn, err = p.Next(context.Background(), nil); err == nil {
				_, err = p.Done(turn.Run, true, "with victim", "commit")
			}
		}
	}
	panic(err)
}

func place(top string) (state.Dir, error) {
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(top, "state")); err != nil {
		return state.Dir{}, err
	}
	dir, err := state.For(git.Host{Repo: git.Repo{Dir: filepath.Join(top, "repo", ".git")}, Top: filepath.Join(top, "repo")})
	if err != nil {
		return dir, err
	}
	return dir, errors.Join(os.MkdirAll(filepath.Join(dir.Path(), "queue"), 0o700), os.MkdirAll(filepath.Join(dir.Path(), "workers", "victim"), 0o700),
		os.MkdirAll(filepath.Join(dir.Path(), "workers", "other"), 0o700))
}

// A process that is killed while it holds the lock of the queue holds nobody up: its result leaves,
// and the one behind it is tested again without it and lands.
func TestKilledWithTheLock(t *testing.T) {
	top := t.TempDir()
	t.Setenv("XDG_STATE_HOME", "")
	dir, err := place(top)
	if err != nil {
		t.Fatal(err)
	}
	victim := exec.Command(os.Args[0])
	victim.Env, victim.Stderr = append(os.Environ(), victimOf+"="+top), os.Stderr
	in, err := victim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	hears := func(word string) {
		t.Helper()
		if !said.Scan() || said.Text() != word {
			t.Fatalf("it says %q, not %q", said.Text(), word)
		}
	}
	hears("entered")
	other, err := Enter(ticket(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Leave()
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	hears("held")
	lock := filepath.Join("queue", name("refs/heads/main")+".lock")
	if !dir.Held(lock) {
		t.Fatal("the lock of the queue is not held: this test shows nothing")
	}
	if err := victim.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // it was killed
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var last Turn
	for {
		turn, err := other.Next(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if turn.Lands {
			break
		}
		if bad, err := other.Done(turn.Run, true, "with other", "commit"); bad || err != nil {
			t.Fatal(bad, err)
		}
		last = turn
	}
	if len(last.Ahead) != 0 {
		t.Errorf("it lands although its last test had %v ahead of it", last.Ahead)
	}
	other.Landed("new tip")
	if left, err := All(dir); len(left) != 0 || err != nil {
		t.Errorf("left in the queue: %v, %v", left, err)
	}
}

// A queue that was half written, or that is damaged, is an empty one: who waits enters again.
func TestDamagedQueue(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	dir, err := place(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, err := Enter(ticket(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Leave()
	for _, text := range []string{"", "{", `{"target": "refs/heads/other"}`, `{"target": "refs/heads/main", "queue": {"entries": [{"id": "ghost", "testing": true}]}}`} {
		if err := errors.Join(os.WriteFile(p.path, []byte(text), 0o600), os.WriteFile(p.path+".new", []byte("half"), 0o600)); err != nil {
			t.Fatal(err)
		}
		turn, err := p.Next(t.Context(), nil)
		if err != nil || turn.Lands || len(turn.Ahead) != 0 {
			t.Errorf("%q: %+v, %v", text, turn, err)
		}
	}
}
