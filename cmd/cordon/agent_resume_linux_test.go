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

	"cordon/internal/testmodel"
)

// telemetry marks what Qwen Code writes down of an answer before the answer itself: it does not show that when it is resumed.
const telemetry = `"ui_telemetry"`

// recorded waits until a client has written down what it says last: some do so a moment after they show it.
func (s *staged) recorded(v *viewer, id string) {
	v.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(s.home), "state/cordon/*/agents", id))
	if err != nil || len(dirs) != 1 {
		v.t.Fatalf("%q: %v", dirs, err)
	}
	v.until("a file below "+dirs[0]+" has the last words", func(string) bool {
		found := false
		_ = filepath.WalkDir(dirs[0], func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !found {
				text, _ := os.ReadFile(name) // it may be gone again
				found = slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
					return bytes.Contains(line, []byte(lastWords)) && !bytes.Contains(line, []byte(telemetry))
				})
			}
			return nil
		})
		return found
	})
}

// A worker on a terminal is stopped in the middle of a conversation. The operator resumes it on a
// terminal: they see the conversation, nothing asks or stops them, and both parts of the work land.
func TestAgentsTerminalResume(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, name, []deed{{kind: shellTool, command: "echo first >src/first.txt"}}, "")
			more := playing(t, name, []deed{{kind: shellTool, command: "echo second >src/second.txt"}}, "")
			more.Turns[len(more.Turns)-1].Text = "the second part is there"
			script.Turns = append(script.Turns, more.Turns...)
			s := agentSite(t, name, script)
			v := s.watch(s.command(s.runArgs("-i")...))
			// On a busy machine a slow client needs minutes for each of these.
			v.until("it asked the model", func(string) bool { return len(s.model.Requests()) > 0 })
			v.until("it told the model what came of its call", func(string) bool { return len(s.model.Results()) > 0 })
			v.sees(regexp.QuoteMeta(lastWords))
			id := s.only().Worker
			s.recorded(v, id)
			s.cordon([]int{0}, "stop", id)
			<-v.done
			v = s.watch(s.command("resume", id))
			v.sees(regexp.QuoteMeta(lastWords)) // the conversation is there again
			v.sees(cmp.Or(screens[name].again, screens[name].ready))
			v.asksNothing(2 * time.Second)
			v.enters("", "now the second part")
			v.sees("the second part is there")
			v.unspoken(id)
			v.leaves(screens[name], id+` +merged`)
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
