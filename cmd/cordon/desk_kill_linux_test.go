package main

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// midway is a decision that takes a while to carry out, and what comes of it.
type midway struct {
	choice, script string
	roots          []string
	reason         string
	keys           string // that open its form in the terminal
	event, status  string
}

var midways = []midway{
	{choice: "merge", script: "echo x >src/x", keys: "m", event: "+operator.decided", status: "merged"},
	{choice: "release", script: "echo x >out", roots: []string{"out"}, reason: "fine", keys: "r ", event: "quarantine.released", status: "merged"},
	{choice: "discard", script: "echo x >src/x", reason: "no", keys: "D", event: "worker.discarded", status: "discarded"},
}

// waits makes a worker that waits for such a decision. A landing is under way until once lets it go on.
func (m midway) waits(s *site) (id, seen string) {
	s.t.Helper()
	s.heldLandings(1)
	return s.awaiting(m.script)
}

// begun waits until the decision is in the journal.
func (m midway) begun(s *site, id string) {
	s.t.Helper()
	s.await(m.event+" is in the journal", func() bool { types, _ := s.eventsOf(id); return slices.Contains(types, m.event) })
}

// once waits for the end of a decision whose desk is gone, and wants that it was carried out once.
func (m midway) once(s *site, id, via string) {
	s.t.Helper()
	if m.status == "merged" && s.landed(id) != 0 {
		s.t.Error("the desk was killed after the landing: nothing was under way")
	}
	s.letGo(theLandings)
	s.becomes(m.status)
	types, data := s.eventsOf(id)
	decided := slices.DeleteFunc(types, func(typ string) bool { return typ != m.event })
	if who, _ := data[m.event]["who"].(string); len(decided) != 1 || !strings.HasSuffix(who, " via "+via) {
		s.t.Errorf("%s is in the journal %d times, by %q", m.event, len(decided), who)
	}
	want := 0
	if m.status == "merged" {
		want = 1
	}
	if n := s.landed(id); n != want {
		s.t.Errorf("the result is on main %d times, want %d", n, want)
	}
	s.sound()
}

// TestKilledDesks kills the desk in the browser and the one in the terminal with SIGKILL while a decision is
// carried out. It ends as it would have, once, and a desk that is opened then shows it.
func TestKilledDesks(t *testing.T) {
	t.Parallel()
	for _, m := range midways {
		t.Run("web "+m.choice, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			id, seen := m.waits(s)
			d := openDesk(s)
			answered := make(chan bool)
			go func() {
				defer close(answered)
				// It is killed before it answers, or says after a while that the landing goes on.
				_ = d.sends("/decide", map[string]any{"worker": id, "choice": m.choice, "seen": seen, "roots": m.roots, "reason": m.reason})
			}()
			m.begun(s, id)
			_ = d.cmd.Process.Kill()
			<-d.done
			<-answered
			m.once(s, id, "web")
			if page := openDesk(s).screen("/worker/" + id); !strings.Contains(page, m.status) {
				t.Errorf("a new desk does not show that it is %s", m.status)
			}
		})
		t.Run("terminal "+m.choice, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			id, _ := m.waits(s)
			d := inTerminal(s, 110, 40)
			d.until(id, "YOU CAN")
			d.send(m.keys)
			d.until(m.choice+" "+id, "ctrl-s "+m.choice)
			d.send(m.reason)
			d.until(m.reason)
			d.send("\x13")
			m.begun(s, id)
			d.kill()
			m.once(s, id, "tui")
			next := inTerminal(s, 110, 40)
			next.until("0 need you")
			next.goTo(id)
			next.until(id, m.status)
		})
	}
}

// TestDesksRace: the desk in the browser, the one in the terminal and a command discard the same worker at once. One of them wins,
// and the others say who decided and when.
func TestDesksRace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, seen := s.awaiting("echo x >src/x")
	web, drawn := openDesk(s), inTerminal(s, 110, 40)
	drawn.until(id, "YOU CAN")
	drawn.send("D")
	drawn.until("discard "+id, "ctrl-s discard")
	var said sync.Map
	var all sync.WaitGroup
	all.Go(func() {
		_, text := web.post("/decide", map[string]any{"worker": id, "choice": "discard", "seen": seen})
		said.Store("web", text)
	})
	all.Go(func() {
		out, _ := s.command("discard", "--yes", id, "--seen", seen).CombinedOutput() // two of three are refused
		said.Store("command", string(out))
	})
	drawn.send("\x13")
	all.Wait()
	s.becomes("discarded")
	types, data := s.eventsOf(id)
	if n := len(slices.DeleteFunc(types, func(typ string) bool { return typ != "worker.discarded" })); n != 1 {
		t.Errorf("it was discarded %d times", n)
	}
	who, _ := data["worker.discarded"]["who"].(string)
	won := regexp.MustCompile(regexp.QuoteMeta(who) + ` discarded it at \d\d:\d\d:\d\d`)
	if strings.HasSuffix(who, " via tui") {
		drawn.until("0 need you")
	} else {
		text := ""
		drawn.until("is not as you saw it")
		s.await("the desk in the terminal says who won", func() bool { // at a look it may be half drawn
			text = strings.Join(strings.Fields(strings.ReplaceAll(drawn.screen(), "│", " ")), " ")
			return won.MatchString(text)
		}, drawn.screen)
		said.Store("tui", text)
	}
	losers := 0
	said.Range(func(face, text any) bool {
		if won.MatchString(text.(string)) {
			losers++
		} else if !strings.Contains(who, " via "+face.(string)) && (face != "command" || strings.Contains(who, " via ")) {
			t.Errorf("%s lost to %s, and says\n%s", face, who, text)
		}
		return true
	})
	if losers != 2 {
		t.Errorf("%d of three lost to %s", losers, who)
	}
	s.sound()
}
