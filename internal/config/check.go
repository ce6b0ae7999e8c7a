package config

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"

	"cordon/internal/agent/facts"
	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

func quote(s string) string { return strconv.Quote(s) }

func readVersion(n *yaml.Node) (int, error) {
	if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) && n.Value == strconv.Itoa(Version) {
		return Version, nil
	}
	return 0, strictyaml.Fault("expected version 1, not "+strictyaml.Describe(n), "write version: 1")
}

// maxParallel is the most results that are tested at once.
const maxParallel = 64

func readParallel(n *yaml.Node) (int, error) {
	if n.Kind == yaml.ScalarNode && strictyaml.Plain(n) {
		if v, err := strconv.Atoi(n.Value); err == nil && v >= 0 && v <= maxParallel && strconv.Itoa(v) == n.Value {
			return v, nil
		}
	}
	return 0, strictyaml.Fault("expected a number, not "+strictyaml.Describe(n), "write a whole number from 0 to "+strconv.Itoa(maxParallel))
}

func readDuration(n *yaml.Node) (policy.Duration, error) {
	s, err := strictyaml.ReadText(n)
	if err != nil {
		return 0, err
	}
	return policy.ParseDuration(s)
}

// checkIdentity accepts what can stand in a commit. The empty text means that of git.
func checkIdentity(s string) (string, error) {
	if s != strings.TrimSpace(s) || strings.ContainsAny(s, "<>") || strings.ContainsFunc(s, unicode.IsControl) {
		return "", strictyaml.Fault(quote(s)+" cannot stand in a commit", "leave out <, >, line breaks and blanks at either end")
	}
	return s, nil
}

func checkClient(s string) (string, error) {
	var names []string
	for _, c := range facts.All() {
		if c.Name == s {
			return s, nil
		}
		names = append(names, c.Name)
	}
	if s == "" {
		return "", nil
	}
	hint := "the clients are " + strings.Join(names, ", ")
	if near := strictyaml.Nearest(s, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "", strictyaml.Fault(quote(s)+" is not an agent client that cordon knows", hint)
}

// checkCoAuthor accepts NAME <ADDRESS> with known placeholders.
func checkCoAuthor(s string) (CoAuthor, error) {
	if s == "" {
		return "", nil
	}
	name, address, found := strings.Cut(s, " <")
	address, closed := strings.CutSuffix(address, ">")
	whole := found && closed && name != "" && address != "" && s == strings.TrimSpace(s)
	if !whole || strings.ContainsAny(name+address, "<>") || strings.ContainsFunc(s, unicode.IsControl) {
		return "", strictyaml.Fault(quote(s)+" is not a name and an address", `write "{name} <{email}>", or "" for no trailer`)
	}
	rest := CoAuthor(s).For(Agent{})
	if strings.ContainsAny(rest, "{}") {
		return "", strictyaml.Fault(quote(s)+" has an unknown placeholder", "the placeholders are {name}, {email}, {client} and {id}")
	}
	return CoAuthor(s), nil
}

func readCoAuthor(n *yaml.Node) (CoAuthor, error) {
	s, err := strictyaml.ReadText(n)
	if err != nil {
		return "", err
	}
	return checkCoAuthor(s)
}

const noShell = "write the program and each argument as an entry of its own; no shell reads them"

// readArgv reads a command: a program and its arguments, without a shell. The program is
// a name, looked up in PATH, or an absolute path.
//
// Arguments may name variables, and only those that the command is given.
func readArgv(variables []string) func(*yaml.Node) ([]string, error) {
	return func(n *yaml.Node) ([]string, error) {
		argv, err := readProgram(n)
		for i, a := range argv {
			for _, used := range variable().FindAllStringSubmatch(a, -1) {
				if !slices.Contains(variables, used[1]) {
					err := strictyaml.Fault(quote(used[1])+" is not a variable here", "the variables are "+strings.Join(variables, ", "))
					return nil, strictyaml.At(n.Content[i], err)
				}
			}
			if err := checkWords(argv, i); err != nil {
				return nil, strictyaml.At(n.Content[i], err)
			}
		}
		return argv, err
	}
}

// ThenVariables are what the command after a landing is told.
var ThenVariables = []string{"CORDON_ID", "CORDON_TARGET", "CORDON_COMMIT", "CORDON_PREVIOUS", "CORDON_REPOSITORY", "CORDON_SUBJECT"}

// NotifyVariables are what the command for notifications is told.
var NotifyVariables = []string{"CORDON_ID", "CORDON_STATE", "CORDON_MESSAGE", "CORDON_REPOSITORY"}

// variable finds the names of cordon's variables in an argument.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{?(CORDON_[A-Z_]*)`) })

func readProgram(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		return nil, strictyaml.Fault("expected a list, not "+strictyaml.Describe(n), noShell)
	}
	argv, err := strictyaml.ReadList(n, func(s string) (string, error) { return s, nil })
	if err != nil || len(argv) == 0 {
		return argv, err
	}
	program := argv[0]
	switch {
	case program == "" || program != strings.TrimSpace(program):
		err = strictyaml.Fault(quote(program)+" is not a program", "the first entry is its name or its absolute path")
	case strings.Contains(program, "/") && !filepath.IsAbs(program):
		err = strictyaml.Fault(quote(program)+" is a relative path", "write a name that is looked up in PATH, or an absolute path")
	case strings.ContainsAny(program, " \t"):
		err = strictyaml.Fault(quote(program)+" has a blank in it", noShell)
	}
	if err != nil {
		return nil, strictyaml.At(n.Content[0], err)
	}
	return argv, nil
}

// checkURL accepts where a webhook may be: https anywhere, http on this machine only.
func checkURL(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || strings.ContainsFunc(s, unicode.IsControl) || strings.Contains(s, " "):
		return "", strictyaml.Fault(quote(s)+" is not a URL", "write https://HOST/PATH")
	case u.User != nil || u.Fragment != "":
		return "", strictyaml.Fault("the URL has a user, a password or a fragment", "write https://HOST/PATH; the request is signed with notify.webhook.secret")
	case u.Scheme == "http" && loopback(u.Hostname()), u.Scheme == "https":
		return s, nil
	}
	return "", strictyaml.Fault(quote(s)+" would be sent unencrypted", "write https://, or http:// for this machine alone: 127.0.0.1, [::1] or localhost")
}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// checkSecret accepts the name of a file next to the configuration, where no cell can
// read it.
func checkSecret(s string) (string, error) {
	if s != "" && (s != filepath.Base(s) || strings.HasPrefix(s, ".") || strings.ContainsFunc(s, unicode.IsControl)) {
		return "", strictyaml.Fault(quote(s)+" is not the name of a file", "put the file next to config.yaml, where no worker can read it, and write its name alone")
	}
	return s, nil
}
