package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// searches are calls that run a program which the client would fetch, and words of what they find in src/needle.txt.
var searches = map[client.Name][]testmodel.Call{
	"opencode": {
		{Tool: "glob", Input: input{"pattern": "**/needle*"}},
		{Tool: "grep", Input: input{"pattern": "hay and need"}},
	},
}

// A program that tools of a client run, and that the client keeps in the operator's home, is there in the
// cell, and the client cannot write it. Where there is none, cordon says so.
func TestAgentsHelpers(t *testing.T) {
	t.Parallel()
	for _, a := range clients.All() {
		for _, h := range a.Helpers {
			t.Run(string(a.Name)+"/"+h.Program, func(t *testing.T) {
				t.Parallel()
				var script testmodel.Script
				for _, call := range searches[a.Name] {
					script.Turns = append(script.Turns, testmodel.Do(call))
				}
				script.Turns = append(script.Turns, testmodel.Say(lastWords))
				s := agentSite(t, a.Name, script)
				s.write("repo/src/needle.txt", "hay and needles\n")
				s.git("add", ".")
				s.git("commit", "-q", "-m", "a needle")
				s.set("PATH", s.bin+":"+pathWithout(h.Program))
				if o := s.run([]int{0}); !strings.Contains(o.err, h.Lacking()) {
					t.Errorf("that %s is missing is not said:\n%s", h.Program, o.err)
				}
				if o := s.cordon([]int{0, 1}, "doctor"); !strings.Contains(o.out, h.Lacking()) {
					t.Errorf("the doctor does not say that %s is missing:\n%s", h.Program, o.out)
				}
				for _, dir := range h.Below {
					at := filepath.Join(s.home, dir, h.Program)
					s.copyProgram(realHelper(t, h.Program), at)
					s.model.Play(script)
					if o := s.run([]int{0}); strings.Contains(o.err, h.Program+" was not found") {
						t.Errorf("%s is not found:\n%s", at, o.err)
					}
					for _, call := range searches[a.Name] {
						if r := s.lastResult(call.Tool); !strings.Contains(r.Text, "needle.txt") || r.Error {
							t.Errorf("with %s, %s says %+v", at, call.Tool, r)
						}
					}
					if err := os.Remove(at); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// pathWithout is the PATH of the tests without the directories that have a program.
func pathWithout(program string) string {
	list := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, program))
		return err == nil
	})
	return strings.Join(list, string(filepath.ListSeparator))
}

// realHelper is a program that one of the clients brings with it.
func realHelper(t *testing.T, program string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(installed(t)), "@openai/codex-*/vendor/*/codex-path", program))
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no %s: %v", program, err)
	}
	return found[0]
}

// lastResult is what came of the last call of a tool.
func (s *staged) lastResult(tool string) testmodel.Result {
	s.t.Helper()
	all := s.model.Results()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Tool == tool {
			return all[i]
		}
	}
	s.t.Fatalf("the client told of no call of %s; it told %+v", tool, all)
	return testmodel.Result{}
}
