package plan

import (
	"encoding/json"
	"strings"

	"cordon/internal/strictyaml"
)

// Schema is the JSON Schema of a plan in its own form, for editors and other tools. What a schema
// cannot say (cycles, a stage that nobody can satisfy), cordon plan check says.
func Schema() []byte {
	whole := `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:cordon:plan:1","title":"cordon plan",` +
		`"description":"Stages toward one goal, each in a worker of its own.",` + object(properties("", fields()), "version", "plan", "stages")[1:]
	var doc any
	if err := json.Unmarshal([]byte(whole), &doc); err != nil {
		panic("the schema of a plan is not JSON: " + err.Error()) // a test looks at it
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}

// properties are the schemas of keys.
func properties[T any](prefix string, fields []strictyaml.Field[T]) string {
	var list []string
	for _, f := range fields {
		inner := "," + valueOf(prefix+f.Key)
		if f.Fields != nil {
			inner = "," + object(properties(prefix+f.Key+".", f.Fields))[1:]
			inner = strings.TrimSuffix(inner, "}")
		}
		list = append(list, quotedJSON(f.Key)+`:{"description":`+quotedJSON(f.Doc)+inner+"}")
	}
	return strings.Join(list, ",")
}

// valueOf says which values a key takes.
func valueOf(key string) string {
	if key == "stages" {
		return `"type":"array","minItems":1,"maxItems":1000,"items":` + object(properties("stages.", stageFields()), "id")
	}
	return values[key]
}

// object is the schema of a mapping with these properties and no others.
func object(properties string, required ...string) string {
	text := `{"type":"object","additionalProperties":false,"properties":{` + properties + "}"
	if len(required) > 0 {
		text += `,"required":["` + strings.Join(required, `","`) + `"]`
	}
	return text + "}"
}

func quotedJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Parts of schemas.
const (
	idSchema    = `"type":"string","maxLength":60,"pattern":"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"`
	textSchema  = `"type":"string","pattern":"\\S"`
	textsSchema = `"type":"array","items":{` + textSchema + `}`
	countSchema = `"type":"integer","minimum":0,"maximum":10`
)

// values say which values each key takes.
var values = map[string]string{
	"version":                `"const":1`,
	"plan":                   idSchema,
	"target":                 textSchema,
	"land":                   `"enum":["each","together"]`,
	"parallel":               `"type":"integer","minimum":1,"maximum":256`,
	"narrow.deny_read":       textsSchema,
	"narrow.deny_write":      textsSchema,
	"narrow.allowed_domains": textsSchema,
	"stages.id":              idSchema,
	"stages.name":            textSchema,
	"stages.kind":            `"enum":["worktree","standard","survey","knowledge","verify","integration-verify"]`,
	"stages.after":           `"type":"array","items":{` + idSchema + `}`,
	"stages.task": `"anyOf":[{` + textSchema + `},` + `{"type":"object","additionalProperties":false,"required":["file"],` +
		`"properties":{"file":{"description":"A file in the base commit.",` + textSchema + `}}}]`,
	"stages.agent":   idSchema,
	"stages.model":   textSchema,
	"stages.command": `"type":"array","items":{"type":"string"}`,
	"stages.write":   textsSchema,
	"stages.reads":   `"type":"array","items":{` + idSchema + `}`,
	"stages.dir":     textSchema,
	"stages.acceptance": `"type":"array","items":{"anyOf":[{` + textSchema + `},{"type":"object","additionalProperties":false,"required":["run"],` +
		`"properties":{"run":{` + textSchema + `},"paths":{` + textsSchema + `}}}]}`,
	"stages.artifacts": `"type":"array","items":{"anyOf":[{` + textSchema + `},{"type":"object","additionalProperties":false,"required":["path"],` +
		`"properties":{"path":{` + textSchema + `},"contains":{"anyOf":[{` + textSchema + `},{` + textsSchema + `}]},` +
		`"not":{"anyOf":[{` + textSchema + `},{` + textsSchema + `}]}}}]}`,
	"stages.truths": `"type":"array","items":{"anyOf":[{` + textSchema + `},{"type":"object","additionalProperties":false,"required":["claim"],` +
		`"dependentRequired":{"exit":["run"],"stdout":["run"]},"properties":{"claim":{` + textSchema + `},"run":{` + textSchema + `},` +
		`"exit":{"type":"integer","minimum":0,"maximum":255},"stdout":{` + textSchema + `}}}]}`,
	"stages.retries.failed":   countSchema,
	"stages.retries.rejected": countSchema,
	"stages.retries.lost":     countSchema,
	"stages.budget.time":      `"type":"string","pattern":"^[0-9]"`,
	"stages.budget.tokens":    `"anyOf":[{"type":"integer","minimum":1},{"type":"string","pattern":"^[1-9][0-9]*[kM]$"}]`,
	"stages.budget.cost":      `"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1000000`,
	"stages.review": `"anyOf":[{"const":"person"},{"type":"object","additionalProperties":false,"properties":{"agent":{` + idSchema + `},` +
		`"rounds":{` + countSchema + `},"must":{"type":"boolean"}}}]`,
}
