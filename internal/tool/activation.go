package tool

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
	first, second := nthOf(args, 1), nthOf(args, 2)
	switch commandName(called) {
	case "pyenv", "rbenv", "nodenv", "jenv", "goenv", "plenv", "phpenv", "starship", "zoxide", "atuin", "mcfly", "tmuxifier", "oh-my-posh":
		return first == "init" || first == "virtualenv-init" || first == "completions"
	case "direnv":
		return first == "export" || first == "hook"
	case "fnm", "volta", "rustup":
		return first == "env" || first == "completions"
	case "mise", "asdf", "rtx":
		return first == "activate" || first == "hook-env" || first == "env" || first == "completion" || first == "deactivate"
	case "brew":
		return first == "shellenv"
	case "conda", "mamba", "micromamba":
		return strings.HasPrefix(first, "shell.") && second == "hook" || first == "shell" && second == "hook"
	case "opam":
		return first == "env" || first == "config" && second == "env"
	case "poetry":
		return first == "env" && second == "activate" || first == "completions"
	case "luarocks":
		return first == "path"
	case "docker-machine", "minikube":
		return first == "env" || first == "docker-env" || first == "podman-env" || first == "completion"
	case "keychain":
		return slices.Contains(args, "--eval")
	case "thefuck", "fzf", "just", "uv":
		return strings.HasPrefix(first, "--alias") || first == "--bash" || first == "--zsh" || first == "--completions" || first == "generate-shell-completion"
	case "npm", "pnpm", "pip", "kubectl", "helm", "gh", "glab", "docker", "podman", "kind", "k3d", "k9s", "flux", "argocd", "stern", "golangci-lint", "hugo", "pulumi", "deno", "op", "yq", "task", "terraform", "tilt", "skaffold":
		return first == "completion" || first == "completions"
	case "dircolors", "lesspipe", "lesspipe.sh":
		return len(args) == 1 || first == "-b" || first == "-c" || first == "--sh"
	case "register-python-argcomplete":
		return true
	case "ssh-agent":
		return agentAlone(args[1:])
	}
	return false
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
