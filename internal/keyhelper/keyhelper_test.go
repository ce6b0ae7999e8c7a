package keyhelper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/agent"
	"cordon/internal/testwait"
)

func command(line string) agent.KeyCommand {
	return agent.KeyCommand{ID: "a", Noun: "the helper", Line: line, Limit: time.Minute}
}

func inHome(home string) func(string) string {
	return func(file string) string { return filepath.Join(home, file) }
}

// What a command prints is a key or an error, and no error has what it printed.
func TestAsk(t *testing.T) {
	for line, want := range map[string]string{
		"echo ' a-key '":               "",
		"echo SECRET; exit 4":          "the helper ended with 4",
		"echo SECRET >&2; kill -9 $$":  "the helper failed: signal: killed",
		"true":                         "the helper printed nothing",
		"echo SECRET; echo more":       "the helper printed more than one line",
		"printf 'SECRET\\033[31m'":     "the helper printed more than one line",
		"head -c 20000 /dev/zero":      "the helper printed more than 16384 bytes",
		"test \"$PWD\" = / && echo ok": "",
		"! read x && echo ok":          "",
	} {
		k, err := Ask(t.Context(), []agent.KeyCommand{command(line)}, nil, inHome(t.TempDir()))
		switch {
		case want == "" && (err != nil || k.None()):
			t.Errorf("%s: %v", line, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "SECRET")):
			t.Errorf("%s: %v", line, err)
		}
	}
	slow := command("exec sleep 100")
	slow.Limit = 50 * time.Millisecond
	if _, err := Ask(t.Context(), []agent.KeyCommand{slow}, nil, inHome("")); err == nil || !strings.Contains(err.Error(), "was ended after 50ms") {
		t.Error(err)
	}
}

// Nothing that a worker or a landing could have written is run.
func TestAskRefusesTrees(t *testing.T) {
	home, tree := t.TempDir(), t.TempDir()
	marker := filepath.Join(home, "ran")
	t.Setenv("HOME", home)
	t.Setenv("TREE", tree)
	script := filepath.Join(tree, "key.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+marker+"; echo key\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": script, "dir": tree, "settings": filepath.Join(tree, "settings")} {
		if err := os.Symlink(to, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tree, "settings"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lines := []string{script, "sh " + script, "~/link", "sh ~/dir/key.sh", "$TREE/key.sh", "cat /dev/null | sh < " + script, "sh -c '. " + script + "'"}
	for _, line := range lines {
		if _, err := Ask(t.Context(), []agent.KeyCommand{command(line)}, []string{tree}, inHome(home)); err == nil {
			t.Errorf("%s was run", line)
		}
	}
	fromTree := command("echo key")
	fromTree.File = "settings"
	if _, err := Ask(t.Context(), []agent.KeyCommand{fromTree}, []string{tree}, inHome(home)); err == nil || !strings.Contains(err.Error(), "the file lies in a repository") {
		t.Error(err)
	}
	t.Setenv("PATH", tree+":"+os.Getenv("PATH"))
	if _, err := Ask(t.Context(), []agent.KeyCommand{command("key.sh")}, []string{tree}, inHome(home)); err == nil {
		t.Error("a program of a tree was found on the PATH")
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it ran")
	}
	if _, err := Ask(t.Context(), []agent.KeyCommand{command(lines[0])}, nil, inHome(home)); err != nil { // the control
		t.Error(err)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
}

// A key is renewed in its file, and gone at the end.
func TestRenew(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	c := command(`echo . >> $HOME/turns; n=$(wc -l < $HOME/turns); test $n != 2 && echo key-$n`)
	c.Every = time.Second
	k, err := Ask(t.Context(), []agent.KeyCommand{c}, nil, inHome(home))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "keys")
	if err := k.Write(dir); err != nil {
		t.Fatal(err)
	}
	file := k.Files(dir)["a"]
	if b, err := os.ReadFile(file); err != nil || string(b) != "key-1\n" {
		t.Fatal(string(b), err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatal(fi.Mode(), err)
	}
	told := make(chan string, 9)
	k.Renew(t.Context(), func(line string) { told <- line })
	if line := <-told; !strings.HasPrefix(line, "the helper ended with 1: the client keeps the last key") {
		t.Error(line)
	}
	testwait.Until(t, "the file has another key", func() bool {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) != "key-1\n"
	})
	if err := k.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the keys are there")
	}
	if k.Every() != time.Second {
		t.Error(k.Every())
	}
}
