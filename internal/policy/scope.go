package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// command is one entry of acceptance: a text, or {run, paths}.
type command struct {
	run   string
	paths []string
}

// acceptanceField reads a list whose entries are commands, or commands with the paths that they
// look at.
func acceptanceField() field {
	return field{
		Key: "acceptance",
		Doc: "Commands that the gate runs on the merged tree; all must succeed. {run: COMMAND, paths: [PATH]}: the command sees only these paths, " +
			"and its success counts again while they do not change.",
		Read: func(p *Policy, n *yaml.Node) error { return p.readAcceptance(n) },
		Show: func(p Policy) strictyaml.Shown { return p.showAcceptance() },
	}
}

func (p *Policy) readAcceptance(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		list, err := strictyaml.ReadList(n, checkCommand)
		p.Acceptance = list
		return strictyaml.At(n, err)
	}
	p.Acceptance, p.AcceptancePaths = []string{}, nil
	for _, item := range n.Content {
		c, err := readCommand(item)
		if err == nil && p.givenDifferently(c) {
			err = fault{"the command " + quote(c.run) + " is given twice, with other paths", "write it once"}
		}
		if err != nil {
			return strictyaml.At(item, err)
		}
		p.Acceptance = append(p.Acceptance, c.run)
		if c.paths != nil {
			p.scope(c.run, c.paths)
		}
	}
	return nil
}

// givenDifferently reports whether a command is there already and looks at something else.
func (p *Policy) givenDifferently(c command) bool {
	return slices.Contains(p.Acceptance, c.run) && !slices.Equal(p.AcceptancePaths[c.run], c.paths)
}

func (p *Policy) scope(run string, paths []string) {
	p.unscope(run)
	if p.AcceptancePaths == nil {
		p.AcceptancePaths = map[string][]string{}
	}
	p.AcceptancePaths[run] = slices.Clone(paths)
}

// unscope lets a command look at everything. Other policies may share the table.
func (p *Policy) unscope(run string) {
	var rest map[string][]string
	for other, paths := range p.AcceptancePaths {
		if other == run {
			continue
		}
		if rest == nil {
			rest = map[string][]string{}
		}
		rest[other] = paths
	}
	p.AcceptancePaths = rest
}

func readCommand(n *yaml.Node) (c command, err error) {
	if n.Kind != yaml.MappingNode {
		s, err := strictyaml.ReadText(n)
		if err == nil {
			c.run, err = checkCommand(s)
		}
		return c, err
	}
	given, err := strictyaml.ReadMapping(n, "an acceptance command", &c, []strictyaml.Field[command]{
		strictyaml.Text("run", "The command.", func(c *command) *string { return &c.run }, checkCommand),
		strictyaml.Sequence("paths", "The paths that it looks at.", func(c *command) *[]string { return &c.paths }, func(n *yaml.Node) ([]string, error) {
			return strictyaml.ReadList(n, CheckRoot)
		}),
	})
	switch {
	case err != nil:
	case given["run"] == 0:
		err = fault{`the key "run" is missing`, "write {run: COMMAND, paths: [PATH]}"}
	case len(c.paths) == 0:
		err = fault{"the command " + quote(c.run) + " looks at no paths", "list them, or write only the command"}
	}
	return c, err
}

func (p Policy) showAcceptance() strictyaml.Shown {
	if len(p.AcceptancePaths) == 0 {
		return strictyaml.Shown{IsList: true, List: p.Acceptance}
	}
	shown := strictyaml.Shown{IsList: true, Bare: true}
	for _, run := range p.Acceptance {
		text := strictyaml.Quote(run)
		if paths, ok := p.AcceptancePaths[run]; ok {
			text = "{run: " + text + ", paths: " + strictyaml.Shown{IsList: true, List: paths}.Line() + "}"
		}
		shown.List = append(shown.List, text)
	}
	return shown
}

// Accepts is the policy with another acceptance command. One that is there already stays as it
// is, but looks at everything if only one of the two looks at paths, or at others.
func (p Policy) Accepts(run string, paths []string) Policy {
	p.Acceptance = slices.Clone(p.Acceptance)
	if slices.Contains(p.Acceptance, run) {
		if p.givenDifferently(command{run, paths}) {
			p.unscope(run)
		}
		return p
	}
	p.Acceptance = append(p.Acceptance, run)
	if paths != nil {
		p.scope(run, paths)
	}
	return p
}

// AcceptanceOrder are the acceptance commands in the order in which they run: those for the whole tree, then those that look at
// some paths.
func (p Policy) AcceptanceOrder() (whole, parts []string) {
	for _, run := range p.Acceptance {
		if _, some := p.AcceptancePaths[run]; some {
			parts = append(parts, run)
		} else {
			whole = append(whole, run)
		}
	}
	return whole, parts
}

// Scope reports which paths of a tree an acceptance command looks at; nil: at all.
func (p Policy) Scope(run string) (func(path string) bool, error) {
	paths, ok := p.AcceptancePaths[run]
	if !ok {
		return nil, nil
	}
	r, err := compile(Filesystem{WriteRoots: paths}, Location{Worktree: "/tree", Home: "/home"})
	if err != nil {
		return nil, err
	}
	return func(path string) bool {
		names, why := r.spell(path)
		return why == "" && !strings.HasPrefix(path, "/") && r.allow(names).Class == Landing
	}, nil
}
