package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/agent"
	"cordon/internal/agent/clients"
	"cordon/internal/cell"
	"cordon/internal/client"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/paths"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// CheckClient refuses an agent that could not be started before anything is made for
// it.
func CheckClient(ctx context.Context, s *worksite.Site, a *ledger.Agent, l lease.Lease) error {
	if a == nil {
		return nil
	}
	known, err := clients.Of(client.Name(a.Client))
	if err != nil {
		return &fault.MistakeError{Err: err}
	}
	if err := errors.Join(known.Accept(a.Args), known.TakesServers(len(a.Servers))); err != nil {
		return &fault.RefusedError{Err: err}
	}
	if err := known.AcceptPolicy(l.Policy.Agent.Args[a.Client]); err != nil {
		return fault.Refuse("agent.args of the policy: %v", err)
	}
	if err := refuseUnsharedServers(s, known, l); err != nil {
		return err
	}
	_, _, note, err := findClient(ctx, s, known, l, s.Environ(l))
	if note != "" {
		s.Voice.Step("", "client", note)
	}
	return err
}

// findClient finds the program of a client on the worker's own PATH and asks it for
// its version. The note is for the operator.
func findClient(ctx context.Context, s *worksite.Site, a *agent.Adapter, l lease.Lease, env []string) (program string, version agent.Version,
	note string, err error) {
	if program = worksite.FindProgram(a.Program, enclosure.Variable(env, "PATH")); program == "" {
		return "", version, "", &fault.MistakeError{Err: fmt.Errorf("%s is not on the worker's PATH (npm install -g %s)", a.Program, a.Package)}
	}
	if real := worksite.RealPath(program); l.Worktree != "" && paths.Below(real, worksite.RealPath(l.Worktree)) {
		return "", version, "", fault.Refuse("%s was found only in the worktree (%s): cordon does not run a client that a worker can write", a.Program, program)
	}
	if version, _, err = ClientVersion(ctx, program); err != nil {
		return "", version, "", fault.Refuse("%s at %s does not report its version: %v", a.Name, program, err)
	}
	if note, err = a.Check(version); err != nil {
		err = &fault.RefusedError{Err: err}
	}
	return program, version, note, err
}

// versionPatience is how long a client may take to say its version: some are slow
// to start, and a machine may be busy.
const versionPatience = 90 * time.Second

// ClientVersion asks a client for its version, or remembers what this very program
// has said before. The text is the client's own.
func ClientVersion(ctx context.Context, program string) (agent.Version, string, error) {
	text, err := state.Said(program, func() (string, error) {
		text, err := askVersion(ctx, program)
		if err == nil {
			_, err = agent.ParseVersion(text)
		}
		return text, err
	})
	if err != nil {
		return agent.Version{}, text, err
	}
	v, err := agent.ParseVersion(text)
	return v, text, err
}

// askVersion asks a program for its version.
func askVersion(ctx context.Context, program string) (string, error) {
	out, err := runAlone(ctx, []string{program, "--version"}, versionPatience)
	if err == nil && strings.TrimSpace(out) == "" {
		err = errors.New("it says nothing")
	}
	return out, err
}

// runAlone runs a client outside of every repository, so that no configuration of one is
// read, with an environment that tells it nothing but what is set here.
func runAlone(ctx context.Context, argv []string, limit time.Duration, set ...string) (string, error) {
	var out, errs bytes.Buffer
	env := []string{"TERM=dumb", "NO_COLOR=1", "CI=1", "DISABLE_AUTOUPDATER=1"}
	for _, name := range []string{"PATH", "HOME", "USER", "TMPDIR", "LANG", "LC_ALL"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	exit, err := cell.Run(ctx, cell.Command{
		Argv: argv, Dir: "/", Env: append(env, set...), Limit: limit,
		Stdout: &worksite.Bounded{To: &out, Room: 64 << 10}, Stderr: &worksite.Bounded{To: &errs, Room: 64 << 10},
	})
	if err == nil && !exit.OK() {
		err = fmt.Errorf("%s %s ended with %d (%s)", filepath.Base(argv[0]), strings.Join(argv[1:], " "), exit.Code, exit.Reason)
	}
	if strings.TrimSpace(out.String()) == "" {
		return errs.String(), err // some say there what is not for a person
	}
	return out.String(), err
}
