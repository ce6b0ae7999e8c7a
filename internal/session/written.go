package session

import (
	"encoding/json"
	"os"
	"path/filepath"

	"cordon/internal/state"
)

// Written lists directories in which workers and commands write: cordon's state, and those
// of commands that run in place now or were killed and not looked at yet. cordon runs no
// git that lies in one.
func Written() []string {
	root, err := state.RealRoot()
	if err != nil {
		return nil // no worker ran
	}
	list := []string{root}
	found, err := filepath.Glob(filepath.Join(root, executions, execPrefix+"*"))
	if err != nil {
		return list
	}
	for _, name := range found {
		var p inPlace
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &p) == nil {
			list = append(list, p.Write...)
		}
	}
	return list
}
