package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"cordon/internal/client"
	"cordon/internal/screen"
	"cordon/internal/testwait"
)

// shownBy is what a client shows on a terminal.
type shownBy struct {
	ready string // when it waits for a prompt
	again string // when it waits for the next one, if that differs
	asks  string // by itself, in a home where it never ran; "": nothing
	leave string // what a person types to end it
	offer string // what it says to that: a suggestion that is chosen, which the enter key takes, or that it wants the key again
	mute  bool   // its terminal answers nothing: it takes answers that come late, as on a busy machine, for typed text
	enter string // what ends a line, if not the enter key alone
}

// endOfInput is a key that ends a program that waits for a line.
const endOfInput = "\x04"

// screens has a row for each client. On a terminal that answers nothing, Gemini takes an enter key within 30 ms of a letter
// for a new line in the text; the End key between them prevents that.
var screens = map[client.Name]shownBy{
	"claude":   {`\? for shortcuts`, "", `Welcome to Claude Code`, "/exit", `❯ /exit +Exit`, false, ""},
	"codex":    {`permissions: YOLO mode[^›]*›`, "", `Folder access`, "/quit", `› /quit +exit`, false, ""},
	"gemini":   {`Type your message`, "", `(?i)do you trust`, endOfInput, `Ctrl\+D again`, true, "\x1b[F\r"},
	"opencode": {`Ask anything`, `ctrl\+p commands`, "", "/exit", `\n[^/\n]*\n[^/\n]*/exit +Exit`, false, ""},
	"copilot":  {`/ commands`, "", `Confirm folder trust`, "/exit", `❯ /exit +\S`, false, ""},
	"qwen":     {`Type your message`, "", "", "/quit ", `> quit +exit`, true, ""},
	"pi":       {`\(scripted\) gpt`, "", "", "/quit", `→ quit +Quit`, false, ""},
}

// dialogs is every question that a client could ask before its prompt.
var dialogs = regexp.MustCompile(`(?i)do you trust|folder access|confirm folder trust|welcome to claude code|choose the text style|try new model|select.*auth|sign in with|enter to confirm`)

// viewer is a person before a terminal: it sees what is drawn.
type viewer struct {
	*console
	enter    string // what ends a line
	drawn    *screen.Screen
	shown    string // on the screen, when it was last looked at
	followed int
}

func watch(c *console) *viewer {
	return &viewer{console: c, drawn: screen.New(int(usualSize.Rows), int(usualSize.Cols))}
}

// watch is a person before a terminal on which a command runs.
func (s *staged) watch(cmd *exec.Cmd) *viewer {
	shown, answers := screens[s.client], &answerer{}
	if shown.mute {
		answers = nil
	}
	v := watch(startConsole(s.site, terminalKind, usualSize, cmd, nil, answers))
	v.enter = cmp.Or(shown.enter, "\r")
	return v
}

// What a program writes before and after it draws the screen anew: a terminal shows only the result.
const beginDrawing, endDrawing = "\x1b[?2026h", "\x1b[?2026l"

// look is what is on the screen.
func (v *viewer) look() string {
	text := v.console.shown.String()[v.followed:]
	if begin := strings.LastIndex(text, beginDrawing); begin > strings.LastIndex(text, endDrawing) {
		text = text[:begin]
	}
	if text != "" {
		_, _ = v.drawn.Write([]byte(text)) // it takes everything
		v.followed += len(text)
		v.shown = v.drawn.Text()
	}
	return v.shown
}

// until waits for a condition of what is on the screen. A test that fails prints the screen, the journal and the processes.
func (v *viewer) until(what string, holds func(screen string) bool) {
	v.t.Helper()
	v.site.await(what, func() bool { return holds(v.look()) }, v.screenNow)
}

// screenNow is the screen, for a test that fails.
func (v *viewer) screenNow() string {
	ended := ""
	select {
	case <-v.done:
		ended = ", and " + v.cmd.ProcessState.String()
	default:
	}
	return fmt.Sprintf("before the cursor is %q%s; on the screen is\n%s", v.drawn.BeforeCursor(), ended, v.look())
}

// sees waits for something on the screen.
func (v *viewer) sees(pattern string) string {
	v.t.Helper()
	re := regexp.MustCompile(pattern)
	v.until(fmt.Sprintf("%q is on the screen", pattern), re.MatchString)
	return v.shown
}

// isSign reports what a client draws before the text that a person has typed.
func isSign(r rune) bool { return r != '/' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// typed reports whether a text stands where a person types. Suggestions behind the cursor do not count, as clients complete
// the first letter of a command. pi draws no sign, and its cursor is elsewhere while it suggests commands.
func (v *viewer) typed(text string) bool {
	return strings.TrimLeftFunc(v.drawn.BeforeCursor(), isSign) == text || slices.Contains(strings.Split(v.shown, "\n"), strings.TrimRight(text, " "))
}

// types types like a person, who sees each letter before they type the next one: clients take several that come at once
// for a paste, and the end of a line among them is no end of the line.
func (v *viewer) types(text string) { v.typesOn("", text) }

// typesOn types more behind what was typed.
func (v *viewer) typesOn(before, text string) {
	v.t.Helper()
	for _, r := range text {
		before += string(r)
		v.send(string(r))
		v.until(fmt.Sprintf("%q is what was typed", before), func(string) bool { return v.typed(before) })
	}
}

// leaves types the word that ends the client when the client waits for a prompt, and sees it chosen before it presses enter.
// A space follows where the enter key may know of a letter only after it is drawn. Gemini completes a word by what it knew of
// it before, and makes "/quitt" of "/quit": it is left by a key.
func (v *viewer) leaves(shown shownBy, last string) {
	v.t.Helper()
	v.sees(cmp.Or(shown.again, shown.ready))
	if shown.leave == endOfInput {
		v.leavesByKey(shown.offer, last)
		return
	}
	word := strings.TrimRight(shown.leave, " ")
	v.types(word)
	v.sees(shown.offer)
	v.typesOn(word, shown.leave[len(word):])
	v.send(v.enter)
	v.sees(last)
}

// leavesByKey presses the key until the client wants it again, and then once more. It soon forgets the first, and where nothing
// waits for a line any more the key means nothing.
func (v *viewer) leavesByKey(again, last string) {
	v.t.Helper()
	wanted, gone := regexp.MustCompile(again), regexp.MustCompile(last)
	var pressed time.Time
	v.until(fmt.Sprintf("%q is on the screen", last), func(screen string) bool {
		if gone.MatchString(screen) {
			return true
		}
		if wait := time.Second; time.Since(pressed) > wait || wanted.MatchString(screen) && time.Since(pressed) > wait/10 {
			v.send(endOfInput)
			pressed = time.Now()
		}
		return false
	})
}

// enters types a line, or more of one, and ends it. A client may draw a letter before its enter key knows of it (Gemini sent
// "the second par"): a space follows the line, and the clients cut spaces at the end.
func (v *viewer) enters(before, text string) {
	v.t.Helper()
	v.typesOn(before, text+" ")
	v.send(v.enter)
}

// asksNothing demands that the client goes on without a question while time passes before the terminal.
func (v *viewer) asksNothing(while time.Duration) {
	v.t.Helper()
	testwait.Still(v.t, "it asks nothing", while, func() bool { return !dialogs.MatchString(v.look()) }, v.screenNow, v.site.evidence)
}

const terminalKind = "xterm-256color"

// interactive starts the client on a terminal, without a prompt.
func (s *staged) interactive() *viewer {
	s.t.Helper()
	s.Prompt = ""
	args := s.runArgs()
	return s.watch(s.command(args[:len(args)-2]...))
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

// proofWithin is how long the hooks may take after the first prompt: more than a busy machine keeps them from speaking.
const proofWithin = 15 * time.Second

// A person opens each client, thinks for longer than its hooks have time, with half of a
// prompt typed, and goes on: nothing stops the client, asks them anything or writes on
// their screen. The work lands, and the transcript can be read.
func TestAgentsTerminal(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
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
			v.sees(shown.ready)
			id := s.only().Worker
			v.types(halfPrompt)
			v.asksNothing(proofWithin + 3*time.Second)
			if w := s.only(); w.Status != "running" {
				t.Fatalf("it is %s:\n%s", w.Status, v.look())
			}
			v.enters(halfPrompt, restOfPrompt) // what they typed first is still there
			v.sees(regexp.QuoteMeta(lastWords))
			v.asksNothing(3 * time.Second) // they read it
			v.unspoken(id)
			v.leaves(shown, id+` +merged`)
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
func TestAgentsTerminalBare(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		shown := screens[name]
		if shown.asks == "" {
			continue
		}
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, playing(t, name, nil, ""))
			cmd := exec.Command(filepath.Join(installed(t), string(name)), s.args...)
			cmd.Dir, cmd.Env = s.repo, append(s.env, append(bareArgs[name].env, "PWD="+s.repo)...)
			v := s.watch(cmd)
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
func TestAgentsTerminalUnguarded(t *testing.T) {
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
			v.sees(screens[name].ready)
			v.enters("", halfPrompt+restOfPrompt)
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
