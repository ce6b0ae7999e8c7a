package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// commit changes a file of the operator's checkout, and commits it.
func (m machine) commit(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.in, name), []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.git("add", ".")
	m.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qm", "The operator writes "+name)
}

// share lets the workers of a repository have the variables that its machine has, and more words.
func (m machine) share(repository string, more ...string) {
	m.t.Helper()
	args := append([]string{"-C", repository, "config", "share"}, more...)
	for _, v := range m.env {
		if name, _, _ := strings.Cut(v, "="); name != "PATH" {
			args = append(args, "secret:"+name)
		}
	}
	m.cordon(0, args...)
}

// TestShareBeforeStage shares a variable with the stages of a node that has had none yet. Its repository has not got the format of
// its home's before the first of them. The home has a variable of that name too, and does not send it.
func TestShareBeforeStage(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			here, one := newProject(t, "GIT_DEFAULT_HASH="+format, "WORD=of the home"), newMachine(t)
			here.commit("cordon.yaml", stagePolicy+"secrets: [WORD]\n")
			one.env = []string{"WORD=of the node"}
			startHome(here, "--listen", "127.0.0.1:0")
			one.start(here.token(), "node", "--name", "one", "-").await("ready")
			one.share(one.fleetRepository())
			here.cordon(0, "config", "share", "secret:WORD") // with its own workers: the node gets none of it
			here.cordon(0, "run", "--on", "one", "--", "sh", "-c", `echo "$WORD" >src/done`)
			if got := here.git("show", "main:src/done"); got != "of the node" {
				t.Errorf("the worker had %q", got)
			}
			if got := here.git("rev-parse", "--show-object-format"); got != format {
				t.Errorf("the home has the format %s", got)
			}
		})
	}
}
