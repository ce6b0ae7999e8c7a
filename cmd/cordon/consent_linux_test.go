package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestConsentOnTerminal: where somebody can be asked, cordon asks for consent to what the policy
// of the repository opens. Anything but yes runs nothing, and yes is asked for once.
func TestConsentOnTerminal(t *testing.T) {
	t.Parallel()
	const plan = "version: 1\nplan: p\nstages:\n  - {id: one, task: t, acceptance: ['true']}\n"
	for name, args := range map[string][]string{
		"run":      {"run", "--", "true"},
		"plan run": {"plan", "run", "../plan.yaml", "--", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write("plan.yaml", plan)
			s.write("repo/cordon.yaml", "version: 1\nisolation: none\nsetup: ['touch ~/pwned']\n")
			s.git("add", ".")
			s.git("commit", "-q", "-m", "the policy")
			pwned := filepath.Join(s.home, "pwned")
			for _, no := range []string{"n", "", "yesterday"} {
				c := answered(s, no, args)
				c.expect("cordon config share isolation:none")
				if code := c.cmd.ProcessState.ExitCode(); code != 3 {
					t.Errorf("%q ends with %d: %s", no, code, c.text())
				}
			}
			if _, err := os.Stat(pwned); err == nil {
				t.Fatal("it ran without consent")
			}
			if c := answered(s, "y", args); c.cmd.ProcessState.ExitCode() != 0 {
				t.Error(c.text())
			}
			if _, err := os.Stat(pwned); err != nil {
				t.Errorf("it did not run: %v", err)
			}
			c := newConsole(s, nil, "run", "--", "true")
			if c.untilEnded(); c.cmd.ProcessState.ExitCode() != 0 {
				t.Errorf("with consent: %s", c.text())
			}
		})
	}
}

// answered runs cordon on a terminal and answers its question.
func answered(s *site, answer string, args []string) *console {
	s.t.Helper()
	c := newConsole(s, nil, args...)
	c.expect(`UNCONFINED as you(.|\s)*Agree to that for this repository from now on \(isolation:none\)\? \[y/N\] `)
	c.send(answer + "\n")
	c.untilEnded()
	return c
}

// Ctrl-c ends a question, and nothing is done.
func TestInterruptedQuestion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", clean)
	c := newConsole(s, nil, "discard", s.only().Worker)
	c.expect(`\[y/N\] `)
	c.send("\x03")
	c.untilEnded()
	if w := s.only(); c.cmd.ProcessState.ExitCode() != 130 || w.Status != "finished" {
		t.Errorf("it ended with %d, and the worker is %q\n%s", c.cmd.ProcessState.ExitCode(), w.Status, c.text())
	}
}
