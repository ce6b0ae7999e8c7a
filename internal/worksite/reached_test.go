package worksite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/egress/record"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// recordOf is a worker of a session whose state is a directory of the test's.
func recordOf(t *testing.T) (*Site, *ledger.Worker) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	place, err := state.For(git.Host{Repo: git.Repo{Dir: filepath.Join(t.TempDir(), ".git")}})
	if err != nil {
		t.Fatal(err)
	}
	return &Site{State: place, Voice: Silent{}, Now: time.Now}, &ledger.Worker{ID: "able-fox"}
}

// A line that cordon did not finish, because it was killed, costs no other one.
func TestRecordAfterAKill(t *testing.T) {
	s, w := recordOf(t)
	keep := func(names ...string) {
		f, err := s.OpenNet(w.ID)
		if err != nil {
			t.Fatal(err)
		}
		k := record.NewKeeper(f)
		for _, name := range names {
			k.Record(record.Record{Time: time.Now(), Kind: record.Connect, Name: name, Port: 443, Verdict: record.Refused, Reason: "why"})
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	keep("a.example", "b.example")
	path := s.WorkerFile(w.ID, netFile)
	fi, err := os.Stat(path)
	if err != nil || fi.Mode() != 0o600 {
		t.Fatalf("%v %v", fi, err)
	}
	if err := os.Truncate(path, fi.Size()-10); err != nil {
		t.Fatal(err)
	}
	keep("c.example")
	var names []string
	tally, err := s.Reached(w, func(r record.Record) { names = append(names, r.Name) })
	if err != nil || strings.Join(names, " ") != "a.example c.example" || tally.Refused != 2 || tally.Damaged != 1 {
		t.Errorf("%q %+v %v", names, tally, err)
	}
	if word := Summed(tally); word != "0 allowed, 2 refused; 1 line of the record cannot be read" {
		t.Errorf("%q", word)
	}
}

// A worker without a cell can put something else where the record is.
func TestRecordThatIsNone(t *testing.T) {
	s, w := recordOf(t)
	if tally, err := s.Reached(w, nil); err != nil || tally.Refused != 0 {
		t.Errorf("none: %+v %v", tally, err)
	}
	if err := os.MkdirAll(s.State.Worker(string(w.ID)), 0o700); err != nil {
		t.Fatal(err)
	}
	path := s.WorkerFile(w.ID, netFile)
	for name, make := range map[string]func() error{
		"link":      func() error { return os.Symlink("/etc/hosts", path) },
		"directory": func() error { return os.Mkdir(path, 0o700) },
		"pipe":      func() error { return unix.Mkfifo(path, 0o600) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reached(w, nil); err == nil {
			t.Errorf("%s: was read", name)
		}
		if f, err := s.OpenNet(w.ID); err == nil {
			f.Close()
			t.Errorf("%s: was opened to be written", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSummed(t *testing.T) {
	for want, tally := range map[string]record.Tally{
		"0 allowed, 0 refused":                                      {},
		"0 allowed, 0 refused, 2 names looked up":                   {Resolved: 2},
		"0 allowed, 3 refused, 1 name looked up":                    {Refused: 3, Resolved: 1},
		"1 allowed, 0 refused, 2 failed, 1 other name looked up":    {Allowed: 1, Failed: 2, Resolved: 1},
		"1 allowed, 2 refused; 1 line of the record cannot be read": {Allowed: 1, Refused: 2, Damaged: 1},
	} {
		if got := Summed(tally); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A journal from before there were digests says nothing of the file, and one that has
// the same says that it is that.
func TestAltered(t *testing.T) {
	s, w := recordOf(t)
	for name, net := range map[string]*record.Tally{"nothing": nil, "no digest": {Refused: 1}, "the same": {Digest: "d"}} {
		w.Net = net
		if altered, err := s.Altered(t.Context(), w, record.Tally{Digest: "d"}); altered || err != nil {
			t.Errorf("%s: %v %v", name, altered, err)
		}
	}
}
