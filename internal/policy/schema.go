package policy

import (
	"bytes"
	_ "embed"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (2020-12) of a policy file, with a description
// and a default for every key. What a schema cannot say (a key given twice, an
// unquoted yes, a glob that does not close) only Parse finds.
func Schema() []byte { return bytes.Clone(schema) }
