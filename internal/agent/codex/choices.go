package codex

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"cordon/internal/agent"
)

var effort = agent.OneOf("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")

// choices are the settings of the operator's that go into every worker, as values for -c.
var choices = []agent.Choice{
	{File: ownConfig, Key: "model", Fits: agent.ModelName},
	{File: ownConfig, Key: "model_reasoning_effort", Fits: effort},
	{File: ownConfig, Key: "plan_mode_reasoning_effort", Fits: effort},
	{File: ownConfig, Key: "model_reasoning_summary", Fits: agent.OneOf("auto", "concise", "detailed", "none")},
	{File: ownConfig, Key: "model_verbosity", Fits: agent.OneOf("low", "medium", "high")},
	{File: ownConfig, Key: "service_tier", Fits: agent.Word},
	{File: ownConfig, Key: "personality", Fits: agent.Word},
}

var unused = []agent.Unused{
	{File: ownConfig, Key: "hooks", Noun: "hooks"},
	{File: ownConfig, Key: "notify", Noun: "notify command"},
}

func readSettings(text []byte) (map[string]any, error) {
	var all map[string]any
	err := toml.Unmarshal(text, &all)
	return all, err
}

// adjust lets the profile that the operator has chosen win, as the client does. A model goes in with
// its provider. One that the configuration does not describe stays out with its model: the maker's
// servers would be asked for a model that they do not have.
func adjust(chosen agent.Chosen, settings map[string]any) (left []string) {
	if name, ok := settings["profile"].(string); ok {
		profile, _ := agent.Inside(settings, "profiles", name).(map[string]any)
		for _, c := range choices {
			if v := profile[c.Key]; v != nil && c.Fits(v) {
				chosen[c.Key] = v
			}
		}
	}
	provider := settingsProvider(settings)
	if provider == "" || provider == "openai" {
		return nil
	}
	if name, _ := ownProvider(settings, nil); name != "" {
		chosen[providerKey] = name
		return nil
	}
	delete(chosen, "model")
	return []string{"model provider " + agent.PlainName(provider)}
}

// chosenArgs are the choices as arguments. They stand before the operator's, which win.
func chosenArgs(chosen agent.Chosen) []string {
	var args []string
	for _, key := range slices.Sorted(maps.Keys(chosen)) {
		args = append(args, "-c", key+"="+tomlString(fmt.Sprint(chosen[key])))
	}
	return args
}
