package gemini

import (
	"encoding/json"
	"maps"
	"slices"

	"cordon/internal/agent"
)

// modelConfigs say for which models Gemini thinks how much. Numbers and names of them go into every worker; instructions, tools,
// addresses and whatever else a request can hold do not.
const (
	modelConfigs    = "modelConfigs"
	customOverrides = modelConfigs + ".customOverrides"
	customAliases   = modelConfigs + ".customAliases"
)

// harmlessConfig are the members of a request's configuration that go in, and what fits them.
var harmlessConfig = map[string]func(any) bool{"temperature": isNumber, "topP": isNumber, "topK": isNumber, "maxOutputTokens": isNumber}

var harmlessThinking = map[string]func(any) bool{"thinkingBudget": isNumber, "thinkingLevel": agent.Word, "includeThoughts": agent.Switch}

// chooseThinking takes the overrides and aliases of the operator's, as far as they are numbers and names.
func chooseThinking(chosen agent.Chosen, settings map[string]any) (left []string) {
	all, _ := settings[modelConfigs].(map[string]any)
	whole := true
	for name := range all {
		whole = whole && (name == "customOverrides" || name == "customAliases")
	}
	var overrides []any
	list, _ := all["customOverrides"].([]any)
	for _, one := range list {
		o, _ := one.(map[string]any)
		match, fits := plainMatch(o["match"])
		config, all := plainConfig(o["modelConfig"])
		whole = whole && fits && all && len(o) == 2
		if fits && len(config) > 0 {
			overrides = append(overrides, map[string]any{"match": match, "modelConfig": config})
		}
	}
	if len(overrides) > 0 {
		chosen[customOverrides] = overrides
	}
	aliases := map[string]any{}
	table, _ := all["customAliases"].(map[string]any)
	for name, one := range table {
		alias, fits := plainAlias(one)
		whole = whole && fits
		if agent.ModelName(name) && alias != nil {
			aliases[name] = alias
		}
	}
	if len(aliases) > 0 {
		chosen[customAliases] = aliases
	}
	if !whole {
		left = append(left, "parts of model configurations")
	}
	return left
}

// plainAlias is a name for a model with a configuration; false: something of it stays out.
func plainAlias(v any) (map[string]any, bool) {
	in, _ := v.(map[string]any)
	config, whole := plainConfig(in["modelConfig"])
	out := map[string]any{"modelConfig": config}
	for key, member := range in {
		switch {
		case key == "modelConfig":
		case key == "extends" && agent.ModelName(member):
			out[key] = member
		default:
			whole = false
		}
	}
	if len(config) == 0 {
		return nil, whole
	}
	return out, whole
}

// plainMatch says which requests an override is for. A part of it that is left out would widen it, so all of it must fit.
func plainMatch(v any) (map[string]any, bool) {
	match, _ := v.(map[string]any)
	for _, member := range match {
		if !agent.ModelName(member) && !agent.Switch(member) {
			return nil, false
		}
	}
	return match, len(match) > 0
}

// plainConfig is the name of a model and the numbers of a request; false: something of it stays out.
func plainConfig(v any) (out map[string]any, whole bool) {
	in, _ := v.(map[string]any)
	out, whole = map[string]any{}, true
	for key, member := range in {
		switch {
		case key == "model" && agent.ModelName(member):
			out[key] = member
		case key == "generateContentConfig":
			request, all := fitting(member, harmlessConfig)
			whole = whole && all
			if len(request) > 0 {
				out[key] = request
			}
		default:
			whole = false
		}
	}
	return out, whole
}

// fitting are the members that fit, and the thinking among them.
func fitting(v any, fits map[string]func(any) bool) (out map[string]any, whole bool) {
	in, _ := v.(map[string]any)
	out, whole = map[string]any{}, true
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if thinking, ok := in[key].(map[string]any); ok && key == "thinkingConfig" {
			inner, all := fitting(thinking, harmlessThinking)
			out[key], whole = inner, whole && all
			continue
		}
		if test, known := fits[key]; known && test(in[key]) {
			out[key] = in[key]
		} else {
			whole = false
		}
	}
	return out, whole
}

func isNumber(v any) bool {
	switch v.(type) {
	case json.Number, float64, int64, int:
		return true
	}
	return false
}
