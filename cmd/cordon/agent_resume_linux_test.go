package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// resumedClients stand for the others: one that keeps its conversations by the directory, and
// one that asks about the directory at each start.
var resumedClients = []client.Name{"claude", "codex"}

// A worker on a terminal is stopped in the middle of a conversation. The operator resumes it on a
// terminal: they see the conversation, nothing asks or stops them, and both parts of the work land.
func TestSlowAgentsTerminalResume(t *testing.T) {
	slow(t)
	for _, name := range resumedClients {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, name, []deed{{kind: shellTool, command: "echo first >src/first.txt"}}, "")
			more := playing(t, name, []deed{{kind: shellTool, command: "echo second >src/second.txt"}}, "")
			more.Turns[len(more.Turns)-1].Text = "the second part is there"
			script.Turns = append(script.Turns, more.Turns...)
			s := agentSite(t, name, script)
			v := watch(consoleOf(s.site, terminalKind, s.command(s.runArgs("-i")...), nil))
			v.sees(regexp.QuoteMeta(lastWords))
			v.waits(2 * time.Second) // it writes its record down
			id := s.only().Worker
			s.cordon([]int{0}, "stop", id)
			<-v.done
			v = watch(consoleOf(s.site, terminalKind, s.command("resume", id), nil))
			v.opens(screens[name].ready)
			if text := v.look(); !strings.Contains(text, lastWords) || dialogs.MatchString(text) {
				t.Errorf("the conversation is not on the screen:\n%s", text)
			}
			v.types("now the second part")
			v.send("\r")
			v.sees("the second part is there")
			v.unspoken(id)
			v.types(screens[name].leave)
			v.send("\r")
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
