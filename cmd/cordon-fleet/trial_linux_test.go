package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/journal"
)

// saysWhere is an acceptance command that says on which machine it runs.
const saysWhere = `echo "tested in $HOME"; test -e src/done`

// newTested is a project whose acceptance is this command, and whose operator lets nodes test results of others.
func newTested(t *testing.T, command string, more ...string) machine {
	m := newProject(t)
	m.write("repo/cordon.yaml", "version: 1\nfilesystem: {write_roots: [src]}\nacceptance: ['"+command+"']\n"+strings.Join(more, "\n")+"\n")
	m.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qam", "policy")
	m.write(".config/cordon/config.yaml", "fleet: {acceptance: node}\n")
	return m
}

// write writes a file of the machine's user.
func (m machine) write(name, text string) {
	m.t.Helper()
	at := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// events are those of a type in the journal of a home, which is verified.
func (m machine) events(typ string) (list []journal.Event) {
	m.t.Helper()
	all, err := m.journal()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range all {
		if e.Type == typ {
			list = append(list, e)
		}
	}
	return list
}

func read[T any](t *testing.T, e journal.Event) (data T) {
	t.Helper()
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data
}
