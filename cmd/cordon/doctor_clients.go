package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

// clients are the agent clients that cordon looks for. It runs any command:
// this list only says what a person may want to know is there.
var clients = []string{"claude", "codex", "gemini", "opencode", "copilot"}

// clientPatience is how long a client may take to say its version.
const clientPatience = 5 * time.Second

// checkClients asks every client that is there for its version, all at once.
func checkClients(ctx context.Context) []check {
	checks := make([]check, len(clients))
	var group sync.WaitGroup
	for i, name := range clients {
		group.Go(func() { checks[i] = checkClient(ctx, name) })
	}
	group.Wait()
	return checks
}

func checkClient(ctx context.Context, name string) check {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		return check{name, statusInfo, "not on PATH", ""}
	}
	if err != nil {
		return check{name, statusWarn, err.Error(), ""}
	}
	version, err := versionOf(ctx, path)
	if err != nil {
		return check{name, statusWarn, fmt.Sprintf("at %s, but --version failed: %v", path, err), ""}
	}
	return check{name, statusOK, version + " at " + path, ""}
}

// versionOf runs a client outside of every repository, so that no configuration
// of one is read.
func versionOf(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, clientPatience)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Env, cmd.Stdout = "/", plainEnviron(os.LookupEnv), &capped{w: &out, left: 64 << 10}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("no answer in %s", clientPatience)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", err
	}
	return firstLine(out.String()), nil
}

// plainEnviron is what a program needs to be found and to find its own files,
// and nothing else: what is not known to be harmless is not passed on.
func plainEnviron(lookup func(string) (string, bool)) []string {
	env := []string{"TERM=dumb", "NO_COLOR=1", "CI=1", "DISABLE_AUTOUPDATER=1"}
	for _, name := range []string{"PATH", "HOME", "USER", "TMPDIR", "LANG", "LC_ALL"} {
		if value, found := lookup(name); found {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// colour is a control sequence of a terminal.
var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`) })

// firstLine is the first line with something on it, without control characters
// and not longer than a line on a screen has room for.
func firstLine(s string) string {
	for line := range strings.Lines(colour().ReplaceAllString(s, "")) {
		line = strings.Map(func(r rune) rune {
			if unicode.IsGraphic(r) {
				return r
			}
			return -1
		}, strings.ToValidUTF8(line, "?"))
		if line = strings.TrimSpace(line); line != "" {
			runes := []rune(line)
			return string(runes[:min(len(runes), 60)])
		}
	}
	return "version unknown"
}

// capped drops what goes beyond its limit.
type capped struct {
	w    *bytes.Buffer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.w.Write(p[:n])
	return len(p), nil
}
