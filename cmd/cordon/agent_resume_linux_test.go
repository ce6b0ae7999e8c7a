package main

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// readyAgain is what a client shows that waits for the next prompt of a conversation, where that differs from
// what it shows for the first one.
var readyAgain = map[client.Name]string{"opencode": `ctrl\+p commands`}

// recorded waits until a client has written down what it says last: some do so a moment after they show it.
func (s *staged) recorded(v *viewer, id string) {
	v.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(s.home), "state/cordon/*/agents", id))
	if err != nil || len(dirs) != 1 {
		v.t.Fatalf("%q: %v", dirs, err)
	}
	dir := dirs[0]
	for end := time.Now().Add(time.Minute); time.Now().Before(end); v.waits(200 * time.Millisecond) {
		found := false
		_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !found {
				text, _ := os.ReadFile(name) // it may be gone again
				found = bytes.Contains(text, []byte(lastWords))
			}
			return nil
		})
		if found {
			return
		}
	}
	v.t.Fatalf("no file below %s has the last words; on the screen is\n%s", dir, v.look())
}

// enters types a line, sees it, and ends it: a client that is slow to draw loses the end of a line otherwise.
func (v *viewer) enters(line string) {
	v.t.Helper()
	v.types(line)
	v.sees(regexp.QuoteMeta(line))
	v.send("\r")
}

// A worker on a terminal is stopped in the middle of a conversation. The operator resumes it on a
// terminal: they see the conversation, nothing asks or stops them, and both parts of the work land.
func TestSlowAgentsTerminalResume(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, name := range clients.Names() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, name, []deed{{kind: shellTool, command: "echo first >src/first.txt"}}, "")
			more := playing(t, name, []deed{{kind: shellTool, command: "echo second >src/second.txt"}}, "")
			more.Turns[len(more.Turns)-1].Text = "the second part is there"
			script.Turns = append(script.Turns, more.Turns...)
			s := agentSite(t, name, script)
			v := watch(consoleOf(s.site, terminalKind, s.command(s.runArgs("-i")...), nil))
			v.sees(regexp.QuoteMeta(lastWords))
			id := s.only().Worker
			s.recorded(v, id)
			s.cordon([]int{0}, "stop", id)
			<-v.done
			v = watch(consoleOf(s.site, terminalKind, s.command("resume", id), nil))
			v.sees(regexp.QuoteMeta(lastWords)) // the conversation is there again
			v.opens(cmp.Or(readyAgain[name], screens[name].ready))
			if text := v.look(); dialogs.MatchString(text) {
				t.Errorf("it asks something:\n%s", text)
			}
			v.enters("now the second part")
			v.sees("the second part is there")
			v.unspoken(id)
			v.enters(screens[name].leave)
			v.sees(id + ` +merged`)
			v.end(0)
			if s.landedFile("src/first.txt") != "first" || s.landedFile("src/second.txt") != "second" {
				t.Errorf("landed %q and %q\n%s", s.landedFile("src/first.txt"), s.landedFile("src/second.txt"), v.look())
			}
			requests := s.model.Requests()
			if !slices.ContainsFunc(requests, func(r testmodel.Request) bool { // some clients ask once more, for a title
				return strings.Contains(r.User, "now the second part") && strings.Contains(r.User, s.Prompt)
			}) {
				t.Errorf("the conversation that went on says %q", requests[len(requests)-1].User)
			}
		})
	}
}
