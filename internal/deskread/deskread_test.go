package deskread

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"cordon/internal/journal"
	"cordon/internal/session"
)

// followed is a repository whose journal a desk follows.
func followed(t *testing.T) (*session.Session, *journal.Journal) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	repo := filepath.Join(dir, "repo")
	for _, args := range [][]string{{"init", "-q", repo}, {"-C", repo, "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "base"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	s, err := session.Open(context.Background(), repo)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.State.Make(s.Host); err != nil {
		t.Fatal(err)
	}
	log, err := journal.Open(s.State.Path())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		happens(t, log)
	}
	if err := s.Follow(); err != nil {
		t.Fatal(err)
	}
	return s, log
}

func happens(t *testing.T, log *journal.Journal) {
	t.Helper()
	if _, err := log.Append("", "+test.happened", nil); err != nil {
		t.Fatal(err)
	}
}

// known is what Known says, as a number of events and a word.
func known(t *testing.T, h *Health, s *session.Session) (int, bool) {
	t.Helper()
	v, err := h.Known(s)
	if err != nil {
		t.Fatal(err)
	}
	return v.Events, v.Sound
}

// A desk counts the events that come, and sees damage to what it has read when it looks at everything again: whenever it is
// asked to, and at the latest a minute later.
func TestHealth(t *testing.T) {
	s, log := followed(t)
	now := time.Now()
	s.Now = func() time.Time { return now }
	var h Health
	if n, sound := known(t, &h, s); n != 3 || !sound {
		t.Fatal(n, sound)
	}
	happens(t, log)
	if n, sound := known(t, &h, s); n != 4 || !sound {
		t.Error(n, sound)
	}
	file := filepath.Join(s.State.Path(), journal.File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte("happened"), []byte("HAPPENED"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, sound := known(t, &h, s); n != 4 || !sound { // the control: nothing else would notice
		t.Error(n, sound)
	}
	now = now.Add(recheck + time.Second)
	if _, sound := known(t, &h, s); sound {
		t.Error("the damage is not seen after a minute")
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, sound := known(t, &h, s); !sound {
		t.Error("a journal that was mended still counts as damaged")
	}
	if v, err := h.Check(s); err != nil || !v.Sound || v.Events != 4 {
		t.Errorf("%+v, %v", v, err)
	}
}

// A journal that is replaced by another is read anew.
func TestReplacedJournal(t *testing.T) {
	s, _ := followed(t)
	if events, err := s.Events(); err != nil || len(events) != 3 {
		t.Fatal(len(events), err)
	}
	other := t.TempDir()
	log, err := journal.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		happens(t, log)
	}
	for _, name := range []string{journal.File, journal.HeadFile} {
		text, err := os.ReadFile(filepath.Join(other, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.State.Path(), name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if events, err := s.Events(); err != nil || len(events) != 5 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// A desk is told of an event, and looks again a moment later.
func TestChanges(t *testing.T) {
	s, log := followed(t)
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := Changes(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	happens(t, log)
	<-changes
	<-changes // without another event
	cancel()
	for range changes { // it ends
	}
}
