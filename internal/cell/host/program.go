package host

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// FindProgram is the file to execute. It is looked up in the command's own PATH:
// cordon's may lead into the host repository. Entries relative to the directory
// are left out, because a worker writes there.
func FindProgram(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(Variable(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Variable is the value of a variable in an environment, or "".
func Variable(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
