package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Part is one kind of what a person sets up for a client. The words are those of a
// policy and of the operator's configuration.
type Part string

const (
	Instructions Part = "instructions" // memory files, which every conversation begins with
	Skills       Part = "skills"
	Agents       Part = "agents"
	Commands     Part = "commands"
	MCP          Part = "mcp"
)

// Places are where a client looks for parts: below the home of its user, or below the
// top of a project.
type Places struct {
	Instructions             []string // files
	Skills, Agents, Commands []Folder
}

// Of are the folders of a part.
func (p Places) Of(part Part) []Folder {
	switch part {
	case Skills:
		return p.Skills
	case Agents:
		return p.Agents
	case Commands:
		return p.Commands
	}
	return nil
}

// Folder is a directory that holds parts of one kind.
type Folder struct {
	At string
	// Ext is how the names of its files end. "" is a folder of skills: a directory for
	// each, with SKILL.md in it.
	Ext string
	// Deep says that the client looks into directories too. The name of what is there has
	// the directories in front of it.
	Deep bool
}

// skillFile is the file of a skill that its client reads first.
const skillFile = "SKILL.md"

// Named is the name of the part that a file below the folder belongs to. main says that
// it is the file that the client reads, and not one that lies beside that.
func (f Folder) Named(below string) (name string, main, ok bool) {
	if f.Ext == "" {
		name, rest, deeper := strings.Cut(below, "/")
		return name, rest == skillFile, deeper && name != ""
	}
	name, ok = strings.CutSuffix(below, f.Ext)
	if !ok || path.Base(name) == "" || strings.HasSuffix(name, "/") || !f.Deep && strings.Contains(name, "/") {
		return "", false, false
	}
	return name, true, true
}

// Inventory is what a person has set up for one client, by names.
type Inventory struct {
	Instructions []string // files below the home
	Skills       []string
	Agents       []string
	Commands     []string
	Servers      []string
}

// Counted are the parts that the inventory has, each with its number, for a person.
func (i Inventory) Counted() []string {
	var list []string
	for _, one := range []struct {
		n    int
		noun string
	}{
		{len(i.Instructions), "instruction file"}, {len(i.Skills), "skill"}, {len(i.Agents), "agent"}, {len(i.Commands), "command"},
		{len(i.Servers), "MCP server"},
	} {
		switch {
		case one.n == 1:
			list = append(list, "1 "+one.noun)
		case one.n > 1:
			list = append(list, fmt.Sprintf("%d %ss", one.n, one.noun))
		}
	}
	return list
}

// Words are the inventory in the words that the operator shares it with.
func (i Inventory) Words() []string {
	var list []string
	for _, one := range []struct {
		part  Part
		names []string
	}{{Instructions, i.Instructions}, {Skills, i.Skills}, {Agents, i.Agents}, {Commands, i.Commands}} {
		if len(one.names) > 0 {
			list = append(list, string(one.part))
		}
	}
	for _, name := range i.Servers {
		list = append(list, string(MCP)+":"+name)
	}
	return list
}

// Unshared is the part of an inventory whose words nobody has agreed to.
func (i Inventory) Unshared(agreed func(word string) bool) Inventory {
	for _, one := range []struct {
		part Part
		list *[]string
	}{{Instructions, &i.Instructions}, {Skills, &i.Skills}, {Agents, &i.Agents}, {Commands, &i.Commands}} {
		if agreed(string(one.part)) {
			*one.list = nil
		}
	}
	i.Servers = slices.DeleteFunc(slices.Clone(i.Servers), func(name string) bool { return agreed(string(MCP) + ":" + name) })
	return i
}

// Add puts something into the inventory.
func (i *Inventory) Add(part Part, name string) {
	switch part {
	case Instructions:
		i.Instructions = append(i.Instructions, name)
	case Skills:
		i.Skills = append(i.Skills, name)
	case Agents:
		i.Agents = append(i.Agents, name)
	case Commands:
		i.Commands = append(i.Commands, name)
	case MCP:
		i.Servers = append(i.Servers, name)
	}
}
