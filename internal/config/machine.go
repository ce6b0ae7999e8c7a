package config

import (
	"errors"
	"io/fs"
	"strings"

	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

// MachineFile holds the rights of everybody on a machine, in the format of a configuration.
// An operator's own rights narrow them and never widen them.
const MachineFile = "/etc/cordon/config.yaml"

// readMachine reads the rights of a machine; without a file they bound nothing. The file
// and every directory above it belong to root and are not writable by others. It has
// rights only: everything else is the operator's own to decide.
func readMachine(file string) (policy.Rights, strictyaml.Given, error) {
	text, err := owner{root: true}.read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return policy.AllRights(), nil, nil
	}
	if err != nil {
		return policy.Rights{}, nil, err
	}
	return parseMachine(file, text)
}

// Check reads an operator's configuration, or that of the machine, without using it.
func Check(file string) error {
	if file != MachineFile {
		text, err := ReadOwn(file)
		if err == nil {
			_, _, err = Parse(file, text)
		}
		return err
	}
	text, err := owner{root: true}.read(file)
	if err == nil {
		_, _, err = parseMachine(file, text)
	}
	return err
}

func parseMachine(file string, text []byte) (policy.Rights, strictyaml.Given, error) {
	c, given, err := Parse(file, text)
	if err != nil {
		return policy.Rights{}, nil, err
	}
	for key, line := range given {
		if key != "version" && key != "rights" && !strings.HasPrefix(key, "rights.") {
			return policy.Rights{}, nil, &strictyaml.Error{Name: file, Line: line, Column: 1, Problem: key + " is not for a whole machine",
				Hint: "keep version and rights only; the rest belongs in each operator's own configuration"}
		}
	}
	if given["rights.isolation"] == 0 {
		c.Rights.Isolation = policy.None // the default is for repositories
	}
	return c.Rights, given, nil
}

// narrow takes from the operator's rights what those of the machine do not give.
func (l *Loaded) narrow(machine policy.Rights, given strictyaml.Given) {
	l.Bound, l.Machine = l.Rights, given
	if l.Given["rights.isolation"] == 0 {
		l.Bound.Isolation = policy.None
	}
	l.Bound = l.Bound.Meet(machine)
	l.Rights = l.Rights.Meet(machine)
}

// Narrows says who takes something from a policy; it continues with the policy.
func (l Loaded) Narrows() string {
	if len(l.Machine) == 0 {
		return "your configuration narrows"
	}
	return "your configuration and " + MachineFile + " narrow"
}
