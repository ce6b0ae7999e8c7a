package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"cordon/internal/agent/clients"
	"cordon/internal/testmodel"
)

// Every client makes its first request, bare and under cordon run. How long both take is
// logged, for CORDON_MEASURE rounds after one that makes caches warm, for bench;
// nothing depends on it. Without the variable one client does it once: what the others
// do is shown by the other tests.
func TestAgentsFirstRequest(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("CORDON_MEASURE")) // 0: nothing is measured
	names := clients.Names()
	if rounds == 0 {
		t.Parallel()
		names = quickClients[:1]
	} else {
		asReleased(t)
	}
	for _, name := range names {
		t.Run(string(name), func(t *testing.T) {
			s := agentSite(t, name, testmodel.Script{Turns: []testmodel.Turn{testmodel.Say(lastWords)}})
			var bare, confined []time.Duration
			for range rounds + 1 {
				bare = append(bare, s.untilRequest(func() { s.bare() }))
				args := s.runArgs() // which asks cordon to share a name
				confined = append(confined, s.untilRequest(func() { s.cordon([]int{0}, args...) }))
			}
			if rounds > 0 {
				t.Logf("first request: %s %s %s", name, joined(bare[1:]), joined(confined[1:]))
			}
		})
	}
}

// asReleased puts the program itself before the test binary that plays it elsewhere and takes longer to start.
func asReleased(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// joined is a list for bench to read.
func joined(list []time.Duration) string {
	var words []string
	for _, d := range list {
		words = append(words, d.String())
	}
	return strings.Join(words, ",")
}

// untilRequest is how long something takes until the model is asked.
func (s *staged) untilRequest(act func()) time.Duration {
	s.t.Helper()
	before, began := len(s.model.Requests()), time.Now()
	act()
	now := s.model.Requests()
	if len(now) == before {
		s.t.Fatalf("%s made no request", s.client)
	}
	return now[before].At.Sub(began)
}
