package guard

import (
	"strings"
	"testing"
)

// A worker may ask, say that it is done and look at its lease, however it calls
// cordon, and nothing else.
func TestCordonItself(t *testing.T) {
	s := *worker(t)
	s.State = "/home/agent/.local/state/cordon"
	s.Post = s.State + "/repo-0123/workers/brave-otter/post"
	for _, name := range []string{"cordon", s.Post + "/bin/cordon", `"$CORDON_POST"/bin/cordon`} {
		for _, line := range []string{
			`ask "may I write /w/repo/x and ../y?"`, `ask "which?" --option /w/repo --option b --wait 90s`, "ask --again q1", "ask --no-wait x",
			"done", `done "wrote /w/repo"`, "status", "status --json", "--json status", "briefing", "version", "help merge", "merge --help", "",
		} {
			line = name + " " + line
			if name[0] == '"' {
				line = "CORDON_POST=" + s.Post + "; " + line
			}
			if d := Decide(&s, Call{Tool: "Bash", Shell: []string{line}}); d.Verdict != Allow {
				t.Errorf("%s: %s: %s", line, d.Verdict, d.Reason)
			}
		}
		for _, line := range []string{
			"merge brave-otter", "quarantine release x --write . --reason y", "answer brave-otter yes", "inbox", "discard x", "gc", "run -- sh", "exec -- sh",
			"resume x", "shell x", "log", "ls", "hook --client claude --lease x", "lease warrant x", "--json merge x", "-C ask merge x", "--directory ask merge x",
			"checkout x y", "unheard", "exec -- true --help",
		} {
			line = name + " " + line
			if name[0] == '"' {
				line = "CORDON_POST=" + s.Post + "; " + line
			}
			d := Decide(&s, Call{Tool: "Bash", Shell: []string{line}})
			if d.Verdict != Deny || !strings.Contains(d.Reason, "only the operator decides") && !strings.Contains(line, "-C") && !strings.Contains(line, "--directory") {
				t.Errorf("%s: %s: %s", line, d.Verdict, d.Reason)
			}
		}
	}
	for _, line := range []string{
		"env -u CORDON_WORKER cordon merge x", "sh -c 'cordon merge x'", "timeout 5 cordon gc", "echo x | xargs cordon discard", "cordon ask x; cordon merge x",
		"cordon $VERB x", "cp x " + s.Post + "/bin/cordon", "cat " + s.Post + "/../decisions", "cat " + s.State + "/repo-0123/journal.jsonl",
	} {
		if d := Decide(&s, Call{Tool: "Bash", Shell: []string{line}}); d.Verdict == Allow {
			t.Errorf("%s is allowed", line)
		}
	}
}
