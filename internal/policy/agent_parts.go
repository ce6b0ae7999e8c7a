package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/agent/facts"
	"cordon/internal/strictyaml"
)

// agentParts are the keys about what a client gets of its user's and the project's setup.
func agentParts() []field {
	const shared = " user: your own, if your configuration shares them with the repository (cordon config share)."
	const both = " project: those of the base commit." + shared + " They go in as text: hooks, inline shell, permissions and unknown front matter are removed."
	return []field{
		parts("instructions", "Instructions for all projects that you keep in your home: the memory file of the client."+shared,
			func(p *Policy) *[]string { return &p.Agent.Instructions }, checkWord("whose instructions", PartUser)),
		parts("skills", "Skills that the client gets."+both, func(p *Policy) *[]string { return &p.Agent.Skills }, checkWord("whose skills", PartProject, PartUser)),
		parts("agents",
			"Agents (sub-agents) that the client gets."+both,
			func(p *Policy) *[]string { return &p.Agent.Agents }, checkWord("whose agents", PartProject, PartUser)),
		parts("commands",
			"Commands (custom prompts) that the client gets."+both,
			func(p *Policy) *[]string { return &p.Agent.Commands }, checkWord("whose commands", PartProject, PartUser)),
		parts("mcp", "MCP servers of your own client that the worker's gets, by name; user: all that your configuration shares with the repository. "+
			"They run in the cell, with its network, and the guard judges their tools.", func(p *Policy) *[]string { return &p.Agent.MCP }, checkServer),
		section("args",
			"Further arguments for each client, before those of the command line. Those that name servers, providers or "+
				"directories are only for the command line.",
			clientArgs()),
	}
}

// Asks reports whether a policy asks for a part of the operator's own setup, by the word with
// which they share it: skills, or mcp:NAME for a server.
func (a Agent) Asks(word string) bool {
	if name, ok := strings.CutPrefix(word, "mcp:"); ok {
		return slices.Contains(a.MCP, PartUser) || slices.Contains(a.MCP, name)
	}
	lists := map[string][]string{"instructions": a.Instructions, "skills": a.Skills, "agents": a.Agents, "commands": a.Commands}
	return slices.Contains(lists[word], PartUser)
}

// clientArgs has a key for each client.
func clientArgs() []field {
	var fields []field
	for _, c := range facts.All() {
		fields = append(fields, field{
			Key: c.Name, Doc: "Arguments of " + c.Title + ", as cordon run " + c.Name + " takes them.",
			Read: func(p *Policy, n *yaml.Node) error {
				args, err := strictyaml.ReadList(n, checkArgument)
				p.Agent.Args = withArgs(p.Agent.Args, c.Name, args)
				return err
			},
			Show: func(p Policy) strictyaml.Shown { return strictyaml.Shown{IsList: true, List: p.Agent.Args[c.Name]} },
		})
	}
	return fields
}

// withArgs are the arguments of all clients, with those of one replaced. The table may be
// that of another policy, and is not changed.
func withArgs(all map[string][]string, client string, args []string) map[string][]string {
	var changed map[string][]string
	set := func(name string, args []string) {
		if changed == nil {
			changed = map[string][]string{}
		}
		changed[name] = args
	}
	for name, others := range all {
		if name != client {
			set(name, others)
		}
	}
	if len(args) > 0 {
		set(client, args)
	}
	return changed
}

// parts is a list that a lease leaves out if it is empty, as leases did before there was
// the key.
func parts(key, doc string, of func(*Policy) *[]string, check func(string) (string, error)) field {
	f := list(key, doc, of, check)
	read := f.Read
	f.Read = func(p *Policy, n *yaml.Node) error {
		err := read(p, n)
		if l := of(p); len(*l) == 0 {
			*l = nil
		}
		return err
	}
	return f
}

func checkArgument(s string) (string, error) {
	if s == "" || strings.Contains(s, "\x00") {
		return "", strictyaml.Fault("an argument is empty", "write each flag and each value as an entry of its own")
	}
	return s, nil
}

// checkWord accepts one of a few words.
func checkWord(what string, words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		return "", strictyaml.Fault(quote(s)+" does not say "+what, "the words here are "+strings.Join(words, " and "))
	}
}

// checkServer accepts the name of an MCP server: letters and digits, with single - or _
// between them. user, which is all of them, has the same form.
func checkServer(s string) (string, error) {
	for _, word := range strings.FieldsFunc(strings.ReplaceAll(s, "-", "_"), func(r rune) bool { return r == '_' }) {
		if strings.ContainsFunc(word, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') }) {
			return "", badServer(s)
		}
	}
	joined := strings.ReplaceAll(s, "-", "_")
	if s == "" || strings.Contains(joined, "__") || strings.HasPrefix(joined, "_") || strings.HasSuffix(joined, "_") {
		return "", badServer(s)
	}
	return s, nil
}

func badServer(s string) error {
	return strictyaml.Fault(quote(s)+" is not the name of an MCP server", "a name is letters and digits, with single - or _ between them")
}
