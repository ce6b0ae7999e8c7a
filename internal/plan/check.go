package plan

import (
	"slices"
	"strconv"
	"strings"

	"cordon/internal/strictyaml"
)

// check refuses what is wrong with a plan whatever the repository looks like.
func check(p *Plan) error {
	for _, one := range []func(*Plan) error{distinctIDs, knownLinks, noCycles, readsAncestors, soundStages} {
		if err := one(p); err != nil {
			return err
		}
	}
	return nil
}

func distinctIDs(p *Plan) error {
	first := map[string]Position{}
	for _, s := range p.Stages {
		if before, twice := first[s.ID]; twice {
			return s.at.fault("two stages are called "+s.ID, "the first is on line "+strconv.Itoa(before.Line))
		}
		first[s.ID] = s.at
	}
	return nil
}

func knownLinks(p *Plan) error {
	var ids []string
	for _, s := range p.Stages {
		ids = append(ids, s.ID)
	}
	for _, s := range p.Stages {
		for _, l := range slices.Concat(s.After, s.Reads) {
			switch {
			case l.ID == s.ID:
				return l.at.fault(s.ID+" waits for itself", "remove it")
			case !slices.Contains(ids, l.ID):
				hint := "the stages are " + strings.Join(ids[:min(len(ids), 20)], ", ")
				if near := strictyaml.Nearest(l.ID, ids); near != "" {
					hint = "did you mean " + near + "?"
				}
				return l.at.fault("there is no stage "+l.ID, hint)
			}
		}
	}
	return nil
}

func noCycles(p *Plan) error {
	g := p.graph()
	if ring := g.cycle(); ring != nil {
		s, _ := p.Stage(ring[0])
		return s.at.fault("stages wait for each other: "+strings.Join(ring, " → "), "remove one of these dependencies")
	}
	return nil
}

// readsAncestors: the result of another stage is there only if the stage waits for it.
func readsAncestors(p *Plan) error {
	g := p.graph()
	for _, s := range p.Stages {
		for _, l := range s.Reads {
			if !g.before(s.ID)[l.ID] {
				return l.at.fault(s.ID+" reads the result of "+l.ID+" without waiting for it", "add "+l.ID+" to after")
			}
		}
	}
	return nil
}

// soundStages refuses stages that contradict themselves.
func soundStages(p *Plan) error {
	for _, s := range p.Stages {
		problem, hint := unsound(s)
		if problem != "" {
			return s.at.fault(s.ID+": "+problem, hint)
		}
	}
	return nil
}

func unsound(s Stage) (problem, hint string) {
	switch {
	case s.Agent != "" && len(s.Command) > 0:
		return "it has an agent and a command", "keep one of them"
	case s.Model != "" && len(s.Command) > 0:
		return "a command has no model", "remove model, or name an agent"
	case s.Task != "" && s.TaskFile != "":
		return "it has two tasks", "keep one of them"
	case s.Task == "" && s.TaskFile == "" && len(s.Command) == 0 && s.Kind != Verify:
		return "it has nothing to do", "add task, or command"
	case s.Kind == Verify && len(s.Write) > 0:
		return "a stage that verifies changes nothing", "remove write, or leave kind out"
	case s.Kind == Verify && len(s.Acceptance) == 0 && len(s.Truths) == 0:
		return "it checks nothing", "add acceptance or truths"
	case s.Kind == Survey && len(s.Write) == 0:
		return "a survey writes what it learned, and has no place for it", "add write"
	case s.Review != nil && s.Kind == Verify:
		return "there is no change to review", "remove review"
	}
	return "", ""
}
