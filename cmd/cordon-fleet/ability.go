package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"cordon/internal/agent/clients"
	"cordon/internal/cell"
	"cordon/internal/fleet/protocol"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// abilityFlags are the flags of cordon fleet node that say what the node can run.
type abilityFlags struct {
	clients, models []string
	memory          string
}

func (f *abilityFlags) add(to *pflag.FlagSet) {
	to.StringSliceVar(&f.clients, "clients", nil, "take only stages of these agent `CLIENTS`, and commands (default: those that are on PATH)")
	to.StringSliceVar(&f.models, "models", nil, "of the stages that name a model, take only those with one of these `MODELS` (default: all)")
	to.StringVar(&f.memory, "memory", "", "memory of all stages together, as `SIZE` (16GiB), of those whose policy names one (default: that of the machine)")
}

// read is what the node says that it can run. Clients that are installed while it runs count from then on.
func (f *abilityFlags) read() (func() protocol.Can, error) {
	can := protocol.Can{Clients: f.clients, Models: f.models}
	for _, name := range f.clients {
		if !clients.Known(name) {
			return nil, errors.New("--clients: " + clients.Unknown([]string{name}))
		}
	}
	if f.memory != "" {
		size, err := policy.ParseBytes(f.memory)
		if err != nil || size <= 0 {
			return nil, fmt.Errorf("--memory: %s is not a size such as 512MiB or 16GiB", f.memory)
		}
		can.Memory = int64(size)
	} else if total, err := cell.MachineMemory(); err == nil {
		can.Memory = total
	}
	return func() protocol.Can {
		now := can
		if len(now.Clients) == 0 {
			now.Clients = installed(os.Getenv("PATH"))
		}
		return now
	}, nil
}

// installed are the clients that are on a PATH.
func installed(path string) (names []string) {
	for _, a := range clients.All() {
		if worksite.FindProgram(a.Program, path) != "" {
			names = append(names, string(a.Name))
		}
	}
	return names
}
