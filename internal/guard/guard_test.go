package guard

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/policy"
)

func bash(command string) Call { return Call{Tool: "Bash", Shell: []string{command}} }

// leasedTo is the worker's scope under another policy.
func leasedTo(t *testing.T, change func(*policy.Policy)) *Scope {
	t.Helper()
	s := worker(t)
	p := policy.Default()
	change(&p)
	rules, err := policy.Compile(p, policy.Location{Worktree: s.Worktree, Home: s.Home})
	if err != nil {
		t.Fatal(err)
	}
	s.Rules, s.Guard = rules, p.Guard
	return s
}

func expect(t *testing.T, s *Scope, want Verdict, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if d := Decide(s, bash(c)); d.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", c, d.Verdict, d.Reason, want)
		}
	}
}

// Places are told by whole components, after every link.
func TestPlaces(t *testing.T) {
	s := worker(t)
	j := s.judge(newSeen())
	for path, want := range map[string]Place{
		"src/main.go":                       Own,
		".":                                 Own,
		"link-in/main.go":                   Own,
		"link-in/../README.md":              Own,
		"../s1/src":                         Own,
		"../s10/src":                        Sibling,
		"../s2":                             Sibling,
		"..":                                Host,
		"../..":                             Host,
		"link-out":                          Host,
		"link-out/.worktrees/s1/src":        Own,
		"readme-link":                       Host,
		"data":                              Elsewhere,
		"data/../repo2":                     Elsewhere,
		"../../../repo2":                    Elsewhere,
		"../../../repository":               Elsewhere,
		"../../../../tmp/x":                 Scratch,
		"/tmp":                              Scratch,
		"/tmpx":                             Elsewhere,
		"/var/tmp/x":                        Scratch,
		"/usr/bin/git":                      System,
		"/usrx":                             Elsewhere,
		"/":                                 System,
		"/dev/null":                         Device,
		"/dev/sda":                          System,
		"/home/agent":                       Home,
		"/home/agentx":                      Home,
		"/root/x":                           Home,
		"/home/agent/.local/state/cordon/x": State,
		"/proc/self/root/w/repo/x":          Host,
		"/proc/self/cwd/src":                Own,
		"/proc/self/cwd/../../x":            Host,
		"/proc/1/root/w":                    Elsewhere,
		"/proc/cpuinfo":                     System,
	} {
		if got := j.placeOf(j.resolve(s.Worktree, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A file system that folds case has one name where others have several.
func TestFold(t *testing.T) {
	s := worker(t)
	expect(t, s, Deny, "touch /W/REPO/.WORKTREES/S1/x")
	s.Fold = true
	expect(t, s, Allow, "touch /W/REPO/.WORKTREES/S1/x")
	expect(t, s, Deny, "touch /W/Repo/x")
}

// What the lease does not cover is refused inside of the worktree too.
func TestWriteRoots(t *testing.T) {
	s := leasedTo(t, func(p *policy.Policy) {
		p.Filesystem.WriteRoots = []string{"src", "docs/*.md"}
		p.Filesystem.Scratch = []string{"build", "~/.cache"}
	})
	expect(t, s, Allow, "touch src/x", "echo x > docs/y.md", "mkdir -p build/x", "touch ~/.cache/x", "cat README.md", "cp README.md src/")
	expect(t, s, Deny, "touch README.md", "echo x > docs/y.txt", "rm -rf pkg", "sed -i s/a/b/ Makefile", "touch ~/x", "mv src/main.go pkg/")
	d := Decide(s, bash("touch README.md"))
	if !strings.Contains(d.Instead, "write below src, docs/*.md") {
		t.Errorf("instead: %s", d.Instead)
	}
	nothing := leasedTo(t, func(p *policy.Policy) { p.Filesystem.WriteRoots = []string{} })
	expect(t, nothing, Deny, "touch x")
	expect(t, nothing, Allow, "cat README.md")
}

// What runs on the operator's machine is not the worker's to write, and what it
// may not read it may not read here either.
func TestProtected(t *testing.T) {
	s := leasedTo(t, func(p *policy.Policy) { p.Filesystem.DenyRead = []string{policy.DefaultUnread, "secrets/**"} })
	expect(t, s, Deny,
		"echo x > .claude/settings.json", "touch .git/hooks/pre-commit", "cp x .envrc", "echo x >> .vscode/tasks.json", "tee cordon.yaml < x",
		"mkdir -p .github/hooks", "sed -i s/a/b/ .mcp.json", "cat secrets/key", "cat /etc/shadow")
	named := leasedTo(t, func(p *policy.Policy) { p.Filesystem.WriteRoots = []string{".", ".claude"} })
	expect(t, named, Allow, "echo x > .claude/settings.json")
	expect(t, named, Deny, "touch .git/hooks/pre-commit")
}

func TestReadRoots(t *testing.T) {
	s := leasedTo(t, func(p *policy.Policy) { p.Filesystem.ReadRoots = []string{"/", "~/go", "/w/other"} })
	expect(t, s, Allow, "cat ~/go/pkg/mod/x", "cat /w/other/o.txt", "cd /w/other && ls")
	expect(t, s, Deny, "touch ~/go/x", "cat ~/x", "cat /w/repo2/o.txt", "touch /w/other/x")
}

// What package managers downloaded may be read, what lies beside it may not, and a policy
// that shows less of the machine still does.
func TestPackages(t *testing.T) {
	s := worker(t)
	expect(t, s, Allow, "cat ~/go/pkg/mod/example.com/x@v1/credentials/x.go", "grep -rn Open ~/.cargo/registry/src", "ls ~/.rustup/toolchains",
		"sed -n 1,20p ~/.local/lib/python3.11/site-packages/click/core.py", "source ~/.nvm/nvm.sh", "cd ~/.m2/repository && ls", "ls ~/.npm/_cacache",
		"cat ~/.gradle/caches/x", "ls ~/.local/share/pnpm/store/v3", "cat ~/.pyenv/versions/3.12/lib/python3.12/os.py", "~/go/bin/staticcheck ./...")
	expect(t, s, Deny, "touch ~/go/pkg/mod/x", "cat ~/.cargo/credentials.toml", "cat ~/.cargo/config.toml", "cat ~/.npmrc", "cat ~/.m2/settings.xml",
		"cat ~/.gradle/gradle.properties", "cat ~/.nvm/versions/node/v22/etc/npmrc", "cat ~/go/pkg/mod/cache/vcs/x/config", "cat ~/.npm/_logs/x.log",
		"cat ~/.local/share/uv/credentials/x", "cat ~/.rustup/toolchains/x/.git/config", "ls ~/.cargo", "ls ~/.local/lib", "cat ~/go/pkg/mod/../../x",
		"cat /home/other/go/pkg/mod/x", "rm -rf ~/.m2/repository", "grep -r x ~", "cp -r ~/.gradle .")
	narrow := leasedTo(t, func(p *policy.Policy) { p.Filesystem.ReadRoots = []string{"/usr", "~/.rustup"} })
	expect(t, narrow, Deny, "cat ~/go/pkg/mod/x", "ls ~/.cargo/registry")
	expect(t, narrow, Allow, "ls ~/.rustup/toolchains")
	hidden := leasedTo(t, func(p *policy.Policy) {
		p.Filesystem.DenyRead = []string{policy.DefaultUnread, "~/go/pkg/mod/corp.example"}
	})
	expect(t, hidden, Deny, "cat ~/go/pkg/mod/corp.example/x.go")
	expect(t, hidden, Allow, "cat ~/go/pkg/mod/example.com/x.go")
	moved := worker(t)
	moved.Packages = []string{"/data/gomod"}
	expect(t, moved, Allow, "cat /data/gomod/x@v1/x.go")
	expect(t, moved, Deny, "cat /data/gomod/cache/vcs/x/config", "cat /data/x", "touch /data/gomod/x")
	expect(t, s, Deny, "cat /data/gomod/x@v1/x.go", "find / -maxdepth 2", "find /", "find / -maxdepth 1 -maxdepth 3 -name x")
	expect(t, s, Allow, "find / -maxdepth 1", "find / -maxdepth 1 -type d", "npm config get //registry.example/:_authToken")
}

// A refusal that an entry of read_roots would lift says which one, and no other does.
func TestLift(t *testing.T) {
	s := worker(t)
	for command, want := range map[string]string{
		"cat ~/src/lib/x.h":               "~/src/lib",
		"cat ~/notes.txt":                 "~/notes.txt",
		"cat ~/.config/tool.toml":         "~/.config/tool.toml",
		"cat ~/src/lib/x.h ~/src/lib/y.h": "~/src/lib",
		"cat /data/sets/x.csv":            "/data/sets",
		"cat /data/x.csv":                 "/data/x.csv",
		"cat ~/src/lib/x.h ~/b/y":         "", // one entry is not enough
		"cat ~/src/x; touch ~/src/y":      "", // nor is any for a write
		"cat ~/.ssh/id_ed25519":           "",
		"cat ~/.npmrc":                    "",
		"ls ~":                            "",
		"cat /w/repo/README.md":           "",
		"cat /home/other/x/y":             "",
		"ls /w":                           "",
		"cat README.md":                   "",
	} {
		if d := Decide(s, bash(command)); d.Lift != want {
			t.Errorf("%s: read_roots %q, want %q (%s)", command, d.Lift, want, d.Reason)
		}
	}
	if d := Decide(s, bash("cat ~/src/lib/x.h")); !strings.Contains(d.Instead, "the operator can allow it with read_roots") {
		t.Errorf("instead: %s", d.Instead)
	}
	for _, forged := range []string{"~", "/", "~/.ssh", "~/.ssh/x", "/w/repo", "/w", "~/../other", "~/a*", "/home", "relative", "~/a\nb", "/etc/shadow", "/root/x"} {
		if s.LiftedBy(forged) {
			t.Errorf("%q would be proposed to the operator", forged)
		}
	}
	if !s.LiftedBy("~/src/lib") {
		t.Error("~/src/lib would not be proposed")
	}
}

// The modes are words of the policy.
func TestModes(t *testing.T) {
	strict := leasedTo(t, func(p *policy.Policy) { p.Guard.Mode = policy.GuardStrict })
	expect(t, strict, Deny, "rm -rf $X", "cd /tmp && ls", "cd /usr", "cat $X", "if then", "touch /w/repo/x")
	expect(t, strict, Allow, "cd src && ls", "cd /w/repo/.worktrees/s1/src && ls", "touch /tmp/x", "git commit -m x")
	warn := leasedTo(t, func(p *policy.Policy) { p.Guard.Mode = policy.GuardWarn })
	d := Decide(warn, bash("touch /w/repo/x"))
	if d.Verdict != Allow || !d.Warned || !strings.HasPrefix(d.Message(), "WARNING: ") {
		t.Errorf("warn: %+v", d)
	}
	if d := Decide(warn, bash("ls")); d.Warned || d.Message() != "" {
		t.Errorf("warn without a reason: %+v", d)
	}
	reads := leasedTo(t, func(p *policy.Policy) { p.Guard.UnknownRead = policy.AnswerAsk })
	expect(t, reads, Ask, "cat $X")
	expect(t, worker(t), Allow, "cat $X")
}

// Without a cell, code that cannot be judged is asked about.
func TestOpaque(t *testing.T) {
	const code = `python3 -c "exec(__import__('zlib').decompress(b'x'))"`
	s := worker(t)
	expect(t, s, Allow, code)
	if d := Decide(s, bash("ls")); !strings.Contains(d.Holds, "the cell still stops it") {
		t.Errorf("holds: %s", d.Holds)
	}
	s.Confined = false
	expect(t, s, Ask, code)
	if d := Decide(s, bash("ls")); !strings.Contains(d.Holds, "there is no cell") {
		t.Errorf("holds: %s", d.Holds)
	}
}

// What a repository shares with other worktrees is everybody's; a private one is
// the worker's own, but for the branch its work is to land on.
func TestGit(t *testing.T) {
	shared := worker(t)
	expect(t, shared, Ask, "git stash", "git config user.name x", "git gc", "git remote add x https://e.com/x", "git tag -f v1")
	expect(t, shared, Deny, "git branch -D s2", "git update-ref refs/heads/main HEAD", "git branch -f main", "git push . HEAD:main", "git push origin s1:main",
		"git checkout main && git merge s1", "git switch main; git cherry-pick s1", "git worktree add ../x", "git push origin +HEAD:main")
	expect(t, shared, Allow, "git commit -m x", "git push origin HEAD", "git push -u origin s1", "git merge main", "git rebase origin/main", "git checkout -b mine",
		"git reset --hard HEAD~1", "git switch main", "git checkout main && git pull", "git update-ref HEAD HEAD~1", "git branch -f s1 HEAD~1", "cd /tmp/x && git init && git stash && git config a.b c")
	private := worker(t)
	private.Private = true
	expect(t, private, Allow, "git stash", "git config user.name x", "git gc", "git branch -D s2", "git tag -f v1", `git -C "$(dirname "$(git rev-parse --git-common-dir)")" log`)
	expect(t, private, Deny, "git update-ref refs/heads/main HEAD", "git push origin HEAD:main", "git checkout main && git merge s1")
}

// What a worker installs into its home stays in its cell, and hooks of a private
// repository are its own.
func TestInstalls(t *testing.T) {
	own := []string{"go install example.com/x@latest", "npm i -g typescript", "pip install --user black", "pipx install ruff", "cargo install ripgrep", "pre-commit install", "npx husky init"}
	whole := []string{"apt-get install -y jq", "sudo apt install jq", "brew install jq", "service x start", "gh auth login"}
	s := worker(t)
	expect(t, s, Ask, slices.Concat(own, whole)...)
	s.Private, s.Confined = true, true
	expect(t, s, Allow, own...)
	expect(t, s, Ask, whole...)
	expect(t, s, Deny, "npm_config_prefix=/w/repo npm i -g x", "cargo install --path ../../x", "pipx install ../../")
	s.Confined = false
	expect(t, s, Ask, own[:5]...)
	expect(t, s, Allow, own[5:]...)
}

// Variables that the script gives to a program are part of the call.
func TestEnvironment(t *testing.T) {
	s := worker(t)
	expect(t, s, Deny, "LD_PRELOAD=/w/repo/x.so ls", "PYTHONPATH=../.. python3 -m x", "NODE_OPTIONS='--require /w/repo/x.js' node x.js", "export PATH=/w/other:$PATH; x",
		"GOBIN=/w/repo/bin go install ./...", "CARGO_TARGET_DIR=../../t cargo build", "LESSOPEN='|touch /w/repo/x %s' less a", "BASH_ENV=/w/repo/x bash -c true", "HOME=/w/repo git status")
	expect(t, s, Allow, "PATH=$PWD/node_modules/.bin:$PATH eslint .", "export PATH=$HOME/.local/bin:$PATH; uv run x", "NODE_ENV=test node x.js", "GOFLAGS=-mod=mod go build", "EDITOR=vim git commit", "TMPDIR=/tmp/x make",
		"PYTHONPATH=src pytest", "CGO_ENABLED=0 go build -o build/x ./cmd/x", "DATABASE_URL=postgres://localhost/x npm test")
}

// The message has the form that the mission gives.
func TestMessage(t *testing.T) {
	s := worker(t)
	d := Decide(s, bash("echo x > ../../docs/a.md"))
	const want = "BLOCKED: that is the operator's repository, not your worktree\n" +
		"You tried to: write ../../docs/a.md\n" +
		"Instead, you should: use docs/a.md, which is the same in your worktree\n"
	if got := d.Message(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if strings.Contains(Decide(s, bash("cd ../.. && ls")).Message(), "/w/repo") {
		t.Error("the message names the host's path, which the worker did not")
	}
}

// A worker's roots come from its scope, never from the call.
func TestRoots(t *testing.T) {
	s := worker(t)
	for _, cwd := range []string{"/w/repo", "/w/repo/.worktrees/s2", "/w/other", "/home/agent", "../..", "link-out", "/proc/self/root/w/repo"} {
		if d := Decide(s, Call{Tool: "Bash", Cwd: cwd, Shell: []string{"ls"}}); d.Verdict != Deny {
			t.Errorf("in %s: %s", cwd, d.Verdict)
		}
	}
	for _, cwd := range []string{"", "/w/repo/.worktrees/s1", "src", "link-in", "/tmp"} {
		if d := Decide(s, Call{Tool: "Bash", Cwd: cwd, Shell: []string{"pwd"}}); d.Verdict != Allow {
			t.Errorf("in %q: %s (%s)", cwd, d.Verdict, d.Reason)
		}
	}
	expect(t, s, Deny, "PWD=/w/repo; cat $PWD/README.md", "HOME=/w/repo; ls ~")
}

// What is no call, and what has no lease, is refused.
func TestRefused(t *testing.T) {
	s := worker(t)
	for _, c := range []Call{
		bash("ls \x00"),
		bash("rm -rf \U0010FF02"),
		{Tool: "Write", Paths: []commands.Access{{Role: commands.Write, Path: "\U0010FF02"}}},
		{Tool: "Bash", Cwd: "\U0010FF02", Shell: []string{"ls"}},
	} {
		if d := Decide(s, c); d.Verdict != Deny {
			t.Errorf("%v: %s", c, d.Verdict)
		}
	}
	for _, s := range []*Scope{{}, {Worktree: "/"}, {Worktree: "relative"}, {Worktree: "/w/../w"}} {
		if d := Decide(s, bash("ls")); d.Verdict != Deny {
			t.Errorf("%q: %s", s.Worktree, d.Verdict)
		}
	}
}

// Links and scripts that a command makes count for what it does next.
func TestMade(t *testing.T) {
	s := worker(t)
	expect(t, s, Deny,
		"ln -s ../.. up; cd up && touch x", "ln -s /w/repo h && echo x > h/x", "ln -sfn ../../ up; cat up/README.md", "cp -a link-out l2; cat l2/README.md",
		"echo 'touch /w/repo/x' > a.sh; sh a.sh", "printf 'cd ../..\\ntouch x\\n' > a; bash < a", "cat > a.py <<'E'\nopen('/w/repo/x','w')\nE\npython3 a.py",
		"echo 'cd /w/repo' > a; . ./a; touch x", "echo touch /w/repo/x | tee a.sh; bash a.sh", "echo 'touch /w/repo/x' > a.sh; chmod +x a.sh; ./a.sh",
		"echo 'touch /w/repo/x' > a; mv a b; sh b", "echo 'touch /w/repo/x' > a; cp a b; sh b", "mkdir d; echo 'touch /w/repo/x' > d/a; (cd d; sh a)")
	expect(t, s, Allow, "ln -s src s && cat s/main.go", "echo 'echo hi' > a.sh; sh a.sh", "rm -f link-out; mkdir link-out; touch src/x")
}
