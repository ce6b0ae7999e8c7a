package pi

import (
	"path"
	"slices"

	"cordon/internal/agent"
	"cordon/internal/agent/clean"
)

// user is what pi reads in the home, and project what it reads in a repository.
var (
	user = agent.Places{
		Instructions: []string{".pi/agent/AGENTS.md"},
		Skills:       []agent.Folder{{At: ".pi/agent/skills"}, {At: ".agents/skills"}},
		Commands:     []agent.Folder{{At: ".pi/agent/prompts", Ext: ".md"}},
	}
	project = agent.Places{
		Skills:   []agent.Folder{{At: ".pi/skills"}, {At: ".agents/skills"}},
		Commands: []agent.Folder{{At: ".pi/prompts", Ext: ".md"}},
	}
)

// fronts have the members that pi knows.
var fronts = map[agent.Part]clean.Rule{
	agent.Skills:   {Plain: []string{"name", "description", "license", "compatibility", "disable-model-invocation"}},
	agent.Commands: {Plain: []string{"description", "argument-hint"}},
}

// addItems names the folders of the kit with skills and prompts: by itself pi would read those of the
// tree as they are.
func addItems(k *agent.Kit, o agent.Order) {
	k.Argv = append(k.Argv, "--no-skills", "--no-prompt-templates")
	for _, one := range []struct {
		part agent.Part
		flag string
		off  []string // said by the operator
	}{{agent.Skills, "--skill", []string{"--no-skills", "-ns"}}, {agent.Commands, "--prompt-template", nil}} {
		dir := path.Join(agent.ItemsDir, string(one.part))
		said := func(arg string) bool { return slices.Contains(one.off, arg) }
		if !slices.ContainsFunc(o.Args, said) && len(k.AddItems(o, one.part, dir)) > 0 {
			k.Argv = append(k.Argv, one.flag, path.Join(o.Place, dir))
		}
	}
}
