package launch

import (
	"context"
	"slices"
	"strings"

	"cordon/internal/agent"
	"cordon/internal/config"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/policy"
	"cordon/internal/usersetup"
	"cordon/internal/worksite"
)

// addParts gives a client what its policy asks for of the operator's and the project's
// setup: the operator's own only with their consent for this repository, and the project's
// from the base commit, which no worker can change.
func addParts(ctx context.Context, s *worksite.Site, w *ledger.Worker, a *agent.Adapter, order *agent.Order) ([]ledger.Part, error) {
	l := w.Lease.Lease()
	shared, err := s.Shared()
	if err != nil {
		return nil, err
	}
	g := gathered{order: order, adapter: a}
	if slices.Contains(l.Policy.Agent.Instructions, policy.PartUser) && shared.Has(string(agent.Instructions)) {
		if err := g.addMemory(ctx, s, l); err != nil {
			return nil, err
		}
	}
	for _, one := range []struct {
		part  agent.Part
		asked []string
	}{{agent.Skills, l.Policy.Agent.Skills}, {agent.Agents, l.Policy.Agent.Agents}, {agent.Commands, l.Policy.Agent.Commands}} {
		if slices.Contains(one.asked, policy.PartUser) && shared.Has(string(one.part)) {
			found, err := usersetup.Find(l.Home, a, one.part)
			if err != nil {
				return nil, err
			}
			g.addItems(found)
		}
		if slices.Contains(one.asked, policy.PartProject) {
			found, err := projectParts(ctx, s, l.Base, a, one.part)
			if err != nil {
				return nil, err
			}
			g.addItems(found)
		}
	}
	if err := g.addServers(s, l, shared); err != nil {
		return nil, err
	}
	g.say(s, w.ID)
	return g.parts, nil
}

// gathered is an order on its way, with what it was given.
type gathered struct {
	order   *agent.Order
	adapter *agent.Adapter
	parts   []ledger.Part
}

// addMemory adds the operator's own instructions.
func (g *gathered) addMemory(ctx context.Context, s *worksite.Site, l lease.Lease) error {
	name, text, err := usersetup.Memory(l.Home, g.adapter)
	if err != nil || text == "" {
		return err
	}
	g.order.Memory = text
	g.parts = append(g.parts, ledger.Part{Part: string(agent.Instructions), Name: name, From: policy.PartUser})
	if g.adapter.ProjectMemory == "" {
		return nil
	}
	project, _, err := s.Host.FileAt(ctx, l.Base, g.adapter.ProjectMemory)
	g.order.ProjectMemory = string(project)
	return err
}

// addItems adds what was found, as text. Of two with one name the first counts.
func (g *gathered) addItems(found []agent.Found) {
	for _, f := range found {
		there := func(p ledger.Part) bool { return p.Part == string(f.Part) && p.Name == f.Name && p.Left == "" }
		part := ledger.Part{Part: string(f.Part), Name: legible.Line(f.Name), From: string(f.From)}
		if slices.ContainsFunc(g.parts, there) {
			part.Left = "another one has its name"
		} else if item, err := g.adapter.Clean(f); err != nil {
			part.Left = err.Error()
		} else {
			part.Removed = item.Removed
			g.order.Items = append(g.order.Items, item)
		}
		g.parts = append(g.parts, part)
	}
}

// addServers adds the MCP servers that the policy asks for and the operator shares. Those
// of the command line come first.
func (g *gathered) addServers(s *worksite.Site, l lease.Lease, shared config.Shared) error {
	wanted := wantedServers(l.Policy, shared)
	if len(wanted) == 0 {
		return nil
	}
	own, err := usersetup.Servers(l.Home, s.Host.Top, g.adapter)
	if err != nil {
		return err
	}
	for _, server := range own {
		taken := func(other agent.Server) bool { return other.Name == server.Name }
		if slices.Contains(wanted, server.Name) && !slices.ContainsFunc(g.order.Servers, taken) {
			g.order.Servers = append(g.order.Servers, server)
			g.parts = append(g.parts, ledger.Part{Part: string(agent.MCP), Name: server.Name, From: policy.PartUser})
		}
	}
	return nil
}

// wantedServers are the servers that a policy asks for and the operator shares.
func wantedServers(p policy.Policy, shared config.Shared) []string {
	all := slices.Contains(p.Agent.MCP, policy.PartUser)
	return slices.DeleteFunc(shared.Servers(), func(name string) bool { return !all && !slices.Contains(p.Agent.MCP, name) })
}

// refuseUnsharedServers refuses a policy that names servers of the operator's without
// their consent.
func refuseUnsharedServers(s *worksite.Site, a *agent.Adapter, l lease.Lease) error {
	named := slices.DeleteFunc(slices.Clone(l.Policy.Agent.MCP), func(name string) bool { return name == policy.PartUser })
	if len(named) == 0 {
		return nil
	}
	shared, err := s.Shared()
	if err != nil {
		return err
	}
	own, err := usersetup.Servers(l.Home, s.Host.Top, a)
	if err != nil {
		return err
	}
	var names, words []string
	for _, name := range named {
		word := config.Server(name)
		if slices.ContainsFunc(own, func(server agent.Server) bool { return server.Name == name }) && !shared.Has(word) {
			names, words = append(names, name), append(words, word)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return worksite.Unshared("agent.mcp: the policy gives your MCP server "+strings.Join(names, ", ")+" to workers", words)
}

// say tells the operator what the client got, and what was removed from it.
func (g *gathered) say(s *worksite.Site, id lease.ID) {
	given := map[string]*agent.Inventory{policy.PartUser: {}, policy.PartProject: {}}
	var lines []string
	for _, p := range g.parts {
		one := strings.TrimSuffix(p.Part, "s") + " " + p.Name
		switch {
		case p.Left != "":
			lines = append(lines, one+" is left out: "+p.Left)
			continue
		case len(p.Removed) > 0:
			lines = append(lines, one+" without "+strings.Join(p.Removed, ", "))
		}
		given[p.From].Add(agent.Part(p.Part), p.Name)
	}
	if all := given[policy.PartProject].Counted(); len(all) > 0 {
		lines = append([]string{"the project's " + strings.Join(all, ", ")}, lines...)
	}
	if all := given[policy.PartUser].Counted(); len(all) > 0 {
		lines = append([]string{"your " + strings.Join(all, ", ")}, lines...)
	}
	if len(lines) > 0 {
		s.Voice.Step(id, "given", legible.Line(strings.Join(lines, "; ")))
	}
}

const (
	// maxPartFile bounds a file of a part, and mostPartFiles how many there are.
	maxPartFile   = 1 << 20
	mostPartFiles = 1000
)

// projectParts are the parts of a kind at the base commit. Links are not followed.
func projectParts(ctx context.Context, s *worksite.Site, base git.OID, a *agent.Adapter, part agent.Part) ([]agent.Found, error) {
	folders := a.ProjectParts.Of(part)
	if len(folders) == 0 {
		return nil, nil
	}
	var list []agent.Found
	for _, folder := range folders {
		files, err := s.Host.FilesBelow(ctx, base, folder.At)
		if err != nil {
			return nil, err
		}
		var here []git.File
		var oids []git.OID
		for _, f := range files {
			if (f.Mode == git.Regular || f.Mode == git.Executable) && len(here) < mostPartFiles {
				here, oids = append(here, f), append(oids, f.OID)
			}
		}
		texts, err := s.Host.SmallBlobs(ctx, oids, maxPartFile)
		if err != nil {
			return nil, err
		}
		var read []agent.File
		for _, f := range here {
			if text, ok := texts[f.OID]; ok {
				read = append(read, agent.File{Name: strings.TrimPrefix(f.Path, folder.At+"/"), Text: text})
			}
		}
		list = append(list, folder.Group(part, agent.FromProject, read)...)
	}
	return list, nil
}
