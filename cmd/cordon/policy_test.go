package main

import (
	"bytes"
	"testing"

	"cordon/internal/policy"
)

// TestSchemaBytes: what is printed is what is shipped, byte for byte.
func TestSchemaBytes(t *testing.T) {
	var out bytes.Buffer
	root := (&app{out: &out, err: &out}).root()
	root.SetArgs([]string{"policy", "schema"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), policy.Schema()) {
		t.Errorf("got %d bytes, want %d", out.Len(), len(policy.Schema()))
	}
}
