package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/agent"
	"cordon/internal/cell"
	"cordon/internal/client"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

// outfit is what an agent client is started with in one launch.
type outfit struct {
	adapter *agent.Adapter
	kit     agent.Kit
	state   string // where the client keeps what it keeps
	logins  []login
	hide    []string
	show    []cell.Bind
	env     []string
	wiring  ledger.Wiring
	life    *life
}

// outfit makes the client of a worker ready: it is found and asked for its version,
// and what it needs is written into the rig's directory.
func (s *Session) outfit(ctx context.Context, w *ledger.Worker, how *Drive, dir, text string) (*outfit, error) {
	name, err := client.Parse(w.Agent.Client)
	if err != nil {
		return nil, err
	}
	a, err := agent.Of(name)
	if err != nil {
		return nil, err
	}
	l := w.Lease.Lease()
	env := s.environ(l)
	o := &outfit{adapter: a, state: s.State.Agent(string(w.ID)), life: newLife()}
	program, version, _, err := s.findClient(ctx, a, env)
	if err != nil {
		return nil, err
	}
	if err := s.mayStartIn(ctx, w, a, how.Terminal != nil); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.state, 0o700); err != nil {
		return nil, err
	}
	order := agent.Order{
		Client: name, Program: program, Version: version, Args: w.Agent.Args, Prompt: w.Agent.Prompt,
		Interactive: how.Terminal != nil, Place: dir, State: o.state, Tree: l.Worktree, Home: l.Home,
		Guard:    []string{filepath.Join(dir, rigBinary), "hook", "--client", string(name), "--lease", filepath.Join(dir, rigWarrant)},
		Label:    rand.Text(),
		Briefing: text, Rules: AgentRules(w.Lease), Root: os.Getuid() == 0,
		Managed: l.Policy.Isolation == policy.Strict, Machine: filesAt(a.Managed, ""),
	}
	if order.Interactive {
		order.Guard = append(order.Guard, "--interactive")
	}
	if l.Policy.Agent.Login.Given() {
		order.Key, order.Own = os.Getenv("ANTHROPIC_API_KEY"), filesAt(a.Config, l.Home)
	}
	order.Prompt, order.Again = prompt(w, how)
	if order.Extra, err = extraHooks(w.Agent); err != nil {
		return nil, err
	}
	if order.Servers, err = ownServers(w.Agent); err != nil {
		return nil, err
	}
	if o.kit, err = a.Kit(order); err != nil {
		var argument *agent.ArgumentError
		if errors.As(err, &argument) {
			return nil, &RefusedError{err}
		}
		return nil, err
	}
	if err := s.furnish(w, o, dir); err != nil {
		return nil, err
	}
	if err := s.dress(l, o, program, w.Agent.Args); err != nil {
		return nil, err
	}
	o.wiring.Client, o.wiring.Version, o.wiring.Program = string(name), version.String(), program
	for _, shown := range o.kit.Shown {
		o.wiring.Managed = append(o.wiring.Managed, shown.At)
	}
	return o, nil
}

func extraHooks(a *ledger.Agent) (client.Hooks, error) {
	if len(a.Hooks) == 0 {
		return nil, nil
	}
	return client.ParseHooks(a.Hooks)
}

func ownServers(a *ledger.Agent) ([]agent.Server, error) {
	if len(a.Servers) == 0 {
		return nil, nil
	}
	return agent.ParseServers(a.Servers)
}

// filesAt are what the operator's machine says in files that a client reads: a cell
// shows others in their place, which keep some of it.
func filesAt(names []string, below string) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range names {
		if b, err := os.ReadFile(filepath.Join(below, name)); err == nil {
			files[name] = b
		}
	}
	return files
}

// furnish writes the warrant and the kit's files, and notes their sums.
func (s *Session) furnish(w *ledger.Worker, o *outfit, dir string) error {
	ward, err := s.Warrant(w)
	if err != nil {
		return err
	}
	ward.Journal, ward.Post = "", dir
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(ward); err != nil {
		return err
	}
	o.wiring.Files = map[string]string{}
	for _, f := range append(o.kit.Files, agent.File{Name: rigWarrant, Text: []byte(text.String())}) {
		at := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(at, f.Text, 0o600); err != nil {
			return err
		}
		sum := sha256.Sum256(f.Text)
		o.wiring.Files[f.Name] = hex.EncodeToString(sum[:])
	}
	return o.prepareState()
}

// prepareState writes what a kit wants in the client's own directory. The client has
// written there in a launch before: every path goes through no link.
func (o *outfit) prepareState() error {
	root, err := os.OpenRoot(o.state)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range o.kit.Drop {
		if err := root.RemoveAll(filepath.FromSlash(name)); err != nil {
			return err
		}
	}
	for _, f := range o.kit.Seeds {
		if err := seed(root, filepath.FromSlash(f.Name), f.Text); err != nil {
			return err
		}
	}
	for _, l := range o.kit.Links {
		name := filepath.FromSlash(l.Name)
		if err := errors.Join(root.MkdirAll(filepath.Dir(name), 0o700), root.RemoveAll(name)); err != nil {
			return err
		}
		if err := root.Symlink(l.To, name); err != nil {
			return err
		}
	}
	return nil
}

// seed writes a file of the client's state that is not there yet.
func seed(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// dress gathers what the cell of the client shows and hides, and its environment.
func (s *Session) dress(l lease.Lease, o *outfit, program string, args []string) error {
	o.env = o.kit.Env
	if l.Policy.Agent.Login.Given() {
		o.env = append(signIn(o.adapter.Needs(args)), o.env...)
	}
	for _, a := range agent.All() {
		for _, rel := range a.Hidden {
			o.hide = append(o.hide, realPath(filepath.Join(l.Home, rel)))
		}
	}
	if at := inside(realPath(program), o.hide); at != "" { // some install themselves among their state
		part, _, _ := strings.Cut(strings.TrimPrefix(realPath(program), at+"/"), "/")
		o.show = append(o.show, cell.Bind{From: filepath.Join(at, part), At: filepath.Join(at, part)})
	}
	return s.login(l, o)
}

// signIn are the variables of the operator's that a client signs in with.
func signIn(names []string) []string {
	var list []string
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			list = append(list, name+"="+v)
		}
	}
	return list
}

// inside is the directory of a list that a path lies in, or "".
func inside(path string, dirs []string) string {
	for _, d := range dirs {
		if strings.HasPrefix(path, d+"/") {
			return d
		}
	}
	return ""
}

// enter puts the client into the cell of its command.
func (o *outfit) enter(c *cell.Command, dir string) {
	c.Argv = o.kit.Argv
	c.Env = withEnv(c.Env, o.env...)
	if c.Cell == nil {
		return
	}
	c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: o.state, At: o.state, Write: true})
	c.Cell.Bind = append(c.Cell.Bind, o.show...)
	for _, shown := range o.kit.Shown {
		c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: filepath.Join(dir, shown.Name), At: shown.At})
	}
	c.Cell.Hide = append(c.Cell.Hide, o.hide...)
}
