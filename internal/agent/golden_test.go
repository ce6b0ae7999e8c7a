package agent_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "cordon/internal/agent"
	"cordon/internal/agent/clients"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with what was looked at by a person.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, append(bytes.TrimSuffix(got, []byte("\n")), '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(want)) {
		t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
	}
}

// goldenKit compares everything of a kit.
func goldenKit(t *testing.T, name string, o Order) {
	t.Helper()
	a, err := clients.Of(o.Client)
	if err != nil {
		t.Fatal(err)
	}
	k, err := a.Kit(o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	golden(t, name+".golden", printed(k))
}

// printed is a kit for people to read, one thing on each line.
func printed(k Kit) []byte {
	var b bytes.Buffer
	for _, word := range k.Argv {
		fmt.Fprintf(&b, "argv %s\n", word)
	}
	for _, v := range k.Env {
		fmt.Fprintf(&b, "env %s\n", v)
	}
	for _, s := range k.Shown {
		fmt.Fprintf(&b, "shown %s at %s\n", s.Name, s.At)
	}
	for _, l := range k.Links {
		fmt.Fprintf(&b, "link %s to %s\n", l.Name, l.To)
	}
	fmt.Fprintf(&b, "stream %v\n", k.Stream)
	for _, f := range k.Files {
		fmt.Fprintf(&b, "-- %s --\n%s\n", f.Name, bytes.TrimSpace(f.Text))
	}
	for _, f := range k.Seeds {
		fmt.Fprintf(&b, "-- seed %s --\n%s\n", f.Name, bytes.TrimSpace(f.Text))
	}
	return b.Bytes()
}
