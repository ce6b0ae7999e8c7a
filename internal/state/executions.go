package state

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// What commands under cordon exec write lies beside the directories of repositories, each in a directory
// with this prefix, which holds a record.
const (
	Executions      = ".execs"
	ExecutionPrefix = "exec-"
	ExecutionRecord = "record"
)

// ExecutionsNow lists those directories.
func ExecutionsNow() []string {
	root, err := RealRoot()
	if err != nil {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(root, Executions, ExecutionPrefix+"*"))
	if err != nil {
		return nil
	}
	return found
}

// EraseExecution removes one, whatever its command has left in it.
func EraseExecution(at string) error {
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return err
	}
	defer root.Close()
	return erase(root, filepath.Base(at))
}

// Written lists directories in which workers and commands write: cordon's state, and those that commands
// write at once now, or did when they were killed. cordon runs no git that lies in one.
func Written() []string {
	root, err := RealRoot()
	if err != nil {
		return nil // no worker ran
	}
	list := []string{root}
	for _, at := range ExecutionsNow() {
		var record struct {
			Live []string `json:"live"`
		}
		text, err := os.ReadFile(filepath.Join(at, ExecutionRecord))
		if err == nil && json.Unmarshal(text, &record) == nil {
			list = append(list, record.Live...)
		}
	}
	return list
}
