package agent

import (
	"fmt"
	"slices"
	"strings"
)

// ArgumentError is an argument that cordon does not pass on to a client.
type ArgumentError struct {
	Client, Flag, Why string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s %s: it %s", e.Client, e.Flag, e.Why)
}

// Passed is an argument of the operator's that is passed on.
type Passed struct {
	Flag   string
	Values int // how many words follow it, or many
	// check says what is wrong with a value, after "it". It may be nil.
	Check func(value string) (why string)
	// Own says that only the command line may have it, which the operator typed: in a
	// policy, it would let a repository name a server, a file or a tool. OwnValue says that
	// of a value.
	Own      bool
	OwnValue func(value string) bool
}

// Many is all words up to the next flag.
const Many = -1

// Accept holds the operator's arguments against those that would make the launch
// weaker. --flag and --flag=value are the same. A client with a list of what is
// passed on is given nothing else: it has more flags than it tells of.
func (a *Adapter) Accept(args []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		for _, r := range a.Refused {
			if name == r[0] {
				return &ArgumentError{string(a.Name), r[0], r[1]}
			}
		}
	}
	if a.Passed == nil {
		return nil
	}
	err := Walk(a.Passed, args, func(Passed, []string) {})
	if err != nil {
		err.Client = string(a.Name)
		return err
	}
	return nil
}

// AcceptPolicy holds the arguments of a policy against the same list, and against those
// that only the operator may type.
func (a *Adapter) AcceptPolicy(args []string) error {
	if err := a.Accept(args); err != nil || a.Passed == nil {
		return err
	}
	var refused error
	err := Walk(a.Passed, args, func(p Passed, values []string) {
		if p.Own || p.OwnValue != nil && slices.ContainsFunc(values, p.OwnValue) {
			refused = &ArgumentError{string(a.Name), p.Flag, "is only for the command line: a policy may not name servers, files, directories or tools"}
		}
	})
	if err != nil {
		return err
	}
	return refused
}

// Walk goes through arguments flag by flag, and stops at the first one that is not
// passed on.
func Walk(passed []Passed, args []string, each func(p Passed, values []string)) *ArgumentError {
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		i := slices.IndexFunc(passed, func(p Passed) bool { return p.Flag == name })
		if i < 0 {
			return &ArgumentError{Flag: name, Why: unknown(name)}
		}
		p := passed[i]
		args = args[1:]
		values := []string{value}
		if !given {
			n := p.count(args)
			if n < p.Values || p.Values == Many && n == 0 {
				return &ArgumentError{Flag: name, Why: "needs a value"}
			}
			values, args = args[:n], args[n:]
			if i := slices.IndexFunc(values, func(v string) bool { return strings.HasPrefix(v, "-") }); i >= 0 {
				return &ArgumentError{Flag: name + " " + values[i], Why: "would be a flag for some clients: write " + name + "=" + values[i]}
			}
		}
		for _, v := range values {
			if p.Check == nil {
				break
			}
			if why := p.Check(v); why != "" {
				return &ArgumentError{Flag: name + " " + v, Why: why}
			}
		}
		each(p, values)
	}
	return nil
}

// count is how many of the words behind a flag are its values.
func (p Passed) count(args []string) int {
	if p.Values != Many {
		return min(p.Values, len(args))
	}
	n := 0
	for n < len(args) && !strings.HasPrefix(args[n], "-") {
		n++
	}
	return n
}

// unknown says why a word is not passed on that no list has.
func unknown(word string) string {
	if !strings.HasPrefix(word, "-") {
		return "is not a flag: put the agent's task after --"
	}
	return "is not one of the arguments that cordon knows to be safe"
}
