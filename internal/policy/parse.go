package policy

import (
	"strconv"
	"strings"

	"cordon/internal/strictyaml"
)

// Error is an operator's mistake in a policy.
type Error = strictyaml.Error

// fault is a mistake whose place is not known yet.
type fault struct{ problem, hint string }

func (f fault) Error() string             { return (&Error{Problem: f.problem, Hint: f.hint}).Error() }
func (f fault) Mistake() (string, string) { return f.problem, f.hint }

func quote(s string) string { return strconv.Quote(s) }

// Parse reads a policy. The name stands in front of every error. On any error
// the returned Policy is the zero one, which allows nothing.
func Parse(name string, data []byte) (Policy, error) {
	p, _, err := ParseGiven(name, data)
	return p, err
}

// ParseGiven is Parse, and the keys that the file gives with their lines.
func ParseGiven(name string, data []byte) (Policy, strictyaml.Given, error) {
	p := Default()
	p.Gate.Land = ""
	kind := strictyaml.Kind[Policy]{Noun: "policy", Fields: fieldTable(), Others: operatorKeys,
		Empty: "delete the file to use the default policy, or write version: 1"}
	given, err := kind.Parse(name, data, &p)
	if err != nil {
		return Policy{}, nil, err
	}
	if err := p.Network.checkPublish(); err != nil {
		problem, hint := err.(fault).Mistake()
		return Policy{}, nil, &Error{Name: name, Problem: problem, Hint: hint}
	}
	if p.Gate.Land == "" {
		p.Gate.Land = landFor(p.Acceptance)
	}
	return p, given, nil
}

const operators = "it belongs in your own configuration: cordon config --help"

// operatorKeys are keys of the operator's configuration (package config), which a
// repository cannot set.
var operatorKeys = map[string]string{
	"land": operators, "then": operators, "hooks": operators, "notify": operators, "signing": operators, "client": operators, "rights": operators,
}

// YAML writes p in its canonical form, with a comment for each key. Parse reads
// it back to the same Policy.
func (p Policy) YAML() []byte { return strictyaml.Write(p, fieldTable()) }

// suggestPreset says what an unknown preset was probably meant to be, else the
// presets there are.
func suggestPreset(entry string) string {
	if near := strictyaml.Nearest(entry[:min(len(entry), 64)], presetNames()); near != "" {
		return "did you mean " + near + "?"
	}
	return "the presets are " + strings.Join(presetNames(), ", ")
}
