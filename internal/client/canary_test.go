package client

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestCanary(t *testing.T) {
	for _, n := range Names() {
		b, err := json.Marshal(Canary(n, "it", "/w"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Decode(n, b)
		if err != nil || r.Event != PreTool || r.Kind != Shell || r.Call != "it" || !slices.Equal(r.Commands, []string{"touch /cordon-canary"}) {
			t.Errorf("%s reads %+v, %v", n, r, err)
		}
	}
}
