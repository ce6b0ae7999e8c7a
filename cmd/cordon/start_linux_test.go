package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// initBudget is how long one package may take to initialise, in milliseconds: cordon
// hook starts anew for every tool call.
const initBudget = 1.0

// TestInit asks the Go runtime how long each package of the real program takes. The
// best of 20 starts counts, so a busy machine does not fail it.
func TestInit(t *testing.T) {
	program := realProgram(t)
	best := map[string]float64{}
	line := regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)
	for range 20 {
		cmd := exec.Command(program, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, trace.String())
		}
		for _, m := range line.FindAllStringSubmatch(trace.String(), -1) {
			took, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			if known, ok := best[m[1]]; !ok {
				best[m[1]] = took
			} else {
				best[m[1]] = math.Min(known, took)
			}
		}
	}
	if len(best) < 10 {
		t.Fatalf("the runtime told of only %d packages", len(best))
	}
	for name, took := range best {
		if took > initBudget {
			t.Errorf("%s takes %.2f ms to initialise, more than %.0f: make its tables when they are needed", name, took, initBudget)
		}
	}
}
