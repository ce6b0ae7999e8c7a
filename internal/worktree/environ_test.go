package worktree

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/lease"
	"cordon/internal/policy"
)

func environ(p policy.Policy, operator ...string) []string {
	l := lease.Lease{ID: "swift-otter", Worktree: "/state/trees/swift-otter", Policy: p}
	return Environ(l, operator, "/home/op/app", "/home/op/app/.git", "")
}

func TestTheHostIsNotNamed(t *testing.T) {
	for operator, want := range map[string]string{
		"A=/home/op/app":                       "",
		"A=/home/op/app/":                      "",
		"A=/home/op/app/src":                   "",
		"A=file:///home/op/app":                "A=file",
		"A=--root=/home/op/app --x":            "",
		"A={\"dir\":\"/home/op/app\"}":         "A={\"dir\"",
		"A=/usr/bin:/home/op/app/bin:/bin":     "A=/usr/bin:/bin",
		"A=/home/op/app-2:/home/op/app":        "A=/home/op/app-2",
		"A=/home/op/app-2/home/op/app/x":       "",
		"A=/home/op/application":               "A=/home/op/application",
		"A=/home/op/app.d":                     "A=/home/op/app.d",
		"A=/home/op/app_1":                     "A=/home/op/app_1",
		"A=/home/op/appé":                      "A=/home/op/appé",
		"A=/home/op":                           "A=/home/op",
		"A=":                                   "A=",
		"A=x=y":                                "A=x=y",
		"GIT_DIR=/elsewhere/.git":              "",
		"GIT_CONFIG_COUNT=99":                  "",
		"CORDON_ANYTHING=1":                    "",
		"CORDON_WORKER=calm-yak":               "",
		"SSH_AUTH_SOCK=/run/agent":             "",
		"GITHUB_TOKEN=x":                       "",
		"no assignment":                        "",
		"=x":                                   "",
		"A=/home/op/app\nB=/home/op/elsewhere": "",
	} {
		env := environ(policy.Default(), operator)
		name, _, _ := strings.Cut(operator, "=")
		if want != "" && !slices.Contains(env, want) {
			t.Errorf("%q: %q is not in the environment", operator, want)
		}
		if want == "" && slices.Contains(env, operator) {
			t.Errorf("%q was passed on", operator)
		}
		for _, kv := range env {
			if name != "" && strings.HasPrefix(kv, name+"=") && strings.Contains(kv+"/", "/home/op/app/") {
				t.Errorf("%q: the environment has %q", operator, kv)
			}
		}
	}
}

// A name in secrets is an explicit wish; everything that cordon itself sets wins.
func TestNamedSecretsPassAndCordonsOwnWin(t *testing.T) {
	p := policy.Default()
	p.Secrets = []string{"GITHUB_TOKEN", "GIT_AUTHOR_NAME", "CORDON_WORKER", "PWD"}
	env := environ(p, "GITHUB_TOKEN=x", "GIT_AUTHOR_NAME=Mallory", "CORDON_WORKER=calm-yak", "PWD=/home/op/app")
	for _, want := range []string{"GITHUB_TOKEN=x", "CORDON_WORKER=swift-otter", "PWD=/state/trees/swift-otter"} {
		if !slices.Contains(env, want) {
			t.Errorf("%q is not in the environment", want)
		}
	}
	if slices.Contains(env, "GIT_AUTHOR_NAME=Mallory") {
		t.Error("git's variables are cordon's to set")
	}
	if !slices.IsSorted(env) {
		t.Error("the environment is not in order")
	}
}

func TestFilterOf(t *testing.T) {
	for line, want := range map[string]string{
		"*.bin filter=lfs":                  "lfs",
		"*.bin filter=lfs diff=lfs -text\r": "lfs",
		"\"a b\" filter=crypt":              "crypt",
		"[attr]secret filter=crypt":         "crypt",
		"# *.bin filter=lfs":                "",
		"*.bin -filter":                     "",
		"*.bin !filter":                     "",
		"filter=lfs":                        "", // a pattern
		"":                                  "",
	} {
		if got := filterOf(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
