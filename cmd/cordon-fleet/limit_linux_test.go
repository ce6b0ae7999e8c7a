package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// limitedClient is a client whose provider is asked too often.
const limitedClient = `#!/bin/sh
case "$*" in *--version*) echo codex-cli 0.166.0; exit;; esac
echo '{"type":"error","message":"429 Too Many Requests: try again in 500s"}'
exit 1
`

// TestRateLimit: a rate limit that the client of a stage meets on one node holds back the stages of that provider on the
// others, whichever client they use.
func TestRateLimit(t *testing.T) {
	here, one, two := newProject(t), newMachine(t), newMachine(t)
	_, _ = startHome(here, "--listen", "127.0.0.1:0")
	bin := filepath.Join(one.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "codex"), []byte(limitedClient), 0o755); err != nil {
		t.Fatal(err)
	}
	node := one.command("node", "--name", "one", "-")
	node.Env = append(node.Env, "PATH="+bin+":"+programs+":"+os.Getenv("PATH"), "CODEX_API_KEY=none")
	one.follow(here.token(), node).await("ready")
	two.start(here.token(), "node", "--name", "two", "--clients", "opencode", "-").await("ready")

	_, said := here.cordon(6, "run", "--on", "one", "codex", "--", "x")
	if w := here.worker(nameIn(said)); w.Client == nil || len(w.Client.Limits) != 1 || !strings.Contains(w.Client.Limits[0], "429 Too Many Requests") {
		t.Errorf("the home knows of no limit: %+v\n%s", w.Client, said)
	}
	const why = "the provider openai is asked too often"
	out, _ := here.cordon(0, "run", "-d", "--fleet", "opencode", "--model", "openai/any", "--", "x")
	held := strings.TrimSpace(out)
	eventually(t, "it does not wait for the provider", func() bool { return strings.HasSuffix(here.worker(held).Activity, why) })
	if said := here.run("ls"); !strings.Contains(said, why) {
		t.Error(said)
	}
	// A stage of another provider is given to the node meanwhile, which does not really have the client.
	if _, said := here.cordon(6, "run", "--fleet", "opencode", "--model", "anthropic/any", "--", "x"); !strings.Contains(said, "not on the worker's PATH") {
		t.Error(said)
	}
	if w := here.worker(held); !strings.HasSuffix(w.Activity, why) {
		t.Errorf("%s: %s", w.Status, w.Activity)
	}
}
