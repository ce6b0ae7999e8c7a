package codex

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"cordon/internal/agent"
	"cordon/internal/client"
)

// Managed is what no flag and no other file of Codex overrules.
const Managed = "/etc/codex/requirements.toml"

// codex is the Codex CLI. Its hooks, and the trust in them, were only measured with
// the version that is tested.
var Client = agent.Adapter{
	Name: "codex", Dialect: &dialect, Stream: &form, Program: "codex", Package: "@openai/codex",
	Oldest: agent.Version{0, 166, 0}, Tested: agent.Version{0, 166, 0},
	Preset: "@openai",
	SignIn: "type codex login, or export CODEX_API_KEY", LoginArgs: []string{"model_provider", "--oss", "--local-provider"},
	Variables: []string{"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"}, // it does not look at OPENAI_BASE_URL
	Logins:    []agent.Login{{From: ".codex/auth.json", At: "auth.json"}},
	Config:    []string{ownConfig}, LoginSettings: []agent.Setting{{File: ownConfig, Key: providerTable}},
	KeyFiles: []string{ownConfig}, KeyCommands: keyCommands,
	Hidden: []string{".codex", ".agents"},
	User:   user, ProjectParts: project, ServerFiles: []string{ownConfig}, Fronts: fronts, ReadServers: readServers, Expand: nil,
	Managed: []string{Managed, systemConfig},
	Keep:    []string{"sessions"},
	Record: &agent.Record{
		Files: []string{"sessions/*/*/*/*.jsonl"},
		Quiet: []string{`"type":"session_meta"`, `"type":"thread_settings_applied"`},
		Calls: []string{`"type":"function_call"`, `"type":"custom_tool_call"`, `"type":"local_shell_call"`, `"type":"CommandExecution"`},
	},
	Starts: true, Unpacks: &unpacking, MemoryApart: true, ProjectMemory: "AGENTS.md",
	Build: build, Refused: refused, Passed: passed, KeyVariables: keyVariables,
	Choices: choices, Unused: unused, ReadSettings: readSettings, Adjust: adjust,
}

// databases is where Codex makes its databases if it does not begin with a copy: to make them on
// disk, with eighty syncs, takes a third of the time to its first request. What a worker that
// goes on needs is in the sessions.
const databases = "/dev/shm/codex"

// unpacking: Codex makes databases and its own skills when it first starts, which takes a quarter of the time to a
// worker's first request. Its server makes them too, and ends at once because nobody speaks to it.
var unpacking = agent.Unpacking{
	Args: server, Env: home, Has: "state_*.sqlite",
	Settle: server, SettleEnv: home, // this empties the logs of the databases
	Seeds: []string{"*.sqlite", "*.sqlite-wal"}, Shown: []string{"skills/.system"},
}

var server = append([]string{"app-server"}, configArgs(quiet())...)

func home(dir string) []string { return []string{"CODEX_HOME=" + dir} }

// build starts Codex without its own sandbox, which cannot work in a cell, and
// without questions: the cell holds.
//
// The requirements of a machine are the strongest wiring. They are in TOML, which
// cordon does not read: a machine that has some keeps them, and the hooks are wired
// with flags. If those requirements let no other hooks run, the proof of life stops
// the launch.
func build(o agent.Order) (agent.Kit, error) {
	_, taken := o.Machine[Managed]
	k := agent.Kit{Env: home(o.State), Stream: !o.Interactive, Argv: []string{o.Program}}
	if o.Managed && o.Unpacked == "" { // then the cell has a memory file system of its own there
		k.Env = append(k.Env, "CODEX_SQLITE_HOME="+databases)
	}
	provider, err := addConfig(&k, &o)
	if err != nil {
		return agent.Kit{}, err
	}
	pins := append(pinned(o), provider...)
	if o.Managed && !taken {
		text, err := Requirements(o.Wiring())
		if err != nil {
			return agent.Kit{}, err
		}
		k.AddFile("requirements.toml", text)
		k.Shown = append(k.Shown, agent.Shown{Name: "requirements.toml", At: Managed})
	} else {
		text, err := client.Config(o.Wiring())
		if err != nil {
			return agent.Kit{}, err
		}
		pins = append(pins, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	if err := arguments(&k, o, pins); err != nil {
		return agent.Kit{}, err
	}
	// A project that is not trusted has no instructions; those at the top of the tree
	// are given back.
	k.Links = []agent.Link{{Name: "AGENTS.md", To: path.Join(o.Tree, "AGENTS.md")}}
	if o.Interactive {
		k.Dialogs = dialogs
	}
	if o.Memory != "" { // there is room for one file: with both in it
		k.AddFile("AGENTS.md", []byte(o.Memory+"\n\n"+o.ProjectMemory))
		k.Links = []agent.Link{{Name: "AGENTS.md", To: path.Join(o.Place, "AGENTS.md")}}
	}
	k.LinkItems(o, agent.Skills, "skills")
	k.LinkItems(o, agent.Commands, "prompts")
	return k, nil
}

// dialogs are what Codex asks in each directory that is not trusted, and about a model
// that is newer than the operator's. It remembers no answer to the first: the only other
// way is to trust the tree, whose configuration would then run programs.
var dialogs = []agent.Dialog{
	{Shows: []string{"Folder access", "› 1. Open restricted", "2. Quit"}, Keys: "\r"},
	{Shows: []string{"Folder access", "› 1. Open existing task", "2. Quit"}, Keys: "\r"},
	{Shows: []string{"› 1. Try new model", "2. Use existing model"}, Keys: "2"},
}

// arguments is the command line: flags of the operator's, then cordon's, of which the
// last one counts.
func arguments(k *agent.Kit, o agent.Order, pins []string) error {
	headless := []string{"--json", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"}
	terminal := []string{"-a", "never", "--no-daemon"}
	again := []string{"resume", "--last"}
	own := append(chosenArgs(o.Chosen), o.Args...)
	switch {
	case o.Interactive && o.Again:
		k.Argv = append(append(append(k.Argv, again...), own...), terminal...)
	case o.Interactive:
		k.Argv = append(append(k.Argv, own...), terminal...)
	case o.Prompt == "":
		return agent.ErrNoPrompt
	default:
		k.Argv = append(append(append(k.Argv, "exec"), own...), headless...)
	}
	k.Argv = append(k.Argv, "-s", "danger-full-access")
	k.Argv = append(k.Argv, configArgs(pins)...)
	if !o.Interactive && o.Again {
		k.Argv = append(k.Argv, again...)
	}
	if o.Prompt != "" {
		k.Argv = append(k.Argv, "--", o.Prompt)
	}
	return nil
}

// pinned are values for -c, over what any file says: the project is not trusted,
// so that its configuration, its hooks and its servers are left alone, whatever the
// client has noted about it; and what works without a hook, elsewhere or later is off.
func pinned(o agent.Order) []string {
	pins := append([]string{
		"projects={" + tomlString(o.Tree) + `={trust_level="untrusted"}}`,
		`approval_policy="never"`, `shell_environment_policy.inherit="all"`,
	}, quiet()...)
	if !o.Rules.Web { // OpenAI's servers search, and no hook is asked
		pins = append(pins, `web_search="disabled"`)
	}
	if raw := projectSkills(o); len(raw) > 0 {
		pins = append(pins, "skills.config=["+strings.Join(raw, ",")+"]")
	}
	if o.Briefing != "" {
		pins = append(pins, "developer_instructions="+tomlString(o.Briefing))
	}
	return pins
}

// quiet are values for -c with which Codex does nothing that nobody asked for.
func quiet() []string {
	pins := []string{"check_for_update_on_startup=false", "analytics.enabled=false"}
	for _, feature := range []string{"apps", "browser_use", "computer_use", "daemon_auto_start", "goals", "memories", "plugins", "remote_plugin",
		"skill_mcp_dependency_install"} {
		pins = append(pins, "features."+feature+"=false")
	}
	return pins
}

// configArgs are values for -c as arguments.
func configArgs(pins []string) []string {
	args := make([]string, 0, 2*len(pins))
	for _, pin := range pins {
		args = append(args, "-c", pin)
	}
	return args
}

var keyName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\benv_key["']?\s*=\s*["']?([A-Za-z_][A-Za-z0-9_]*)`) })

// providerKeys are the variables that a provider of the operator's takes its key from.
func providerKeys(args []string) []string {
	var names []string
	for _, arg := range args {
		for _, m := range keyName().FindAllStringSubmatch(arg, -1) {
			names = append(names, m[1])
		}
	}
	return names
}
