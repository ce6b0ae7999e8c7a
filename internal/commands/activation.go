package commands

import (
	"slices"
	"strings"
)

// activates reports whether a call prints code that sets up a shell: variables,
// functions, completions. It is meant to be run by eval and touches nothing, so
// that it is as good as nothing.
func activates(called string, args []string) bool {
	if ownProgram(called) && !strings.HasPrefix(called, "/opt/") && !strings.HasPrefix(called, "/home/linuxbrew/") {
		return false
	}
	name, first, second := commandName(called), nthOf(args, 1), nthOf(args, 2)
	for _, a := range activations {
		if !strings.Contains(a.commands, " "+name+" ") {
			continue
		}
		return strings.Contains(a.words, " "+first+" ") && first != "" || second != "" && strings.Contains(a.words, " "+first+"+"+second+" ")
	}
	switch name {
	case "conda", "mamba", "micromamba":
		return (first == "shell" || strings.HasPrefix(first, "shell.")) && second == "hook"
	case "keychain":
		return slices.Contains(args, "--eval")
	case "dircolors", "lesspipe", "lesspipe.sh":
		return len(args) == 1 || first == "-b" || first == "-c" || first == "--sh"
	case "register-python-argcomplete":
		return true
	case "ssh-agent":
		return agentAlone(args[1:])
	}
	return false
}

// activations are the commands and the first words with which they print such
// code; two words are joined with a plus.
var activations = [...]struct{ commands, words string }{
	{" pyenv rbenv nodenv jenv goenv plenv phpenv starship zoxide atuin mcfly tmuxifier oh-my-posh ", " init virtualenv-init completions "},
	{" direnv ", " export hook "},
	{" fnm volta rustup ", " env completions "},
	{" mise asdf rtx ", " activate hook-env env completion deactivate "},
	{" brew ", " shellenv "},
	{" opam ", " env config+env "},
	{" poetry ", " env+activate completions "},
	{" luarocks ", " path "},
	{" docker-machine minikube ", " env docker-env podman-env completion "},
	{" thefuck fzf just uv ", " --alias --bash --zsh --completions generate-shell-completion "},
	{" npm pnpm pip kubectl helm gh glab docker podman kind k3d k9s flux argocd stern golangci-lint hugo pulumi deno op yq task" +
		" terraform tilt skaffold ", " completion completions "},
}

// agentAlone reports whether ssh-agent is given no command to run.
func agentAlone(args []string) bool {
	return len(scan(args, "ssh-agent").operands) == 0
}

func nthOf(args []string, n int) string {
	if n < len(args) {
		return args[n]
	}
	return ""
}
