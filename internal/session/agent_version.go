package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/agent"
	"cordon/internal/cell"
	"cordon/internal/client"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/paths"
)

// mayDispatch refuses an agent that could not be started before anything is made for
// it.
func (s *Session) mayDispatch(ctx context.Context, a *ledger.Agent, l lease.Lease) error {
	if a == nil {
		return nil
	}
	known, err := agent.Of(client.Name(a.Client))
	if err != nil {
		return &MistakeError{err}
	}
	if err := known.Accept(a.Args); err != nil {
		return &RefusedError{err}
	}
	_, _, note, err := s.findClient(ctx, known, l, s.environ(l))
	if note != "" {
		s.Voice.Step("", "client", note)
	}
	return err
}

// findClient finds the program of a client on the worker's own PATH and asks it for
// its version. The note is for the operator.
func (s *Session) findClient(ctx context.Context, a *agent.Adapter, l lease.Lease, env []string) (program string, version agent.Version,
	note string, err error) {
	if program = lookUp(a.Program, variable(env, "PATH")); program == "" {
		return "", version, "", &MistakeError{fmt.Errorf("%s is not on the PATH that a worker has (npm install -g %s)", a.Program, a.Package)}
	}
	if real := realPath(program); l.Worktree != "" && paths.Below(real, realPath(l.Worktree)) {
		return "", version, "", refuse("%s is found in the worktree (%s), where a worker writes: it is not run from there", a.Program, program)
	}
	if version, _, err = s.ClientVersion(ctx, program); err != nil {
		return "", version, "", refuse("%s at %s does not say which version it is: %v", a.Name, program, err)
	}
	if note, err = a.Check(version); err != nil {
		err = &RefusedError{err}
	}
	return program, version, note, err
}

// lookUp finds a program by a list of directories. Relative ones are left out: a
// worker writes there.
func lookUp(name, list string) string {
	for _, dir := range filepath.SplitList(list) {
		at := filepath.Join(dir, name)
		if fi, err := os.Stat(at); filepath.IsAbs(dir) && err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// versionPatience is how long a client may take to say its version: some are slow
// to start, and a machine may be busy.
const versionPatience = 30 * time.Second

// versionsFile remembers what clients said. Some take seconds to say it.
const versionsFile = "clients.json"

type versionSaid struct {
	File string `json:"file"` // what the program was: size and time
	Text string `json:"text"`
}

// ClientVersion asks a client for its version, or remembers what this very program
// has said before. The text is the client's own.
func (s *Session) ClientVersion(ctx context.Context, program string) (agent.Version, string, error) {
	fi, err := os.Stat(program)
	if err != nil {
		return agent.Version{}, "", err
	}
	file := fmt.Sprintf("%d-%d", fi.Size(), fi.ModTime().UnixNano())
	known := s.versionsKnown()
	if have, ok := known[program]; ok && have.File == file {
		if v, err := agent.ParseVersion(have.Text); err == nil {
			return v, have.Text, nil
		}
	}
	text, err := askVersion(ctx, program)
	if err != nil {
		return agent.Version{}, "", err
	}
	v, err := agent.ParseVersion(text)
	if err == nil {
		known[program] = versionSaid{file, text}
		s.rememberVersions(known)
	}
	return v, text, err
}

func (s *Session) versionsKnown() map[string]versionSaid {
	known := map[string]versionSaid{}
	b, err := os.ReadFile(filepath.Join(s.State.Path(), versionsFile))
	if err != nil || json.Unmarshal(b, &known) != nil {
		return map[string]versionSaid{}
	}
	return known
}

// rememberVersions keeps what was said. It is a cache: where it cannot be written,
// the client is asked again.
func (s *Session) rememberVersions(known map[string]versionSaid) {
	b, err := json.Marshal(known)
	if err != nil || !s.State.Exists() {
		return
	}
	at := filepath.Join(s.State.Path(), versionsFile)
	if writeSynced(at+".new", b) == nil {
		_ = os.Rename(at+".new", at)
	}
}

// askVersion runs a client outside of every repository, so that no configuration of
// one is read, with an environment that tells it nothing.
func askVersion(ctx context.Context, program string) (string, error) {
	var out bytes.Buffer
	env := []string{"TERM=dumb", "NO_COLOR=1", "CI=1", "DISABLE_AUTOUPDATER=1"}
	for _, name := range []string{"PATH", "HOME", "USER", "TMPDIR", "LANG", "LC_ALL"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	exit, err := cell.Run(ctx, cell.Command{
		Argv: []string{program, "--version"}, Dir: "/", Env: env, Stdout: &bounded{w: &out, left: 64 << 10}, Limit: versionPatience,
	})
	if err == nil && !exit.OK() {
		err = fmt.Errorf("%s --version ended with %d (%s)", filepath.Base(program), exit.Code, exit.Reason)
	}
	if err == nil && strings.TrimSpace(out.String()) == "" {
		err = errors.New("it says nothing")
	}
	return out.String(), err
}
