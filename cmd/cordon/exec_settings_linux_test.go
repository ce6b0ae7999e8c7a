package main

import "testing"

// settingCases are settings whose words a shell or the kernel reads in a way of its own.
var settingCases = map[string]obeyedCase{
	"a variable names the directory": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; git -C A config core.fsmonitor '$TOOLS/x'`, env: []string{"TOOLS=@/plain/A/tools"},
		attack: `program A/tools/x`, use: `use A`, said: "/A/tools/x aside as ",
	},
	"a directory before .. becomes a link": {
		prepare: `repo A; mkdir A/src; touch A/src/x; git -C A config core.hooksPath src/../.githooks`,
		attack:  `mkdir -p A/e/src; hook A/e/.githooks; rm -r A/src; ln -s e/src A/src`, use: `use A`, said: "/A/src aside as ",
	},
	"a path in which git replaces no variable": {
		prepare: `repo A; git config --global core.hooksPath '$HOME/.githooks'`,
		attack:  `hook 'A/$HOME/.githooks'`, use: `use A`, said: "/A/$HOME/.githooks aside as ",
	},
}

// settingRarer are more of the same.
var settingRarer = map[string]obeyedCase{
	"a variable is all of a command": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; git -C A config core.fsmonitor '$WATCH'`, env: []string{"WATCH=tools/x"},
		attack: `program A/tools/x`, use: `use A`, said: "/A/tools/x aside as ",
	},
	"a variable with another value if it is not set": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; git -C A config core.fsmonitor 'tools/${WATCH:-x}'`,
		attack:  `program A/tools/x`, use: `use A`, said: "/A/tools aside as ",
	},
	"the output of a command": {
		prepare: `repo A; program A/tools/$(uname -s)/x; echo : >A/tools/$(uname -s)/x; git -C A config core.fsmonitor 'tools/$(uname -s)/x'`,
		attack:  `program A/tools/$(uname -s)/x`, use: `use A`, said: "/A/tools aside as ",
	},
	"a wildcard": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; git -C A config core.fsmonitor 'tools/?'`,
		attack:  `program A/tools/x`, use: `use A`, said: "/A/tools",
	},
	"a directory before .. in a command": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; mkdir A/src; touch A/src/x; git -C A config core.fsmonitor src/../tools/x`,
		attack:  `mkdir -p A/e/src; program A/e/tools/x; rm -r A/src; ln -s e/src A/src`, use: `use A`, said: "/A/src aside as ",
	},
	"a program in whose path git replaces no variable": {
		prepare: `repo A; git -C A config gpg.program '$HOME/gpg'; git -C A config commit.gpgSign true`,
		attack:  `program 'A/$HOME/gpg'`, use: `git -C A commit --allow-empty -m b || true`, said: "/A/$HOME/gpg aside as ",
	},
	"the command of a remote": {
		prepare: `repo A; program A/tools/x; echo : >A/tools/x; git -C A config protocol.ext.allow always
			git -C A config branch.$(git -C A symbolic-ref --short HEAD).remote ext::tools/x`,
		attack: `program A/tools/x`, use: `git -C A fetch || true`, said: "/A/tools/x aside as ",
	},
}

// The operator's git runs nothing that a command under exec wrote, however a setting spells
// its name.
func TestExecSettings(t *testing.T) { playObeyed(t, settingCases) }

func TestExecSettingsAll(t *testing.T) {
	playObeyed(t, settingRarer)
}
