package guard

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"cordon/internal/commands"
)

// labelled is a call of the corpus.
type labelled struct {
	ID       string `json:"id"`
	Tool     string `json:"tool"`
	Command  string `json:"command"`
	Cwd      string `json:"cwd"`
	Expect   string `json:"expect"` // allow, block, ask
	Category string `json:"category"`
	Why      string `json:"why"`
}

func (c labelled) call() Call {
	switch c.Tool {
	case "Bash":
		return Call{Tool: c.Tool, Cwd: c.Cwd, Shell: []string{c.Command}}
	case "Read", "Grep", "Glob":
		return Call{Tool: c.Tool, Cwd: c.Cwd, Paths: []commands.Access{{Role: commands.Read, Path: c.Command}}}
	}
	return Call{Tool: c.Tool, Cwd: c.Cwd, Paths: []commands.Access{{Role: commands.Write, Path: c.Command}}}
}

func readCases(t testing.TB, name string) []labelled {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var c labelled
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// Every call of the corpus gets the answer on its label: an escape is caught by a
// denial or a question, and nothing harmless is refused.
func TestCorpus(t *testing.T) {
	s := worker(t)
	for _, c := range readCases(t, "testdata/cases.jsonl") {
		d := Decide(s, c.call())
		caught := d.Verdict != Allow
		if caught != (c.Expect != "allow") {
			t.Errorf("%s %s: %s, labelled %s (%s)\n  %q\n  %s", c.ID, c.Category, d.Verdict, c.Expect, c.Why, c.Command, d.Reason)
		}
		if c.Expect == "block" && d.Verdict == Ask && os.Getenv("GUARD_SOFT") != "" {
			t.Logf("soft: %q: %s", c.Command, d.Reason)
		}
	}
}
