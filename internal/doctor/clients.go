package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"cordon/internal/agent"
	"cordon/internal/agent/clients"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// clientPatience is how long a client may take to say its version: some take
// seconds on a busy machine.
const clientPatience = 15 * time.Second

// clientFound is what the doctor knows of an agent client.
type clientFound struct {
	Client  string
	Path    string // "": it is not on PATH
	Version string // "": not known
	Tested  string
	Oldest  string
	Proof   *clientProof // nil: its hook was not proven in this repository

	said    string // its own word for its version
	failed  error  // why there is none
	version agent.Version
	adapter *agent.Adapter
	lacking []string // programs that its tools run
}

func (c clientFound) view() view.DoctorClient {
	v := view.DoctorClient{Client: c.Client, Path: c.Path, Version: c.Version, Tested: c.Tested, Oldest: c.Oldest}
	if c.Proof != nil {
		proof := view.ClientProof(*c.Proof)
		v.Proof = &proof
	}
	return v
}

// surveyClients asks every client that is there for its version, all at once.
func surveyClients(ctx context.Context, dir string) []clientFound {
	proofs := hooksProven(ctx, dir)
	var found []clientFound
	for _, a := range clients.All() {
		name := string(a.Name)
		found = append(found, clientFound{Client: name, Tested: a.Tested.String(), Oldest: a.Oldest.String(), Proof: proofs[name], adapter: a})
	}
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() { found[i].ask(ctx) })
	}
	group.Wait()
	return found
}

// ask looks for a client on PATH and asks it for its version.
func (c *clientFound) ask(ctx context.Context) {
	path, err := exec.LookPath(c.adapter.Program)
	if errors.Is(err, exec.ErrNotFound) {
		return
	}
	if c.Path = path; err != nil {
		c.failed = err
		return
	}
	if c.said, c.failed = versionOf(ctx, path); c.failed != nil {
		c.failed = fmt.Errorf("at %s, but --version failed: %w", path, c.failed)
		return
	}
	if c.version, err = agent.ParseVersion(c.said); err != nil {
		c.failed = fmt.Errorf("%s at %s: %w, so cordon run refuses it", c.said, path, err)
		return
	}
	c.Version = c.version.String()
	c.lacking = lacking(c.adapter.Helpers)
}

// lacking names the helpers of a client that are neither on PATH nor where the client keeps its own.
func lacking(helpers []agent.Helper) (list []string) {
	home, err := os.UserHomeDir()
	for _, h := range helpers {
		places := filepath.SplitList(os.Getenv("PATH"))
		for _, dir := range h.Below {
			if err == nil {
				places = append(places, filepath.Join(home, dir))
			}
		}
		if worksite.FindProgram(h.Program, strings.Join(places, string(filepath.ListSeparator))) == "" {
			list = append(list, h.Lacking())
		}
	}
	return list
}

// check is the line of a client.
func (c clientFound) check() check {
	switch {
	case c.Path == "" && c.failed == nil:
		return check{c.Client, statusInfo, "not on PATH", ""}
	case c.failed != nil:
		return check{c.Client, statusWarn, c.failed.Error(), ""}
	}
	detail := c.said + " at " + c.Path
	note, err := c.adapter.Check(c.version)
	switch {
	case err != nil:
		return check{c.Client, statusWarn, detail + ": " + err.Error(), "cordon run refuses it"}
	case note != "":
		return check{c.Client, statusWarn, detail + ": " + note + "; " + c.proven(time.Now()), ""}
	case len(c.lacking) > 0:
		return check{c.Client, statusWarn, detail + ": " + strings.Join(c.lacking, "; ") + "; " + c.proven(time.Now()), ""}
	}
	return check{c.Client, statusOK, detail + "; " + c.proven(time.Now()), ""}
}

// proven says whether the hook of this version was seen alive.
func (c clientFound) proven(now time.Time) string {
	const each = "it is proven at each launch"
	switch {
	case c.Proof == nil:
		return "hook not proven yet: " + each
	case c.Proof.Version != c.Version:
		return fmt.Sprintf("hook proven with %s by %s, not yet with this version: %s", c.Proof.Version, c.Proof.Worker, each)
	}
	return fmt.Sprintf("hook proven by %s, %s ago (%s)", c.Proof.Worker, terminal.Age(now.Sub(c.Proof.At)), c.Proof.what())
}

// versionOf runs a client outside of every repository, so that no configuration
// of one is read.
func versionOf(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, clientPatience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Env = "/", plainEnviron(os.LookupEnv)
	cmd.Stdout, cmd.Stderr = &capped{w: &out, left: 64 << 10}, &capped{w: &errs, left: 64 << 10}
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
	if strings.TrimSpace(out.String()) == "" {
		return firstLine(errs.String()), nil // some say there what is not for a person
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

// OnPath reports whether a program is found on the operator's PATH.
func OnPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
