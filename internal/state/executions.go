package state

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// The records of commands that write directories in place lie beside the directories of
// repositories, each under a name with this prefix while its command runs.
const (
	Executions      = ".execs"
	ExecutionPrefix = "exec-"
)

// Written lists directories in which workers and commands write: cordon's state, and those
// of commands that run in place now or were killed and not looked at yet. cordon runs no
// git that lies in one.
func Written() []string {
	root, err := RealRoot()
	if err != nil {
		return nil // no worker ran
	}
	list := []string{root}
	found, err := filepath.Glob(filepath.Join(root, Executions, ExecutionPrefix+"*"))
	if err != nil {
		return list
	}
	for _, name := range found {
		var record struct {
			Write []string `json:"write"`
		}
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &record) == nil {
			list = append(list, record.Write...)
		}
	}
	return list
}
