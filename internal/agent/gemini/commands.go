package gemini

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"cordon/internal/agent"
)

// Gemini reads the commands of a project from the tree, whatever it is told, and runs their inline shell
// before the model and the hooks see anything of it. It asks the policy engine about each of them, though.

// shellMark begins inline shell, fileMark the name of a file whose text goes in, which can hold inline shell too, and argsMark
// stands for what a person types behind a command.
const shellMark, fileMark, argsMark = "!{", "@{", "{{args}}"

// unguarded says why a call is refused that could be inline shell.
const unguarded = "it is inline shell of a command of the project, which runs without the guard: call the tool with a description"

// commandRules refuse the inline shell of the project's commands. Calls of the model have the same words
// only if it gives no description.
//
// What a file holds when a command includes it cannot be known: with such a command every call is refused that gives no description.
func commandRules(items []agent.Item) []byte {
	p, includes := policy{}, false
	for _, item := range items {
		if item.Part != agent.Commands || item.From != agent.FromProject {
			continue
		}
		var command struct{ Prompt string }
		if toml.Unmarshal(item.Raw, &command) != nil {
			continue // Gemini does not read it either
		}
		for _, shell := range inlineShell(command.Prompt) {
			p.deny(`"run_shell_command"`, onlyCommand(shell), unguarded)
		}
		runs := strings.Contains(command.Prompt, shellMark) || strings.Contains(command.Prompt, argsMark)
		includes = includes || runs && strings.Contains(command.Prompt, fileMark) // it looks for shell in no others
	}
	if includes {
		p.deny(`"run_shell_command"`, anyCommand, unguarded)
	}
	return []byte(p.String())
}

// inlineShell is what Gemini would run of a prompt: the text between braces, which may hold others.
func inlineShell(prompt string) []string {
	var list []string
	for {
		_, rest, ok := strings.Cut(prompt, shellMark)
		if !ok {
			return list
		}
		open, end := 1, 0
		for ; end < len(rest) && open > 0; end++ {
			switch rest[end] {
			case '{':
				open++
			case '}':
				open--
			}
		}
		if open > 0 {
			return list // it refuses a prompt with braces that do not close
		}
		list, prompt = append(list, strings.TrimSpace(rest[:end-1])), rest[end:]
	}
}

// anyCommand is the pattern of arguments that are just a command, whichever. The client takes no pattern in which repetitions are nested.
const anyCommand = `^\{\x00"command":[^\x00]*\x00\}$`

// onlyCommand is the pattern of arguments that are just a command. The client puts zeros around each of them.
func onlyCommand(shell string) string {
	quoted, _ := agent.Compact(shell) // a string is always JSON
	text := strings.ReplaceAll(regexp.QuoteMeta(string(quoted)), regexp.QuoteMeta(argsMark), ".*")
	return `^\{\x00?"command":` + text + `\x00?\}$`
}

// besidesTree are the items without those commands of the project that are the same in the tree: of two with one
// name, Gemini keeps none by that name.
func besidesTree(items []agent.Item) []agent.Item {
	return slices.DeleteFunc(slices.Clone(items), func(item agent.Item) bool {
		return item.Part == agent.Commands && item.From == agent.FromProject && len(item.Removed) == 0
	})
}
