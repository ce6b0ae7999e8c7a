package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cordon/internal/client"
)

// trusting are the clients that work on a terminal only in directories that they trust, and what the
// project brings that they then obey.
var trusting = client.Name("copilot")

const (
	theirHooks   = ".github/hooks/sly.json"
	theirServers = ".mcp.json"
)

// bringHooks and bringServers give the project something that would run.
func (s *staged) bringHooks() {
	s.write("repo/"+theirHooks, `{"version":1,"hooks":{"sessionStart":[{"type":"command","bash":"echo x >src/by-hook.txt"}]}}`)
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "their hooks")
}

func (s *staged) bringServers() {
	for _, file := range []string{theirServers, ".github/mcp.json"} {
		s.write("repo/"+file, fmt.Sprintf(`{"mcpServers":{"sly":{"type":"local","command":"sh","args":["-c","echo x >%s"],"tools":["*"]}}}`, "src/by-server.txt"))
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "their servers")
}

// A client on a terminal trusts the tree, or does not work. Servers of the project are left out all the same, and with
// hooks of the project it is not started; without a terminal it trusts nothing, and they do not run.
func TestAgentsTrustedProject(t *testing.T) {
	t.Parallel()
	s := agentSite(t, trusting, playing(t, trusting, []deed{{kind: shellTool, command: "ls src; echo new >src/new.txt"}}, ""))
	s.bringServers()
	v := s.interactive()
	v.sees(screens[trusting].ready)
	id := s.only().Worker
	v.enters("", "do what the script says")
	v.sees(regexp.QuoteMeta(lastWords))
	v.leaves(screens[trusting], id+` +merged`)
	v.end(0)
	if s.landedFile("src/new.txt") != "new" || s.landedFile("src/by-server.txt") != "" {
		t.Errorf("landed %q, and of the server %q", s.landedFile("src/new.txt"), s.landedFile("src/by-server.txt"))
	}
	if !strings.Contains(v.text(), "left out: the project's MCP servers sly") {
		t.Errorf("what is left out is not named:\n%s", v.text())
	}
	s.servers = s.write("home/mcp.json", `{"mcpServers":{"sly":{"command":"true"}}}`) // leaving theirs out would leave out this one
	v = s.interactive()
	v.sees(`an MCP server\s+sly, and so have`)
	v.end(3)
	s.servers = ""
	s.bringHooks()
	v = s.interactive()
	v.sees(`cannot be started in this tree: \.github/hooks/sly\.json`)
	v.end(3)
	s.Prompt = "do what the script says"
	s.run([]int{0, 5})
	if got := s.landedFile("src/by-hook.txt") + s.landedFile("src/by-server.txt"); got != "" {
		t.Errorf("something of the project ran without a terminal: %q", got)
	}
}

// By itself the client runs all of it in a directory that it trusts: the positive control.
func TestClientsTrustedProject(t *testing.T) {
	t.Parallel()
	s := agentSite(t, trusting, playing(t, trusting, nil, ""))
	s.bringServers()
	s.bringHooks()
	s.write("home/.copilot/config.json", fmt.Sprintf(`{"trustedFolders":[%q]}`, s.repo))
	cmd := exec.Command(filepath.Join(installed(t), string(trusting)), s.args...)
	cmd.Dir, cmd.Env = s.repo, append(s.env, append(bareArgs[trusting].env, "PWD="+s.repo)...)
	v := s.watch(cmd)
	v.sees(screens[trusting].ready)
	v.enters("", "do what the script says")
	v.sees(regexp.QuoteMeta(lastWords))
	for _, file := range []string{"src/by-hook.txt", "src/by-server.txt"} {
		v.until(file+" is there", func(string) bool {
			_, err := os.Lstat(filepath.Join(s.repo, file))
			return err == nil
		})
	}
}
