package pi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/agent"
)

const (
	ownLogins = ".pi/agent/auth.json"
	// runs begins a value that is a command: its output is the value.
	runs = "!"
	// commandLimit is the client's own.
	commandLimit = 10 * time.Second
	// renewed is how often a command of models.json is run again. The client runs it for each
	// request, and one of auth.json once.
	renewed = time.Minute
)

// keyCommands are the commands that print keys of the provider that the client will use, or of
// all where that is not known.
func keyCommands(s agent.KeySources) ([]agent.KeyCommand, error) {
	settings, err := s.Settings(ownSettings)
	if err != nil {
		return nil, fmt.Errorf("~/%s: %w", ownSettings, err)
	}
	provider := providerOf(s.Args, settings)
	var list []agent.KeyCommand
	for _, in := range []struct {
		file  string
		table []string
		every time.Duration
	}{{ownLogins, nil, 0}, {ownModels, []string{"providers"}, renewed}} {
		all, err := s.Settings(in.file)
		if err != nil {
			return nil, fmt.Errorf("~/%s: %w", in.file, err)
		}
		table, _ := agent.Inside(all, in.table...).(map[string]any)
		for name, v := range table {
			if provider != "" && name != provider {
				continue
			}
			for _, line := range commandsIn(v) {
				list = append(list, agent.KeyCommand{ID: line, Noun: "the command for " + agent.PlainName(name) + " in ~/" + in.file, File: in.file,
					Line: strings.TrimPrefix(line, runs), Limit: commandLimit, Every: in.every})
			}
		}
	}
	slices.SortFunc(list, func(a, b agent.KeyCommand) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b agent.KeyCommand) bool { return a.ID == b.ID }), nil
}

// providerOf is the provider that arguments or settings choose; "" if they do not say.
func providerOf(args []string, settings map[string]any) string {
	provider, _ := settings["defaultProvider"].(string)
	for i, arg := range args[:max(len(args)-1, 0)] {
		switch arg {
		case "--provider":
			return args[i+1]
		case "--model":
			if before, _, ok := strings.Cut(args[i+1], "/"); ok {
				provider = before
			}
		}
	}
	return provider
}

// commandsIn are the texts below a value that the client would run.
func commandsIn(v any) []string {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, runs) && strings.TrimSpace(v) != runs {
			return []string{v}
		}
	case map[string]any:
		var list []string
		for _, inner := range v {
			list = append(list, commandsIn(inner)...)
		}
		return list
	case []any:
		var list []string
		for _, inner := range v {
			list = append(list, commandsIn(inner)...)
		}
		return list
	}
	return nil
}

// loginText is auth.json with keys in the place of commands.
func loginText(_ string, text []byte, keys map[string]string) ([]byte, error) {
	all, err := agent.JSONObject(text)
	if err != nil {
		return nil, err
	}
	if len(commandsIn(all)) == 0 {
		return text, nil
	}
	return agent.Compact(withKeys(all, keys))
}

// withKeys is a value in which a command that prints a key is one that reads it from its file.
// Other commands are left out.
func withKeys(v any, keys map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, inner := range v {
			text, ok := inner.(string)
			line := agent.PrintKey(keys, text)
			switch {
			case !ok || !strings.HasPrefix(text, runs):
				kept[name] = withKeys(inner, keys)
			case line != "":
				kept[name] = runs + line
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, inner := range v {
			kept[i] = withKeys(inner, keys)
		}
		return kept
	}
	return v
}
