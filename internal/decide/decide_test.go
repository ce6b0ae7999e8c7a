package decide

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"cordon/internal/view"
)

const sight = "2.quarantined.0.5be1c0a9d2f41b7e.9f3ac1d2e4b5a6c7d8e9f0a1.c08ec06812ab4f5e.-"

func TestCommands(t *testing.T) {
	for want, d := range map[string]Decision{
		"cordon answer --seen=S -- brisk-otter q1 '--json'":                                            {Choice: view.ChooseAnswer, Question: "q1", Text: "--json"},
		"cordon merge brisk-otter --seen=S":                                                            {Choice: view.ChooseMerge},
		"cordon merge --inside brisk-otter --seen=S":                                                   {Choice: view.ChooseInside},
		"cordon merge --when-clean brisk-otter --seen=S":                                               {Choice: view.ChooseWait},
		"cordon quarantine release brisk-otter --write=go.sum --accept-host '--reason=it is' --seen=S": {Choice: view.ChooseRelease, Roots: []string{"go.sum"}, Accepts: []string{"--accept-host"}, Reason: "it is"},
		`cordon resume brisk-otter '--say=it'\''s $wrong' --seen=S`:                                    {Choice: view.ChooseBack, Text: "it's $wrong"},
		"cordon resume brisk-otter --seen=S":                                                           {Choice: view.ChooseResume},
		"cordon retry brisk-otter --seen=S":                                                            {Choice: view.ChooseRetry},
		"cordon stop brisk-otter --seen=S":                                                             {Choice: view.ChooseStop},
		"cordon discard --yes brisk-otter --reason=no --seen=S":                                        {Choice: view.ChooseDiscard, Reason: "no"},
	} {
		d.Worker, d.Seen = "brisk-otter", sight
		if err := Check(d); err != nil {
			t.Errorf("%s: %v", d.Choice, err)
		}
		want = strings.ReplaceAll(strings.ReplaceAll(want, "=S", "="+sight), " '--json'", " --json")
		got := Line(Command(d))
		if got != want {
			t.Errorf("%s:\n%s\n%s", d.Choice, got, want)
		}
		// A shell takes the line for these words.
		out, err := exec.Command("sh", "-c", `f() { printf '%s\0' "$@"; }; f `+got).Output()
		if words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(words, Command(d)) {
			t.Errorf("%s: a shell reads %q %v", d.Choice, words, err)
		}
	}
}

func TestRefusedDecisions(t *testing.T) {
	good := Decision{Worker: "brisk-otter", Choice: view.ChooseRelease, Seen: sight, Reason: "new version", Roots: []string{"go.sum"}, Face: "web"}
	if err := Check(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Decision){
		"a beginning of a name":          func(d *Decision) { d.Worker = "brisk" },
		"an option as a name":            func(d *Decision) { d.Worker = "--all" },
		"an unknown choice":              func(d *Decision) { d.Choice = "gc" },
		"nothing that was seen":          func(d *Decision) { d.Seen = "" },
		"something else that was seen":   func(d *Decision) { d.Seen = "HEAD" },
		"no reason":                      func(d *Decision) { d.Reason = " " },
		"the whole tree":                 func(d *Decision) { d.Roots = []string{"."} },
		"the whole tree in other words":  func(d *Decision) { d.Roots = []string{"./"} },
		"a glob":                         func(d *Decision) { d.Roots = []string{"src/*"} },
		"a protected name":               func(d *Decision) { d.Roots = []string{"sub/.envrc"} },
		"another name than the repeated": func(d *Decision) { d.Roots, d.Repeated = []string{".envrc"}, []string{"sub/.envrc"} },
		"a root without a name":          func(d *Decision) { d.Roots = []string{""} },
		"an option of another command":   func(d *Decision) { d.Accepts = []string{"--policy=wider.yaml"} },
		"roots of a merge":               func(d *Decision) { d.Choice = view.ChooseMerge },
		"no text to send back":           func(d *Decision) { d.Choice, d.Roots = view.ChooseBack, nil },
		"no text of an answer":           func(d *Decision) { d.Choice, d.Roots, d.Question = view.ChooseAnswer, nil, "q1" },
		"a face that is more":            func(d *Decision) { d.Face = "web and anna" },
		"a zero byte":                    func(d *Decision) { d.Reason = "a\x00b" },
		"too many words":                 func(d *Decision) { d.Reason = strings.Repeat("x", mostWords) },
	} {
		d := good
		spoil(&d)
		if Check(d) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	grave := good
	grave.Roots, grave.Repeated = []string{".", "src/*", ".envrc"}, []string{"src/*", ".", ".envrc"}
	if err := Check(grave); err != nil {
		t.Error(err)
	}
}
