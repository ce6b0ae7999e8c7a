package client_test

import (
	"encoding/json"
	"slices"
	"testing"

	"cordon/internal/agent/clients"
	. "cordon/internal/client"
)

func TestCanary(t *testing.T) {
	for _, n := range clients.Names() {
		b, err := json.Marshal(of(n).Canary("it", "/w"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := of(n).Decode(b)
		if err != nil || r.Event != PreTool || r.Kind != Shell || r.Call != "it" || !slices.Equal(r.Commands, []string{"touch /cordon-canary"}) {
			t.Errorf("%s reads %+v, %v", n, r, err)
		}
	}
}
