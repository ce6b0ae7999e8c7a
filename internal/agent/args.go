package agent

import (
	"fmt"
	"strings"
)

// ArgumentError is an argument that cordon does not pass on to a client.
type ArgumentError struct {
	Client, Flag, Why string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s %s: it %s", e.Client, e.Flag, e.Why)
}

// refuse holds the operator's arguments against those that would make the launch
// weaker. --flag and --flag=value are the same.
func (a *Adapter) refuse(args []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		for _, r := range a.refused {
			if name == r.Flag {
				return &ArgumentError{string(a.Name), r.Flag, r.Why}
			}
		}
	}
	return nil
}
