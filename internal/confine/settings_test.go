package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/git"
	"cordon/internal/worksite"
)

// steeredSite is a repository with tools, a home, and the session in it.
func steeredSite(t *testing.T) (*worksite.Site, string) {
	t.Helper()
	dir := t.TempDir()
	home, top := filepath.Join(dir, "home"), filepath.Join(dir, "repo")
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", "")
	for name, mode := range map[string]os.FileMode{
		"tools/x": 0o755, "tools/x.py": 0o644, "tools/with blank": 0o755, "run.py": 0o644, "make": 0o755, "main/a": 0o644, "src/a.c": 0o644,
		"master": 0o644, "hooks/pre-commit": 0o755, "tpl/hooks/post-checkout": 0o755, "conf/inc": 0o644, "refs/heads/main": 0o644, "Jane": 0o644,
	} {
		at := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn(t, top, "init", "-q", "-b", "main")
	gitIn(t, top, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x")
	bin, err := git.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	host, err := git.Discover(context.Background(), bin, top)
	if err != nil {
		t.Fatal(err)
	}
	return &worksite.Site{Bin: bin, Host: host}, top
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func executedIn(t *testing.T, s *worksite.Site) []string {
	t.Helper()
	places, err := filesGitRuns(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range places {
		list = append(list, p.rel)
	}
	slices.Sort(list)
	return list
}

// Every word of every value that leads into the tree counts, whatever the key is.
func TestSettingsNameTheTree(t *testing.T) {
	s, top := steeredSite(t)
	if got := executedIn(t, s); len(got) != 0 {
		t.Fatalf("without settings: %v", got)
	}
	keys := []string{
		"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "core.alternateRefsCommand",
		"pager.log", "pager.diff", "sequence.editor", "interactive.diffFilter", "diff.external", "diff.x.textconv", "diff.x.command",
		"difftool.x.cmd", "difftool.x.path", "mergetool.x.cmd", "mergetool.x.path", "merge.x.driver", "browser.x.cmd", "man.x.cmd",
		"filter.x.clean", "filter.x.smudge", "filter.x.process", "credential.helper", "credential.https://x.example.helper",
		"gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand", "gpg.ssh.allowedSignersFile", "gpg.ssh.revocationFile",
		"http.sslCert", "http.https://x.example.sslKey", "http.sslCAInfo", "http.cookieFile", "imap.tunnel", "instaweb.httpd",
		"remote.x.uploadpack", "remote.x.receivepack", "remote.x.vcs", "uploadpack.packObjectsHook", "uploadarchive.x",
		"sendemail.smtpServer", "sendemail.toCmd", "sendemail.ccCmd", "sendemail.aliasesFile", "trailer.x.command", "trailer.x.cmd",
		"submodule.x.update", "lfs.customtransfer.x.path", "guitool.x.cmd", "web.browser", "core.attributesFile", "core.excludesFile",
		"unknown.key", "alias.x", "tar.x.command", "ssh.x", "hook.x.command",
	}
	forms := map[string]string{
		"tools/x": "tools/x", "./tools/x --flag": "tools/x", "!tools/x": "tools/x", "!f() { tools/x \"$@\"; }; f": "tools/x",
		"sh -c 'a=1; exec ./tools/x \"$1\"' -": "tools/x", "python3 tools/x.py %O %A": "tools/x.py", "!python3 run.py": "run.py",
		"$(git rev-parse --show-toplevel)/tools/x": "tools/x", "!cat a | tools/x": "tools/x", "'tools/with blank' %A": "tools/with blank",
		"!\"$GIT_DIR\"/../tools/x": "tools/x", "env A=1 tools/x": "tools/x", "--config=tools/x": "tools/x", "!cd tools && ./x": "tools",
		"-c core.pager=tools/x log": "tools/x", top + "/tools/x": "tools/x", "ext::tools/x %S": "tools/x", "!exec tools/later": "tools/later",
	}
	for _, key := range keys {
		for _, global := range []string{"--local", "--global"} {
			gitIn(t, top, "config", global, key, "tools/x")
			if got := executedIn(t, s); !slices.Contains(got, "tools/x") {
				// A plain alias and keys for other things than commands count too.
				t.Errorf("%s %s=tools/x: %v", global, key, got)
			}
			gitIn(t, top, "config", global, "--unset", key)
		}
	}
	for value, want := range forms {
		gitIn(t, top, "config", "diff.x.textconv", value)
		if got := executedIn(t, s); !slices.Contains(got, want) {
			t.Errorf("textconv %q: %v, want %s", value, got, want)
		}
		gitIn(t, top, "config", "--unset", "diff.x.textconv")
	}
}

// Code in quotes, in several languages, and programs that are not there yet.
func TestCodeNamesTheTree(t *testing.T) {
	s, top := steeredSite(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	fromHome, err := filepath.Rel(me.HomeDir, top)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"TOOLS": top + "/tools", "DIR": "tools", "X": "tools/x", "SLASH_X": "/x", "LINE": "exec tools/x -v",
	} {
		t.Setenv("CORDON_"+name, value)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(top, "far/tools"), 0o755), os.Symlink("far/tools", filepath.Join(top, "link"))); err != nil {
		t.Fatal(err)
	}
	named := func(key, value string) (list []string) {
		f := finder{tops: []string{top}, host: s.Host, seen: map[string]bool{}}
		if err := seeAll(nil, []string{top}, []git.Setting{{Key: key, Value: value}}, nil, f.add); err != nil {
			t.Fatal(err)
		}
		for _, p := range f.found {
			list = append(list, p.rel)
		}
		return list
	}
	for _, c := range []struct{ value, want string }{
		{"~" + me.Username + "/" + fromHome + "/tools/x", "tools/x"}, {"~" + me.Username + "/" + fromHome + "/tools/later", "tools/later"},
		{"sh -c 'tools/x>/dev/null'", "tools/x"}, {"sh -c '(tools/x)'", "tools/x"}, {"sh -c 'cat<tools/x'", "tools/x"}, {"exec<tools/x", "tools/x"},
		{`sh -c "exec \"tools/x\""`, "tools/x"}, {`sh -c "sh -c \"exec \\\"tools/x\\\"\""`, "tools/x"}, {`sh -c $'tools/x'`, "tools/x"}, {`sh -c $'tool\x73/x'`, "tools/x"},
		{"sh -c 'tools/later>/dev/null'", "tools/later"}, {`!sh -c "exec \"tools/later\""`, "tools/later"}, {"!env -i A=1 nice -n 10 tools/later", "tools/later"},
		{"sh -c tools/later", "tools/later"}, {"tool\\s/x", "tools/x"}, {"`echo tools/x`", "tools/x"}, {"a=${b:-tools/x}; $a", "tools/x"}, {"!sh <<<tools/x", "tools/x"},
		{"for i in tools/x; do $i; done", "tools/x"}, {"[[ -x tools/x ]] && . tools/x.py", "tools/x.py"}, {"case a in a) tools/x;; esac", "tools/x"},
		{"sh <<E\ntools/x\nE\n", "tools/x"}, {"true # tools/x", "tools/x"}, {"a=(tools/x); $a", "tools/x"}, {"export PATH=tools:$PATH; x", "tools"},
		{"sh later.sh", "later.sh"}, {"sh later", "later"}, {"python3 -u later", "later"}, {"python3 -W ignore later.py", "later.py"}, {"env A=1 /bin/sh -e later", "later"},
		{"!python3 later.py", "later.py"}, {"sh <later", "later"}, {". later", "later"}, {"awk -f later", "later"}, {"sh -c 'sh later'", "later"}, {"exec sh later", "later"},
		{"$(git rev-parse --show-toplevel)/tools/later", "tools/later"}, {`"$(git rev-parse --show-toplevel)"/tools/later`, "tools/later"}, {"$PWD/tools/later", "tools/later"},
		{"'tools/with later' %A", "tools/with later"}, {"tools//later", "tools/later"}, {"~/../repo/tools/later", "tools/later"},
		{`perl -e 'system("tools/x")'`, "tools/x"}, {`python3 -c "import os; os.system('tools/x')"`, "tools/x"}, {`awk '{ system("tools/x " $1) }'`, "tools/x"},
		{`node -e 'require("./tools/x.py")'`, "tools/x.py"}, {`ruby -e 'load "tools/x"'`, "tools/x"}, {`emacs --eval='(load "tools/x")'`, "tools/x"}, {"if tools/x", "tools/x"},
		{"$CORDON_TOOLS/x", "tools/x"}, {"$CORDON_TOOLS/later", "tools/later"}, {"${CORDON_TOOLS}/x", "tools/x"}, {"$CORDON_DIR/x", "tools/x"},
		{"$CORDON_X", "tools/x"}, {"sh -c \"$CORDON_X\"", "tools/x"}, {"${CORDON_NONE:-tools/x}", "tools/x"}, {"${CORDON_X:-none}", "tools/x"},
		{"${CORDON_X:+tools/later}", "tools/later"}, {"$CORDON_DIR$CORDON_SLASH_X", "tools/x"}, {"$CORDON_LINE", "tools/x"},
		{"tools/${CORDON_NONE:-x}", "tools"}, {"tools/$(uname -s)/x", "tools"}, {"tools/`uname -s`/x", "tools"}, {"tools/?", "tools"}, {"tools/[x]", "tools"},
		{"tools/x{,}", "tools"}, {"!sh tools/$1", "tools"}, {"!tools/$1", "tools"}, {"later/$1/x", "later"}, {"$PWD/tools/$1", "tools"}, {"too*/x", "tools/x"},
		{"src/../tools/x", "tools/x"}, {"src/../tools/x", "src"}, {"later/../tools/x", "later"}, {"link/../x", "far/x"}, {"link/../x", "link"}, {"link/../x", "far/tools"},
		{"!git -c core.pager=tools/later log", "tools/later"}, {"!git -c core.hooksPath=later log", "later"},
	} {
		keys := []string{"core.fsmonitor"}
		if c.value[0] == '!' {
			keys = append(keys, "alias.x")
		}
		for _, key := range keys {
			if got := named(key, c.value); !slices.Contains(got, c.want) {
				t.Errorf("%s=%q: %v, want %s", key, c.value, got, c.want)
			}
		}
	}
	for setting, want := range map[string]string{
		"core.hooksPath=my hooks/git": "my hooks/git", "core.hooksPath=tools//hooks": "tools/hooks", "core.hooksPath=later hooks": "later hooks",
		"gpg.program=tools/my gpg": "tools/my gpg", "difftool.x.path=tools/a diff": "tools/a diff", "gpg.ssh.allowedSignersFile=signers": "signers",
		"alias.x=-c core.fsmonitor='sh tools/x.py' status": "tools/x.py", "core.hooksPath=$HOME/.githooks": "$HOME/.githooks", "gpg.program=$HOME/gpg": "$HOME/gpg",
		"core.hooksPath=src/../hooks": "src", "core.hooksPath=link/../hooks": "far/hooks", "core.askPass=~/ask": "~/ask",
		"branch.main.remote=ext::tools/x": "tools/x", "branch.main.pushRemote=ext::tools/x %S": "tools/x", "remote.pushDefault=ext::sh tools/x": "tools/x",
		"submodule.a.url=ext::tools/x": "tools/x",
	} {
		key, value, _ := strings.Cut(setting, "=")
		if got := named(key, value); !slices.Contains(got, want) {
			t.Errorf("%s: %v, want %s", setting, got, want)
		}
	}
}

// Directories and files that a whole value is, links, includes and the environment.
func TestSettingsNameOtherThings(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(t *testing.T, top string)
		want string
	}{
		"hooks":    {func(t *testing.T, top string) { gitIn(t, top, "config", "core.hooksPath", "hooks") }, "hooks"},
		"template": {func(t *testing.T, top string) { gitIn(t, top, "config", "--global", "init.templateDir", top+"/tpl") }, "tpl"},
		"included": {func(t *testing.T, top string) { gitIn(t, top, "config", "include.path", "../conf/inc") }, "conf/inc"},
		"included later": {func(t *testing.T, top string) {
			gitIn(t, top, "config", "includeIf.onbranch:other.path", "../conf/inc")
		}, "conf/inc"},
		"by an include that does not hold": {func(t *testing.T, top string) {
			outside := filepath.Join(filepath.Dir(top), "home", "extra")
			gitIn(t, top, "config", "--file", outside, "core.fsmonitor", "tools/x")
			gitIn(t, top, "config", "--global", "includeIf.onbranch:other.path", outside)
		}, "tools/x"},
		"linked file": {func(t *testing.T, top string) {
			if err := os.Symlink(filepath.Join(top, "conf/inc"), filepath.Join(os.Getenv("HOME"), ".gitconfig")); err != nil {
				t.Fatal(err)
			}
		}, "conf/inc"},
		"attributes": {func(t *testing.T, top string) {
			if err := os.MkdirAll(filepath.Join(top, ".git/info"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../../conf/inc", filepath.Join(top, ".git/info/attributes")); err != nil {
				t.Fatal(err)
			}
		}, "conf/inc"},
		"environment": {func(t *testing.T, top string) { t.Setenv("GIT_EXTERNAL_DIFF", "tools/x") }, "tools/x"},
		"pager":       {func(t *testing.T, top string) { t.Setenv("PAGER", "sh tools/x") }, "tools/x"},
		"command scope": {func(t *testing.T, top string) {
			t.Setenv("GIT_CONFIG_COUNT", "1")
			t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
			t.Setenv("GIT_CONFIG_VALUE_0", "tools/x")
		}, "tools/x"},
		"a program on PATH": {func(t *testing.T, top string) {
			t.Setenv("PATH", os.Getenv("PATH")+":"+top+"/tools")
			gitIn(t, top, "config", "core.pager", "x -R")
		}, "tools/x"},
		"by a submodule": {func(t *testing.T, top string) {
			if err := os.MkdirAll(filepath.Join(top, ".git/modules/a"), 0o755); err != nil {
				t.Fatal(err)
			}
			gitIn(t, top, "init", "-q", "--separate-git-dir", top+"/.git/modules/a/b", "sub")
			gitIn(t, top+"/sub", "config", "core.worktree", top+"/sub")
			gitIn(t, top+"/sub", "config", "core.hooksPath", "../hooks")
		}, "hooks"},
		"url": {func(t *testing.T, top string) { gitIn(t, top, "config", "url.ext::tools/x.insteadOf", "a:") }, "tools/x"},
	} {
		t.Run(name, func(t *testing.T) {
			s, top := steeredSite(t)
			c.set(t, top)
			if got := executedIn(t, s); !slices.Contains(got, c.want) {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

// Words that name no program and no file that git obeys deny nothing, also where the
// tree has something of that name.
func TestInertSettings(t *testing.T) {
	s, top := steeredSite(t)
	for key, value := range map[string]string{
		"init.defaultBranch": "main", "user.name": "Jane main master", "branch.main.merge": "refs/heads/main", "branch.main.remote": "origin",
		"remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*", "remote.origin.url": "src", "core.pager": "make", "alias.b": "!make all",
		"alias.co": "checkout master", "alias.lg": "log -p -- src/a.c src", "alias.st": "status", "alias.up": "!git fetch && git rebase origin/main",
		"alias.here": "!git log -- src", "pretty.x": "format:%h main/a", "diff.x.xfuncname": "^(src/a.c)$", "commit.template": "src/a.c",
		"core.worktree": top, "safe.directory": top + "/src", "merge.x.name": "a driver for src/a.c", "credential.helper": "cache --timeout=3600",
		"color.ui": "auto", "submodule.x.path": "src", "http.userAgent": "make/1.0", "pull.rebase": "true", "diff.tool": "make", "merge.tool": "vimdiff",
		"branch.x.remote": "make", "branch.x.pushRemote": "src", "remote.pushDefault": "make", "submodule.y.url": "../src/a.c", "alias.f": "!f() { vim src/$1; }; f",
		"alias.g": "!git log -- src/* main/$1", "alias.h": "!cat src/../$1",
	} {
		gitIn(t, top, "config", "--local", key, value)
	}
	for i, value := range []string{
		"less -R", "less -FRX --mouse", "delta --dark", "code --wait", "vim", "emacsclient -t -a " +
			"''", "nano -w +1", "git log --graph", "sh -c true", "python3 -m json.tool",
		"sh -c 'git log --format=\"%h (%an) %s\" | sed s/a/b/'", "cat <&0", "pdftotext -layout \"$1\" - | fold -w 80", "diff-so-fancy | less --tabs=4 " +
			"-RFX", "cd \"$(git rev-parse --show-toplevel)\"",
		"nvim -d \"$LOCAL\" \"$REMOTE\"", "git-lfs filter-process", "meld \"$LOCAL\" \"$BASE\" \"$REMOTE\" --output \"$MERGED\"", "ssh -i $HOME/.ssh/id " +
			"-o A=no", "true", "https://x.example/a.git",
		"osxkeychain", "exec 2>/dev/null; tig", "if", "", "awk '{print $1}'", "git difftool -y -x 'code --wait --diff'", "vim -c 'set ft=gitcommit' +1",
		"$EDITOR", "${EDITOR:-vi} +1", "\"$SHELL\" -c true", "/opt/1Password/op-ssh-sign", "!gh auth git-credential", "f() { git log \"$@\"; }; f", "$HOME/bin/x",
	} {
		gitIn(t, top, "config", "--local", fmt.Sprintf("difftool.t%d.cmd", i), value)
		gitIn(t, top, "config", "--local", fmt.Sprintf("alias.t%d", i), "!"+value)
	}
	if got := executedIn(t, s); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
