package warrant

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/fault"
	"cordon/internal/guard"
)

// Hooks names what the hook configuration of a client is made from.
type Hooks struct {
	Client string // its name
	File   string // of the warrant
	With   string // a file with the operator's own hooks; "": none
	Plugin string // the file for a plugin, if the client has one
}

// Wiring reads what the files hold. A warrant that the hook would refuse is
// refused here already.
func (h Hooks) Wiring() (client.Wiring, error) {
	var w client.Wiring
	known, err := clients.Of(client.Name(h.Client))
	if err != nil {
		return w, mistake("cordon lease hooks: --client: %v", err)
	}
	switch plugin := known.Dialect.Plugin != nil; {
	case plugin && h.Plugin == "":
		return w, mistake("cordon lease hooks: --plugin FILE is needed for %s", known.Name)
	case !plugin && h.Plugin != "":
		return w, mistake("cordon lease hooks: %s has no plugin: leave --plugin out", known.Name)
	}
	if h.File == "" {
		return w, mistake("cordon lease hooks: --warrant FILE is needed: cordon lease warrant prints it")
	}
	b, err := os.ReadFile(h.File)
	if err != nil {
		return w, err
	}
	ward, err := guard.ReadWarrant(b)
	if err != nil {
		return w, fmt.Errorf("%s: %w", h.File, err)
	}
	scope, err := ward.Scope(time.Now())
	if err != nil {
		return w, fmt.Errorf("%s: %w", h.File, err)
	}
	w.Client = known.Dialect
	if w.Binary, err = os.Executable(); err != nil {
		return w, err
	}
	if w.Lease, err = filepath.Abs(h.File); err != nil {
		return w, err
	}
	if scope.Inside(w.Lease) {
		return w, mistake("cordon lease hooks: %s is in the worker's tree, where the worker can change it", h.File)
	}
	if h.Plugin != "" {
		if w.Plugin, err = filepath.Abs(h.Plugin); err != nil {
			return w, err
		}
	}
	w.Label = label()
	w.Extra, err = h.extra()
	return w, err
}

// extra are the operator's hooks.
func (h Hooks) extra() (client.Hooks, error) {
	if h.With == "" {
		return nil, nil
	}
	b, err := os.ReadFile(h.With)
	if err != nil {
		return nil, err
	}
	hooks, err := client.ParseHooks(b)
	if err != nil {
		return nil, mistake("%s: %v", h.With, err)
	}
	return hooks, nil
}

// label is a name that a worker cannot guess, and so cannot switch off.
func label() string {
	b := make([]byte, 12)
	rand.Read(b)
	return "cordon-" + hex.EncodeToString(b)
}

// mistake is an error of the person who named the files.
func mistake(format string, args ...any) error {
	return &fault.MistakeError{Err: fmt.Errorf(format, args...)}
}
