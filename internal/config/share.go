package config

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"cordon/internal/consent"
	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

// Share is what of the operator's own goes into the cells of each repository: words by the
// directory of the repository. That is a path of this machine, which no repository can
// claim for itself; a remote address it could.
type Share map[string][]string

// Kinds of what is shared. Servers and variables are shared one by one.
const (
	mcpPrefix    = "mcp:"
	secretPrefix = "secret:"
)

// SharedParts are the words without a name behind them.
var SharedParts = []string{"instructions", "skills", "agents", "commands"}

// Secret and Server are the words for a variable and for an MCP server.
func Secret(name string) string { return secretPrefix + name }
func Server(name string) string { return mcpPrefix + name }

// With are the words that are shared with a repository, by its common git directory with
// links resolved.
func (s Share) With(common string) Shared {
	return Shared(slices.Concat(s[common], s[ShareKey(common)]))
}

// ShareKey is how a repository is written: by its directory, where its git directory is in
// it, and otherwise by the git directory.
func ShareKey(common string) string {
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	return common
}

// Shared are the words for one repository.
type Shared []string

// Has reports whether a word is among them.
func (s Shared) Has(word string) bool { return slices.Contains(s, word) }

// Servers are the names of the MCP servers.
func (s Shared) Servers() []string {
	var names []string
	for _, word := range s {
		if name, ok := strings.CutPrefix(word, mcpPrefix); ok {
			names = append(names, name)
		}
	}
	return names
}

// Secrets are those of some variables that are shared.
func (s Shared) Secrets(names []string) []string {
	kept := []string{}
	for _, name := range names {
		if s.Has(Secret(name)) {
			kept = append(kept, name)
		}
	}
	return kept
}

var (
	serverName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`) })
	variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)

// CheckShared accepts a word.
func CheckShared(word string) (string, error) {
	server, isServer := strings.CutPrefix(word, mcpPrefix)
	secret, isSecret := strings.CutPrefix(word, secretPrefix)
	switch _, never := policy.Withheld(secret); {
	case slices.Contains(SharedParts, word), isServer && serverName().MatchString(server), isSecret && variableName().MatchString(secret) && !never:
		return word, nil
	case strings.HasPrefix(word, mcpPrefix), strings.HasPrefix(word, secretPrefix):
	default:
		if slices.ContainsFunc(consent.Forms, func(form string) bool { kind, _, _ := strings.Cut(form, ":"); return strings.HasPrefix(word, kind) }) {
			return word, consent.Check(word)
		}
	}
	return "", strictyaml.Fault(quote(word)+" cannot be shared", "the words are "+strings.Join(SharedParts, ", ")+", mcp:NAME, secret:NAME, "+
		strings.Join(consent.Forms, ", "))
}

func shareField() field {
	return field{
		Key: "share",
		Doc: "What of your own goes into the cells of a repository, and what its policy may open, if it asks for that: for the directory of " +
			"each repository a list of instructions, skills, agents, commands, mcp:NAME, secret:NAME, isolation:WORD, domain:ENTRY, " +
			"port:NUMBER, read:ROOT and web. cordon config share writes it.",
		Read: func(c *Config, n *yaml.Node) (err error) { c.Share, err = readShare(n); return err },
		Show: func(c Config) strictyaml.Shown { return strictyaml.Shown{Scalar: c.Share.flow()} },
	}
}

// flow is YAML on one line.
func (s Share) flow() string {
	var rows []string
	for _, path := range slices.Sorted(maps.Keys(s)) {
		words := []string{}
		for _, w := range s[path] {
			words = append(words, strictyaml.Quote(w))
		}
		key, _ := json.Marshal(path) // a text
		rows = append(rows, string(key)+": ["+strings.Join(words, ", ")+"]")
	}
	return "{" + strings.Join(rows, ", ") + "}"
}

func readShare(n *yaml.Node) (Share, error) {
	if n.Kind != yaml.MappingNode {
		return nil, strictyaml.Fault("expected the directories of repositories, not "+strictyaml.Describe(n), "write /PATH/OF/A/REPOSITORY: [skills]")
	}
	share := Share{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		path := key.Value
		if key.Kind != yaml.ScalarNode || !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return nil, strictyaml.At(key, strictyaml.Fault(quote(path)+" is not the directory of a repository", "write an absolute path, without a slash at its end"))
		}
		if _, twice := share[path]; twice {
			return nil, strictyaml.At(key, strictyaml.Fault(quote(path)+" is there twice", "write one list"))
		}
		words, err := strictyaml.ReadList(n.Content[i+1], CheckShared)
		if err != nil {
			return nil, err
		}
		share[path] = words
	}
	return share, nil
}
