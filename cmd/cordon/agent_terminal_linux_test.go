package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/screen"
)

// screens is what each client shows on a terminal.
var screens = map[client.Name]struct {
	ready string // when it waits for a prompt
	asks  string // by itself, in a home where it never ran; "": nothing
	leave string // what a person types to end it
}{
	"claude":   {`\? for shortcuts`, `Welcome to Claude Code`, "/exit"},
	"codex":    {`permissions: YOLO mode`, `Folder access`, "/quit"},
	"gemini":   {`Type your message`, `(?i)do you trust`, "/quit"},
	"opencode": {`Ask anything`, "", "/exit"},
	"copilot":  {`/ commands`, `Confirm folder trust`, "/exit"},
	"qwen":     {`Type your message`, "", "/quit"},
	"pi":       {`\(scripted\) gpt`, "", "/quit"},
}

// dialogs is every question that a client could ask before its prompt.
var dialogs = regexp.MustCompile(`(?i)do you trust|folder access|confirm folder trust|welcome to claude code|choose the text style|try new model|select.*auth|sign in with|enter to confirm`)

// viewer is a person before a terminal: it sees what is drawn, and its terminal answers
// what a program asks it.
type viewer struct {
	*console
	drawn    *screen.Screen
	followed int
	answered int
}

func watch(c *console) *viewer { return &viewer{console: c, drawn: screen.New(33, 77)} }

// enquiries are what a program asks a terminal, and what that types.
var enquiries = []struct{ ask, answer string }{{"\x1b[6n", "\x1b[1;1R"}, {"\x1b[c", "\x1b[?62;22c"}, {"\x1b[0c", "\x1b[?62;22c"}, {"\x1b[?u", "\x1b[?0u"}}

// look is what is on the screen.
func (v *viewer) look() string {
	text := v.text()
	_, _ = v.drawn.Write([]byte(text[v.followed:])) // it takes everything
	v.followed = len(text)
	for _, q := range enquiries {
		for n := strings.Count(text[v.answered:], q.ask); n > 0; n-- {
			_, _ = v.master.WriteString(q.answer) // it may have ended
		}
	}
	v.answered = len(text)
	return v.drawn.Text()
}

// sees waits for something on the screen.
func (v *viewer) sees(pattern string) string {
	v.t.Helper()
	re := regexp.MustCompile(pattern)
	done := v.done
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if text := v.look(); re.MatchString(text) {
			return text
		}
		select {
		case <-done: // what it wrote last may still be on its way
			done, end = nil, time.Now().Add(5*time.Second)
		default:
		}
	}
	if done == nil {
		v.t.Fatalf("it ended without %q; on the screen is\n%s", pattern, v.look())
	}
	v.t.Fatalf("%q is not on the screen:\n%s", pattern, v.look())
	return ""
}

// opens waits until a client waits for a prompt: its screen stays as it is.
func (v *viewer) opens(ready string) {
	v.t.Helper()
	const calm = 2 * time.Second
	for last, since := v.sees(ready), time.Now(); time.Since(since) < calm; time.Sleep(50 * time.Millisecond) {
		if now := v.sees(ready); now != last || dialogs.MatchString(now) {
			last, since = now, time.Now()
		}
	}
}

// types types like a person: the end of a line is a key of its own, not part of a paste.
func (v *viewer) types(text string) {
	v.t.Helper()
	for _, r := range text {
		v.send(string(r))
		time.Sleep(15 * time.Millisecond)
		v.look()
	}
	time.Sleep(300 * time.Millisecond)
}

// leaves types the word that ends the client until cordon has the screen again: a client that is busy may take the
// enter for one of its suggestions.
func (v *viewer) leaves(word, last string) {
	v.t.Helper()
	re := regexp.MustCompile(last)
	for range 3 {
		v.types(word)
		for range 2 {
			v.send("\r")
			for range 100 {
				if re.MatchString(v.look()) {
					return
				}
				time.Sleep(200 * time.Millisecond)
			}
		}
	}
	v.sees(last)
}

// waits lets time pass before the terminal.
func (v *viewer) waits(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		v.look()
	}
}

const terminalKind = "xterm-256color"

// interactive starts the client on a terminal, without a prompt.
func (s *staged) interactive() *viewer {
	s.t.Helper()
	s.Prompt = ""
	args := s.runArgs()
	return watch(consoleOf(s.site, terminalKind, s.command(args[:len(args)-2]...), nil))
}

// unspoken demands that cordon has written nothing on the screen since its worker runs.
func (v *viewer) unspoken(id string) {
	v.t.Helper()
	_, drawn, ok := strings.Cut(v.text(), " running ")
	if said := regexp.MustCompile(id + ` {2,}[a-z]+ {2,}[^\r\n]*`).FindString(drawn); !ok || said != "" {
		v.t.Errorf("cordon writes on the screen of its client: %q", said)
	}
}

// halfPrompt is what a person has typed when they begin to think.
const halfPrompt, restOfPrompt = "do what the", " script says"

const proofWithin = 3 * time.Second

// A person opens each client, thinks for longer than its hooks have time, with half of a
// prompt typed, and goes on: nothing stops the client, asks them anything or writes on
// their screen. The work lands, and the transcript can be read.
func TestSlowAgentsTerminal(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, name := range clients.Names() {
		shown, ok := screens[name]
		if !ok {
			t.Errorf("%s has no row in screens", name)
			continue
		}
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, playing(t, name, []deed{{kind: shellTool, command: "echo new >src/new.txt"}}, ""))
			s.policy = []string{"agent:", "  proof_within: " + proofWithin.String()}
			v := s.interactive()
			v.opens(shown.ready)
			id := s.only().Worker
			v.types(halfPrompt)
			v.waits(2 * proofWithin)
			if text := v.look(); dialogs.MatchString(text) || !strings.Contains(text, halfPrompt) {
				t.Errorf("it asks something:\n%s", text)
			}
			if w := s.only(); w.Status != "running" {
				t.Fatalf("it is %s:\n%s", w.Status, v.look())
			}
			v.types(restOfPrompt)
			v.sees(regexp.QuoteMeta(halfPrompt + restOfPrompt)) // they look before they send it
			v.send("\r")
			v.sees(regexp.QuoteMeta(lastWords))
			v.waits(3 * time.Second) // they read it
			v.unspoken(id)
			v.leaves(shown.leave, id+` +merged`)
			v.end(0)
			if !regexp.MustCompile(id + ` +guard +live: `).MatchString(v.text()) {
				t.Errorf("nothing is said about its hooks:\n%s", v.look())
			}
			if name == "claude" && strings.Contains(v.text(), "to allow in a new run") {
				t.Errorf("its own connections are taken for the worker's:\n%s", v.look())
			}
			if name == "codex" && !strings.Contains(v.text(), "(codex asks for raw.githubusercontent.com itself") {
				t.Errorf("its own connection is taken for the worker's:\n%s", v.look())
			}
			if got := s.landedFile("src/new.txt"); got != "new" {
				t.Errorf("landed %q", got)
			}
			var log struct{ Text string }
			s.parse(s.cordon([]int{0}, "logs", "--json", id).out, &log)
			for _, got := range []string{s.cordon([]int{0}, "logs", id).out, log.Text} {
				if strings.Contains(got, "\x1b") {
					t.Errorf("the transcript has screen codes:\n%q", got)
				}
				for _, words := range []string{halfPrompt + restOfPrompt, lastWords} {
					if !strings.Contains(got, words) {
						t.Errorf("%q is not in the transcript:\n%s", words, got)
					}
				}
			}
		})
	}
}

// Without cordon, a client that never ran in this home asks: what the test above does not
// see is there to be seen.
func TestSlowAgentsTerminalBare(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, name := range clients.Names() {
		shown := screens[name]
		if shown.asks == "" {
			continue
		}
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, playing(t, name, nil, ""))
			cmd := exec.Command(filepath.Join(installed(t), string(name)), s.args...)
			cmd.Dir, cmd.Env = s.repo, append(s.env, append(bareArgs[name].env, "PWD="+s.repo)...)
			v := watch(consoleOf(s.site, terminalKind, cmd, nil))
			v.sees(shown.asks)
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil { // it and what it started
				t.Error(err)
			}
			<-v.done
		})
	}
}

// A client whose hooks are dead has as much time as its person: until the first prompt.
// Then it is stopped before its first call has done anything.
func TestSlowAgentsTerminalUnguarded(t *testing.T) {
	slow(t)
	t.Parallel()
	for name, body := range map[client.Name]string{
		"opencode": `exec "$real" --pure "$@"`, // drops every plugin
		"copilot":  `for a; do shift; case $a in --plugin-dir*) ;; *) set -- "$@" "$a";; esac; done; exec "$real" "$@"`,
	} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, playing(t, name, []deed{{kind: shellTool, command: "sleep 5; echo out >src/unwatched.txt; sleep 60"}}, ""))
			wrapped := s.write("home/wrapped/"+string(name), fmt.Sprintf("#!/bin/sh\nreal=%s\ncase $1 in --version) exec \"$real\" --version;; esac\n%s\n",
				filepath.Join(s.bin, string(name)), body))
			if err := os.Chmod(wrapped, 0o755); err != nil {
				t.Fatal(err)
			}
			s.set("PATH", filepath.Dir(wrapped)+":"+s.bin+":"+os.Getenv("PATH"))
			s.policy = []string{"agent:", "  proof_within: 10m"} // its call ends it
			v := s.interactive()
			v.opens(screens[name].ready)
			v.types(halfPrompt + restOfPrompt)
			v.send("\r")
			v.sees(`never reported`)
			v.end(3)
			if len(s.model.Requests()) == 0 {
				t.Error("the prompt was not sent")
			}
			w := s.only()
			if left := s.alive(w.Worker); len(left) > 0 {
				t.Errorf("%d processes are left", len(left))
			}
			if diff := s.cordon([]int{0}, "diff", w.Worker).out; strings.Contains(diff, "unwatched") {
				t.Errorf("its call ran:\n%s", diff)
			}
		})
	}
}
