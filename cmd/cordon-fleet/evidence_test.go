package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cordon/internal/testwait"
)

// sources print what the machines, processes and terminals of each test have to show.
var sources struct {
	mu     sync.Mutex
	ofTest map[string][]func() string
}

// family is the test that a test is a part of.
func family(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// showing adds to the evidence of a test until it ends.
func showing(t *testing.T, show func() string) {
	t.Helper()
	sources.mu.Lock()
	defer sources.mu.Unlock()
	if sources.ofTest == nil {
		sources.ofTest = map[string][]func() string{}
	}
	of := family(t)
	if sources.ofTest[of] == nil {
		t.Cleanup(func() {
			sources.mu.Lock()
			defer sources.mu.Unlock()
			delete(sources.ofTest, of)
		})
	}
	sources.ofTest[of] = append(sources.ofTest[of], show)
}

// evidence is what a person needs to find out why a wait has failed: what homes, nodes, commands and terminals have said, the journals
// and the processes.
func evidence(t *testing.T) func() string {
	return func() string {
		sources.mu.Lock()
		list := slices.Clone(sources.ofTest[family(t)])
		sources.mu.Unlock()
		var texts []string
		for _, show := range list {
			texts = append(texts, show())
		}
		return strings.Join(texts, "\n")
	}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	testwait.Until(t, what, holds, evidence(t))
}

// show is what a machine has to show.
func (m machine) show() string {
	text := "--- processes of " + m.dir + "\n" + processesOf([]string{m.dir})
	if m.in == m.dir {
		return text // it has no repository
	}
	out, err := m.program(filepath.Join(programs, "cordon"), "journal").CombinedOutput()
	return text + fmt.Sprintf("--- its journal %v\n%s", err, out[max(0, len(out)-8<<10):])
}

// processesOf are the processes that name one of these directories in their arguments or their environment.
func processesOf(dirs []string) (found string) {
	list, _ := filepath.Glob("/proc/[0-9]*")
	for _, at := range list {
		if filepath.Base(at) == fmt.Sprint(os.Getpid()) {
			continue
		}
		arguments, _ := os.ReadFile(filepath.Join(at, "cmdline")) // it may have ended by now
		environment, _ := os.ReadFile(filepath.Join(at, "environ"))
		if slices.ContainsFunc(dirs, func(dir string) bool {
			return strings.Contains(string(arguments), dir) || strings.Contains(string(environment), "="+dir)
		}) {
			found += at + " " + strings.ReplaceAll(string(arguments), "\x00", " ") + "\n"
		}
	}
	return found
}
