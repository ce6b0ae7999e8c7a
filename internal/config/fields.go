package config

import (
	"bytes"
	_ "embed"
	"strconv"

	"cordon/internal/policy"
	"cordon/internal/strictyaml"
)

// field is one key of the file. fieldTable is the only place that knows the keys.
type field = strictyaml.Field[Config]

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (2020-12) of a configuration, with a description and a
// default for every key. Rules that a schema cannot express only Parse knows.
func Schema() []byte { return bytes.Clone(schema) }

// Parse reads a configuration, and which keys it gives. The name stands in front of
// every error.
func Parse(name string, data []byte) (Config, strictyaml.Given, error) {
	c := Default()
	kind := strictyaml.Kind[Config]{Noun: "configuration", Empty: "delete the file to use the defaults, or write version: 1", Fields: fieldTable()}
	given, err := kind.Parse(name, data, &c)
	if err == nil && c.Notify.Webhook.URL != "" && c.Notify.Webhook.Secret == "" {
		err = &strictyaml.Error{Name: name, Line: given["notify.webhook.url"], Column: 1, Problem: "notify.webhook has no secret",
			Hint: "write a random text into a file next to config.yaml, and its name here: receivers check the signature with it"}
	}
	if err != nil {
		return Config{}, nil, err
	}
	return c, given, nil
}

// YAML writes c in its canonical form, with a comment for each key.
func (c Config) YAML() []byte { return strictyaml.Write(c, fieldTable()) }

// fieldTable returns the keys of a configuration, in their documented order.
func fieldTable() []field {
	return []field{
		strictyaml.Scalar("version", "The version of this format; always 1.", func(c *Config) *int { return &c.Version }, readVersion, strconv.Itoa),
		strictyaml.Section("identity", "Who you are in the commits that land.", []field{
			strictyaml.Text("name", "Your name; empty: user.name of your git configuration.", func(c *Config) *string { return &c.Identity.Name }, checkIdentity),
			strictyaml.Text("email", "Your address; empty: user.email of your git configuration.",
				func(c *Config) *string { return &c.Identity.Email }, checkIdentity),
		}),
		strictyaml.Text("client", "The agent client that cordon run starts if you name none: cordon run \"fix the build\". cordon run "+
			"-- COMMAND still runs a command.",
			func(c *Config) *string { return &c.Client }, checkClient),
		strictyaml.Scalar("signing", "auto: sign landed commits where your git signs commits (commit.gpgsign). off: never sign.",
			func(c *Config) *Signing { return &c.Signing }, oneOf(SignAuto, SignOff), showWord),
		strictyaml.Section("land", "How results land.", landFields()),
		strictyaml.Section("rights", "The most that any worker may have, under the keys of a policy. A worker gets what both its policy and these allow.",
			policy.RightsFields(func(c *Config) *policy.Rights { return &c.Rights })),
		shareField(),
		strictyaml.Section("notify", "How you learn that a worker needs you.", notifyFields()),
		strictyaml.Section("fleet", "What the home of a fleet lets run at once (cordon fleet home reads that when it starts), and where results of nodes "+
			"are tested.", fleetFields()),
	}
}

func landFields() []field {
	return []field{
		strictyaml.Scalar("as", "policy: gate.as of the policy decides. squash: one commit. history: the worker's own commits and a merge. rebase: the "+
			"worker's own commits, replayed in a line. --land-as decides for one run.",
			func(c *Config) *Form { return &c.Land.As }, oneOf(AsPolicy, Squash, History, Rebase), showWord),
		strictyaml.Scalar("author", "Author of landed commits. agent: git.identity of the policy. operator: you. The committer is always you.",
			func(c *Config) *Author { return &c.Land.Author }, oneOf(AgentAuthor, OperatorAuthor), showWord),
		strictyaml.Scalar("coauthor", "The Co-authored-by trailer of landed commits, such as {name} <{email}>; {name} and {email} are "+
			"the agent's, {client} and {id} name client and worker. Empty: no trailer.",
			func(c *Config) *CoAuthor { return &c.Land.CoAuthor }, readCoAuthor, func(a CoAuthor) string { return strictyaml.Quote(string(a)) }),
		strictyaml.Scalar("hooks", "Your own git hooks that guard a branch (pre-merge-commit, commit-msg, reference-transaction). skip: "+
			"cordon skips and names them. run: it runs those that lie outside every tree and call nothing inside one.",
			func(c *Config) *Hooks { return &c.Land.Hooks }, oneOf(SkipHooks, RunHooks), showWord),
		strictyaml.Scalar("parallel", "How many results for one branch are tested at once. 0: as many as the machine has processors, and at least four.",
			func(c *Config) *int { return &c.Land.Parallel }, readParallel, strconv.Itoa),
		strictyaml.Sequence("then", "Your command after a landing: a program and its arguments, without a shell. It runs once, in your repository.",
			func(c *Config) *[]string { return &c.Land.Then }, readArgv(ThenVariables)),
	}
}

func notifyFields() []field {
	return []field{
		strictyaml.Scalar("terminal", "Ring the bell of the terminal, and send its notification sequences, when a run in the foreground needs you.",
			func(c *Config) *bool { return &c.Notify.Terminal }, strictyaml.ReadBool, strconv.FormatBool),
		strictyaml.Scalar("desktop", "Show a notification of the desktop, with notify-send.",
			func(c *Config) *bool { return &c.Notify.Desktop }, strictyaml.ReadBool, strconv.FormatBool),
		strictyaml.Sequence("command", "Your command for each notification: a program and its arguments, without a shell.",
			func(c *Config) *[]string { return &c.Notify.Command }, readArgv(NotifyVariables)),
		strictyaml.Section("webhook", "Post each notification as JSON.", []field{
			strictyaml.Text("url", "Where to: https://…, or http:// on this machine. Empty: nowhere.",
				func(c *Config) *string { return &c.Notify.Webhook.URL }, checkURL),
			strictyaml.Text("secret", "Name of a file next to this one with the key of the signature (HMAC-SHA256).",
				func(c *Config) *string { return &c.Notify.Webhook.Secret }, checkSecret),
		}),
		strictyaml.Scalar("merged", "Notify of landed results too, and not only of workers that need you.",
			func(c *Config) *bool { return &c.Notify.Merged }, strictyaml.ReadBool, strconv.FormatBool),
		strictyaml.Scalar("text", "Notifications may hold words of the agent: its question, its summary. They leave this machine with command and webhook.",
			func(c *Config) *bool { return &c.Notify.Text }, strictyaml.ReadBool, strconv.FormatBool),
		strictyaml.Scalar("silent", "After how long without a sign of life (output, a tool call, a connection) a running worker is shown as silent.",
			func(c *Config) *policy.Duration { return &c.Notify.Silent }, readDuration, policy.Duration.String),
	}
}

// Setting is one key with its value, as config show prints it.
type Setting struct {
	Key   string // with its section: land.as
	Value string // in YAML form, on one line
	Line  int    // in the file; 0: the default
}

// Settings lists every key with its value and where it came from.
func Settings(c Config, given strictyaml.Given) []Setting {
	var list []Setting
	var walk func(prefix string, fields []field)
	walk = func(prefix string, fields []field) {
		for _, f := range fields {
			if f.Fields != nil {
				walk(prefix+f.Key+".", f.Fields)
				continue
			}
			key := prefix + f.Key
			list = append(list, Setting{key, f.Show(c).Line(), given[key]})
		}
	}
	walk("", fieldTable())
	return list
}
