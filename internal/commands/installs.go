package commands

import (
	"slices"
	"strings"
)

// What programs change that is neither in the tree nor named on their command
// line, and why a person is asked.
const changesHooks = "it installs hooks, which every worktree of the repository shares"

// settled is one such change: a program, and the words that make it.
type settled struct {
	name   string // the program
	verbs  string // its subcommand, one of these between blanks; "" is any
	second string // the word after it, likewise
	unless string // not with one of these options, between blanks
	ask    string
}

// settles are sorted by name, for whoever reads them.
var settles = [...]settled{
	{name: "a2dismod", ask: changesSystem},
	{name: "a2dissite", ask: changesSystem},
	{name: "a2enmod", ask: changesSystem},
	{name: "a2ensite", ask: changesSystem},
	{name: "asdf", verbs: " global install uninstall update reshim ", ask: installsGlobal},
	{name: "asdf", verbs: " plugin ", second: " add remove update ", ask: installsGlobal},
	{name: "aws", verbs: " configure ", second: " set sso import ", ask: changesHome},
	{name: "aws", verbs: " sso ", second: " login logout ", ask: changesHome},
	{name: "cargo", verbs: " install uninstall ", unless: " --root --list --help ", ask: installsGlobal},
	{name: "cargo", verbs: " login logout owner ", ask: changesHome},
	{name: "cmake", verbs: " --install ", unless: " --prefix ", ask: installsGlobal},
	{name: "code", verbs: " --install-extension --uninstall-extension ", ask: changesHome},
	{name: "conda", verbs: " install create update remove uninstall upgrade clean ", unless: " -p --prefix --dry-run -d ", ask: installsGlobal},
	{name: "conda", verbs: " init ", ask: changesHome},
	{name: "conda", verbs: " env ", second: " create update remove ", unless: " -p --prefix ", ask: installsGlobal},
	{name: "docker", verbs: " login logout ", ask: changesHome},
	{name: "docker", verbs: " context ", second: " use create rm update ", ask: changesHome},
	{name: "gcloud", verbs: " config ", second: " set unset configurations ", ask: changesHome},
	{name: "gcloud", verbs: " auth ", second: " login revoke activate-service-account application-default configure-docker ", ask: changesHome},
	{name: "gcloud", verbs: " init ", ask: changesHome},
	{name: "gem", verbs: " install uninstall update ", unless: " -i --install-dir ", ask: installsGlobal},
	{name: "gh", verbs: " auth ", second: " login logout refresh setup-git switch ", ask: changesHome},
	{name: "gh", verbs: " config alias ", second: " set delete import ", ask: changesHome},
	{name: "gh", verbs: " extension extensions ext ", second: " install remove upgrade ", ask: changesHome},
	{name: "helm", verbs: " repo ", second: " add remove rm ", ask: changesHome},
	{name: "helm", verbs: " plugin ", second: " install uninstall update ", ask: changesHome},
	{name: "husky", verbs: " install init uninstall ", ask: changesHooks},
	{name: "kubectl", verbs: " config ", ask: changesHome,
		second: " use-context use set set-context set-cluster set-credentials unset delete-context delete-cluster delete-user rename-context "},
	{name: "lefthook", verbs: " install uninstall add ", ask: changesHooks},
	{name: "localectl", verbs: " set-locale set-keymap set-x11-keymap ", ask: changesSystem},
	{name: "loginctl", verbs: " enable-linger disable-linger terminate-user kill-user terminate-session kill-session ", ask: changesSystem},
	{name: "meson", verbs: " install ", unless: " --destdir ", ask: installsGlobal},
	{name: "nvm", verbs: " install uninstall alias unalias reinstall-packages ", ask: installsGlobal},
	{name: "overcommit", verbs: " --install --uninstall -i -u ", ask: changesHooks},
	{name: "pre-commit", verbs: " install uninstall init-templatedir ", ask: changesHooks},
	{name: "pyenv", verbs: " global install uninstall rehash ", ask: installsGlobal},
	{name: "rbenv", verbs: " global install uninstall ", ask: installsGlobal},
	{name: "rustup", verbs: " default install uninstall update self override ", ask: installsGlobal},
	{name: "rustup", verbs: " toolchain component target ", second: " install add remove uninstall link ", ask: installsGlobal},
	{name: "simple-git-hooks", ask: changesHooks},
	{name: "timedatectl", verbs: " set-time set-timezone set-ntp set-local-rtc ", ask: changesSystem},
	{name: "xdg-mime", verbs: " default install uninstall ", ask: changesHome},
	{name: "xdg-settings", verbs: " set ", ask: changesHome},
}

const (
	changesSystem  = "it changes the system, not the worktree"
	changesHome    = "it changes settings in the home directory"
	installsGlobal = "it installs for the whole machine"
)

// settle adds why a person is asked about what a program changes unseen.
func (u *Use) settle(called string, args []string) {
	name := commandName(called)
	other := name
	if r := lookup(name); r != nil {
		other = r.name
	}
	for _, s := range settles {
		if (s.name == name || s.name == other) && s.applies(args[1:]) {
			u.Findings = append(u.Findings, Finding{Weight: Ask, Reason: s.ask})
			return
		}
	}
	if why := installation(other, args); why != "" {
		u.Findings = append(u.Findings, Finding{Weight: Ask, Reason: why})
	}
}

func (s settled) applies(args []string) bool {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") || slices.Contains(args, "--version") {
		return false
	}
	for _, a := range args {
		option, _, _ := strings.Cut(a, "=")
		if strings.Contains(s.unless, " "+option+" ") {
			return false
		}
	}
	if s.verbs == "" {
		return true
	}
	rest := args
	if !strings.HasPrefix(s.verbs, " -") {
		rest = plainWords(args)
	}
	if len(rest) == 0 || !strings.Contains(s.verbs, " "+rest[0]+" ") {
		return false
	}
	return s.second == "" || len(rest) > 1 && strings.Contains(s.second, " "+rest[1]+" ")
}

// plainWords are the arguments that are no options.
func plainWords(args []string) []string {
	var list []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			list = append(list, a)
		}
		if len(list) == 3 {
			break
		}
	}
	return list
}

// installation is what fits no row.
func installation(name string, args []string) string {
	rest := plainWords(args[1:])
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) })
	}
	switch {
	case name == "go" && nthOf(rest, 0) == "install" && strings.Contains(nthOf(rest, 1), "@"):
		return installsGlobal
	case name == "bun" && has("-g", "--global"):
		return installsGlobal
	case name == "ninja" && has("install", "uninstall"):
		return installsGlobal
	case name == "hostname" && len(rest) > 0:
		return changesSystem
	case name == "husky" && len(args) == 1:
		return changesHooks
	case name == "gpg" && !has("--homedir") && has("--import", "--gen-key", "--full-gen-key", "--generate-key", "--full-generate-key",
		"--quick-gen-key", "--quick-generate-key", "--delete-key", "--delete-keys", "--delete-secret-keys", "--edit-key", "--recv-keys",
		"--receive-keys", "--sign-key", "--import-ownertrust"):
		return changesHome
	case unversioned(name) == "python" || name == "python":
		if lastName(nthOf(rest, 0)) == "setup.py" && has("install", "develop") && !has("--prefix", "--root", "--home", "--help") {
			return installsGlobal
		}
	}
	return ""
}
