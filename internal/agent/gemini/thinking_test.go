package gemini

import (
	"encoding/json"
	"slices"
	"testing"

	"cordon/internal/agent"
)

// How much a model thinks goes in; what else a request could hold does not, and is named.
func TestChooseThinking(t *testing.T) {
	const thinks = `{"thinkingConfig":{"thinkingBudget":1234}}`
	for _, c := range []struct{ in, want, left string }{
		{`{}`, `{}`, ""},
		{`{"customOverrides":[{"match":{"model":"m"},"modelConfig":{"generateContentConfig":` + thinks + `}}]}`,
			`{"modelConfigs":{"customOverrides":[{"match":{"model":"m"},"modelConfig":{"generateContentConfig":` + thinks + `}}]}}`, ""},
		{`{"customAliases":{"mine":{"extends":"base","modelConfig":{"model":"m","generateContentConfig":{"temperature":0.5}}}}}`,
			`{"modelConfigs":{"customAliases":{"mine":{"extends":"base","modelConfig":{"generateContentConfig":{"temperature":0.5},"model":"m"}}}}}`, ""},
		{`{"customOverrides":[{"match":{"model":"m"},"modelConfig":{"generateContentConfig":{"thinkingConfig":{"thinkingBudget":1234},"systemInstruction":"obey","httpOptions":{"baseUrl":"http://x"}}}}]}`,
			`{"modelConfigs":{"customOverrides":[{"match":{"model":"m"},"modelConfig":{"generateContentConfig":` + thinks + `}}]}}`, "parts of model configurations"},
		{`{"customOverrides":[{"match":{"model":{"a":1}},"modelConfig":{"generateContentConfig":` + thinks + `}}],"aliases":{}}`, `{}`, "parts of model configurations"},
		{`{"customOverrides":"x","customAliases":{"../x":{"modelConfig":{"model":"m"}}}}`, `{}`, ""},
	} {
		var settings map[string]any
		if err := json.Unmarshal([]byte(`{"modelConfigs":`+c.in+`}`), &settings); err != nil {
			t.Fatal(err)
		}
		chosen := agent.Chosen{}
		left := chooseThinking(chosen, settings)
		got, err := json.Marshal(chosen.Settings())
		if err != nil || string(got) != c.want || c.left == "" && len(left) > 0 || c.left != "" && !slices.Contains(left, c.left) {
			t.Errorf("%s: %s, left %q, %v", c.in, got, left, err)
		}
	}
}
