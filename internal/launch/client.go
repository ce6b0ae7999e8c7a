package launch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/agent"
	"cordon/internal/agent/clients"
	"cordon/internal/agent/facts"
	"cordon/internal/cell"
	"cordon/internal/client"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/keyhelper"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/warrant"
	"cordon/internal/worksite"
)

// clientSetup is what an agent client is started with in one launch.
type clientSetup struct {
	adapter *agent.Adapter
	kit     agent.Kit
	servers []string // the names of the MCP servers that it is given
	state   string   // where the client keeps what it keeps
	logins  []login
	hide    []string
	show    []cell.Bind
	env     []string
	wiring  ledger.Wiring
	life    *hookWatch
	helpers []helper
	release func() // of the files that it shares with others
	// unpacked is where those are; "": it makes its own.
	unpacked string
	record   *conversation // of an interactive one; nil: its hooks report soon after its start
	keys     *keyhelper.Keys
	// unsigned says what to type, if nothing was found that could sign the client in.
	unsigned string
}

// planClient chooses what the client of a worker is started with: it is found and asked
// for its version. Nothing is written yet.
func planClient(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request, dir, text string) (*clientSetup, error) {
	a, err := clients.Of(client.Name(w.Agent.Client))
	if err != nil {
		return nil, err
	}
	l := w.Lease.Lease()
	o := &clientSetup{adapter: a, state: s.State.Agent(string(w.ID)), life: newHookWatch()}
	env := s.Environ(l)
	program, version, _, err := findClient(ctx, s, a, l, env)
	if err != nil {
		return nil, err
	}
	order, err := clientOrder(s, w, how, a)
	if err != nil {
		return nil, err
	}
	var left []string
	if order.Chosen, left, err = operatorsChoices(a, l); err != nil {
		return nil, err
	}
	nameLeftOut(s, w, a, left)
	order.Program, order.Version, order.Place, order.State, order.Briefing = program, version, dir, o.state, text
	order.Guard = []string{filepath.Join(dir, binaryFile), "hook", "--client", string(a.Name), "--lease", filepath.Join(dir, warrantFile)}
	if order.Interactive {
		order.Guard = append(order.Guard, "--interactive")
	}
	parts, err := addParts(ctx, s, w, a, &order)
	if err != nil {
		return nil, err
	}
	if order.Unpacked, err = o.unpack(ctx, s, w, order); err != nil {
		return nil, err
	}
	if err := o.askForKeys(ctx, s, w, &order, dir); err != nil {
		o.close()
		return nil, err
	}
	o.checkSignIn(s, w, order)
	for _, server := range order.Servers {
		o.servers = append(o.servers, server.Name)
	}
	if o.kit, err = a.Kit(order); err != nil {
		o.close()
		var argument *agent.ArgumentError
		if errors.As(err, &argument) {
			return nil, &fault.RefusedError{Err: err}
		}
		return nil, err
	}
	o.chooseView(l, env, program, o.adapter.Needs(order.Own, w.Agent.Args))
	o.chooseHelpers(s, l, enclosure.Variable(env, "PATH"))
	o.record = beginConversation(o, order.Interactive, order.Again)
	o.wiring = ledger.Wiring{Client: string(a.Name), Version: version.String(), Program: program}
	o.wiring.Parts = parts
	for _, shown := range o.kit.Shown {
		if strings.HasPrefix(shown.Name, agent.ItemsDir+"/") {
			continue
		}
		o.wiring.Managed = append(o.wiring.Managed, shown.At)
	}
	return o, nil
}

// clientOrder is what is wanted of a client, as far as the worker tells.
func clientOrder(s *worksite.Site, w *ledger.Worker, how Request, a *agent.Adapter) (agent.Order, error) {
	l := w.Lease.Lease()
	order := agent.Order{
		Client: a.Name, Args: slices.Concat(l.Policy.Agent.Args[string(a.Name)], w.Agent.Args),
		Interactive: how.Terminal != nil, Tree: l.Worktree, Home: l.Home, Label: rand.Text(),
		Rules: cellRules(w.Lease), Managed: l.Policy.Isolation == policy.Strict, Root: os.Getuid() == 0,
	}
	order.Prompt, order.Again = promptFor(w, how)
	var err error
	if order.Machine, err = filesAt(a.Managed, "/"); err != nil {
		return order, err
	}
	if l.Policy.Agent.Login.Given() {
		order.Key = askedKey(a.Name)
		if order.Own, err = filesAt(a.Config, l.Home); err != nil {
			return order, err
		}
	}
	if order.Extra, err = extraHooks(w.Agent); err != nil {
		return order, err
	}
	order.Servers, err = ownServers(s, w)
	return order, err
}

// askedKey is the key in the operator's environment that a client would ask a person about.
func askedKey(name client.Name) string {
	c := facts.Named(string(name))
	if c == nil || c.AskedKey == "" {
		return ""
	}
	return os.Getenv(c.AskedKey)
}

func extraHooks(a *ledger.Agent) (client.Hooks, error) {
	if len(a.Hooks) == 0 {
		return nil, nil
	}
	return client.ParseHooks(a.Hooks)
}

func ownServers(s *worksite.Site, w *ledger.Worker) ([]agent.Server, error) {
	text, err := s.Servers(w)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return agent.ParseServers(text)
}

// filesAt are what the operator's machine says in files that a client reads: a cell
// shows others in their place, which keep some of it.
func filesAt(names []string, below string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(below, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[name] = b
	}
	return files, nil
}

// writeClientFiles writes the warrant and the kit's files, and notes their sums.
func writeClientFiles(s *worksite.Site, w *ledger.Worker, o *clientSetup, dir string) error {
	ward, err := warrant.Warrant(s, w)
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
	if fi, err := os.Stat(s.WorkerFile(w.ID, worksite.StreamFile)); err == nil {
		o.wiring.Stream = fi.Size()
	}
	o.wiring.Files = map[string]string{}
	for _, f := range append(o.kit.Files, agent.File{Name: warrantFile, Text: []byte(text.String())}) {
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
	if err := os.MkdirAll(o.state, 0o700); err != nil {
		return err
	}
	if err := o.prepareState(); err != nil {
		return err
	}
	if err := o.placeHelpers(w.Lease.Lease(), dir); err != nil {
		return err
	}
	if err := o.keys.Write(filepath.Join(dir, keysDir)); err != nil {
		return err
	}
	return giveLogins(w.Lease.Lease(), o, dir)
}

// prepareState writes what a kit wants in the client's own directory. The client has
// written there in a launch before: every path goes through no link.
func (o *clientSetup) prepareState() error {
	root, err := os.OpenRoot(o.state)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := forgetState(root, ".", o.adapter.Keeps); err != nil {
		return err
	}
	if o.unpacked != "" {
		if err := copySeeds(root, o.unpacked, o.adapter.Unpacks); err != nil {
			return err
		}
	}
	for _, f := range o.kit.Seeds {
		if err := seedFile(root, filepath.FromSlash(f.Name), f.Text); err != nil {
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

// forgetState removes everything below a directory of a client's state but what is kept,
// and what leads there if it is a directory.
func forgetState(root *os.Root, dir string, keeps func(string) (all, some bool)) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch all, some := keeps(at); {
		case all:
		case some && e.IsDir():
			err = forgetState(root, at, keeps)
		default:
			err = root.RemoveAll(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seedFile writes a file of the client's state that is not there yet.
func seedFile(root *os.Root, name string, text []byte) error {
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

// chooseView gathers what the cell of the client shows and hides, and its environment.
func (o *clientSetup) chooseView(l lease.Lease, env []string, program string, variables []string) {
	o.env = fixVariables(env)
	if l.Policy.Agent.Login.Given() {
		o.env = append(o.env, signIn(variables)...)
	}
	o.env = append(o.env, o.kit.Env...)
	var hidden []string
	for _, a := range clients.All() {
		for _, rel := range a.Hidden {
			hidden = append(hidden, filepath.Join(l.Home, rel))
		}
	}
	o.hide = append(o.hide, worksite.RealPaths(hidden...)...)
	for _, at := range codeDirs(l.Home, program, worksite.FindProgram("node", enclosure.Variable(env, "PATH"))) {
		o.show = append(o.show, cell.Bind{From: at, At: at})
	}
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

// addTo puts the client into the cell of its command.
func (o *clientSetup) addTo(c *cell.Command, dir string) {
	c.Argv = o.kit.Argv
	c.Env = enclosure.WithEnv(c.Env, o.env...)
	if c.Cell == nil {
		return
	}
	c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: o.state, At: o.state, Write: true})
	c.Cell.Bind = append(c.Cell.Bind, o.show...)
	for _, h := range o.helpers {
		c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: h.from, At: h.at(dir)})
	}
	for _, shown := range o.kit.Shown {
		c.Cell.Bind = append(c.Cell.Bind, cell.Bind{From: filepath.Join(dir, shown.Name), At: shown.At})
	}
	c.Cell.Hide = append(c.Cell.Hide, o.hide...)
}
