package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/agent/clients"
)

// A client that unpacks itself from its program does so once. Workers share the files, or begin with copies of
// some, cannot write what they share, and get others when somebody else has.
func TestAgentsUnpackOnce(t *testing.T) {
	t.Parallel()
	for _, a := range clients.All() {
		if a.Unpacks == nil {
			continue
		}
		t.Run(string(a.Name), func(t *testing.T) {
			t.Parallel()
			script := playing(t, a.Name, []deed{{kind: shellTool, command: "sh poison.sh; echo out >src/out.txt"}}, "")
			s := agentSite(t, a.Name, script)
			s.set("XDG_STATE_HOME", filepath.Join(s.home, ".local/state"))
			shared := "\"$HOME\"/.local/state/cordon/*/unpacked/*/files/" + filepath.Dir(a.Unpacks.Has) + "/*"
			for _, name := range a.Unpacks.Shown {
				shared += " \"$HOME\"/.local/state/cordon/*/agents/*/" + name + "/*/SKILL.md"
			}
			s.write("repo/poison.sh", "for f in "+shared+"; do\n\techo poison >>\"$f\" && echo written; mv \"$f\" \"$f.x\" && echo moved\ndone\n")
			s.git("add", ".")
			s.git("commit", "-q", "-m", "poison")
			call, _ := spoken(a.Name, deed{kind: shellTool})
			files := filepath.Join(s.home, ".local/state/cordon/*/unpacked/*/files")
			unpacks := func(want bool) {
				t.Helper()
				s.model.Play(script)
				o := s.run([]int{0})
				if got := strings.Contains(o.err, "unpacked "+string(a.Name)); got != want {
					t.Errorf("it was unpacked: %v, want %v\n%s", got, want, o.err)
				}
				if r := s.result(call.Tool, 0); !strings.Contains(r.Text, "Read-only file system") || strings.Contains(r.Text, "written") || strings.Contains(r.Text, "moved") {
					t.Errorf("its files can be written: %+v", r)
				}
			}
			unpacks(true)
			found, err := filepath.Glob(filepath.Join(files, a.Unpacks.Has))
			if err != nil || len(found) != 1 {
				t.Fatalf("%q %v", found, err)
			}
			if made, err := filepath.Glob(filepath.Join(files, "compiled/*/*")); err != nil || (len(made) > 0) != (a.Unpacks.Seeds == nil) {
				t.Errorf("compiled are %q, %v", made, err)
			}
			unpacks(false)
			for _, pattern := range a.Unpacks.Seeds[:min(1, len(a.Unpacks.Seeds))] {
				seeds, _ := filepath.Glob(filepath.Join(files, pattern))
				copies, err := filepath.Glob(filepath.Join(s.home, ".local/state/cordon/*/agents/*", pattern))
				if err != nil || len(seeds) == 0 || len(copies) < 2*len(seeds) { // and those that the client makes when it works
					t.Errorf("two workers have %q of %q, %v", copies, seeds, err)
				}
			}
			own, err := filepath.Glob(filepath.Join(s.home, ".local/state/cordon/*/agents/*/package"))
			if err != nil || len(own) > 0 {
				t.Errorf("workers have their own: %q %v", own, err)
			}
			if err := os.WriteFile(found[0], []byte("x"), 0o600); err != nil { // not by a worker
				t.Fatal(err)
			}
			unpacks(true)
			s.cordon([]int{0}, "gc", "--yes", "--trash", "--wait")
			if left, _ := filepath.Glob(files); len(left) > 0 {
				t.Errorf("gc left %q", left)
			}
		})
	}
}
