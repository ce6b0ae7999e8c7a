package codex

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"cordon/internal/agent"
	"cordon/internal/client"
)

const (
	providerTable = "model_providers"
	providerKey   = "model_provider"
	// Of a provider's auth command, as long as the operator does not say otherwise.
	authLimit = 5 * time.Second
	authEvery = 5 * time.Minute
)

// providerMembers say where the servers of a provider are and how to talk and sign in to them.
// Its auth command is not among them: see keyCommands.
var providerMembers = []string{
	"name", "base_url", "wire_api", "query_params", "http_headers", "env_http_headers", "env_key", "env_key_instructions", "requires_openai_auth",
	"experimental_bearer_token", "request_max_retries", "stream_max_retries", "stream_idle_timeout_ms", "supports_websockets",
}

// otherSignIns are members of a provider that sign in by means that a worker does not have.
var otherSignIns = []string{"aws", "credential_file", "gateway_oauth"}

// ownProvider is the provider of the operator's own configuration that the client would use;
// "" if it would use one of the maker's, or one that the arguments describe.
func ownProvider(settings map[string]any, args []string) (name string, table map[string]any) {
	name = settingsProvider(settings)
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key = strings.TrimSpace(key); {
		case strings.HasPrefix(key, providerTable), key == "--oss", key == "--local-provider":
			return "", nil
		case key == providerKey:
			name = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	table, _ = agent.Inside(settings, providerTable, name).(map[string]any)
	if address, _ := table["base_url"].(string); address == "" || !agent.Word(name) {
		return "", nil
	}
	if slices.ContainsFunc(otherSignIns, func(member string) bool { return table[member] != nil }) {
		return "", nil
	}
	return name, table
}

// settingsProvider is the provider that the operator's settings name, or their profile, which wins.
func settingsProvider(settings map[string]any) string {
	name, _ := settings[providerKey].(string)
	if profile, ok := settings["profile"].(string); ok {
		if of, ok := agent.Inside(settings, "profiles", profile, providerKey).(string); ok {
			name = of
		}
	}
	return name
}

func ownSettings(files map[string][]byte) (map[string]any, error) {
	settings, err := readSettings(files[ownConfig])
	if err != nil {
		return nil, errors.New("~/" + ownConfig + " is not understood") // the decoder's error could show a value
	}
	return settings, nil
}

// keyVariables are the variables that the operator's provider takes its key from.
func keyVariables(files map[string][]byte, args []string) []string {
	names := providerKeys(args)
	settings, err := ownSettings(files)
	if err != nil {
		return names // Build says it
	}
	_, table := ownProvider(settings, args)
	if name, ok := table["env_key"].(string); ok {
		names = append(names, name)
	}
	headers, _ := table["env_http_headers"].(map[string]any)
	for _, header := range slices.Sorted(maps.Keys(headers)) {
		if name, ok := headers[header].(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// keyCommands is the command that prints the key of the operator's provider.
func keyCommands(s agent.KeySources) ([]agent.KeyCommand, error) {
	settings, err := ownSettings(s.Files)
	if err != nil {
		return nil, err
	}
	name, table := ownProvider(settings, s.Args)
	auth, _ := table["auth"].(map[string]any)
	program, _ := auth["command"].(string)
	if program == "" {
		return nil, nil
	}
	words := []string{client.Quote(program)}
	list, _ := auth["args"].([]any)
	for _, arg := range list {
		words = append(words, client.Quote(fmt.Sprint(arg)))
	}
	return []agent.KeyCommand{{ID: name, Noun: "the auth command of " + name + " in ~/" + ownConfig, File: ownConfig,
		Line: strings.Join(words, " "), Limit: milliseconds(auth["timeout_ms"], authLimit), Every: milliseconds(auth["refresh_interval_ms"], authEvery)}}, nil
}

func milliseconds(v any, usual time.Duration) time.Duration {
	ms, ok := v.(int64)
	if !ok || ms < 0 {
		return usual
	}
	return time.Duration(ms) * time.Millisecond
}

// givenProvider is the operator's provider as the worker gets it: with a command that reads the key
// in the place of the one that prints it.
func givenProvider(o agent.Order) (name string, table map[string]any, err error) {
	settings, err := ownSettings(o.Own)
	if err != nil {
		return "", nil, err
	}
	name, own := ownProvider(settings, o.Args)
	if name == "" {
		return "", nil, nil
	}
	table = map[string]any{}
	for _, member := range providerMembers {
		if v, ok := own[member]; ok {
			table[member] = v
		}
	}
	if file, ok := o.Keys[name]; ok {
		table["auth"] = map[string]any{"command": "/bin/cat", "args": []string{file}, "refresh_interval_ms": o.KeyEvery.Milliseconds()}
	}
	return name, table, nil
}

// inlineTOML is a table as a value for -c.
func inlineTOML(table map[string]any) (string, error) {
	var b strings.Builder
	if err := toml.NewEncoder(&b).SetTablesInline(true).Encode(map[string]any{"v": table}); err != nil {
		return "", err
	}
	_, value, _ := strings.Cut(strings.TrimSpace(b.String()), "=")
	return strings.TrimSpace(value), nil
}
