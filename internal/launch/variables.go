package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/enclosure"
	"cordon/internal/paths"
	"cordon/internal/worksite"
)

// loadingVariables are variables that decide what code a program loads or runs before its own.
// A client that reads variables from a file sets only those that are not set: they are
// set for it, to what the worker has, or to nothing.
var loadingVariables = []string{
	"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_DEBUG", "GCONV_PATH", "GLIBC_TUNABLES",
	"BASH_ENV", "ENV", "NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS",
}

// fixVariables sets them, and the shell that clients start.
func fixVariables(env []string) []string {
	var set []string
	for _, name := range loadingVariables {
		set = append(set, name+"="+enclosure.Variable(env, name))
	}
	shell := enclosure.Variable(env, "SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	return append(set, "SHELL="+shell)
}

// codeDirs are the places in a home that a client's code lies at. The home of a worker
// is a copy that it can write, and a client must not run what its agent wrote there.
func codeDirs(home string, programs ...string) []string {
	home = worksite.RealPath(home)
	var list []string
	for _, program := range programs {
		if program == "" {
			continue
		}
		real := worksite.RealPath(program)
		if paths.Below(real, home) {
			list = append(list, codeOf(real))
		}
		if at := filepath.Join(worksite.RealPath(filepath.Dir(program)), filepath.Base(program)); at != real && paths.Below(at, home) {
			list = append(list, filepath.Dir(at)) // the link that leads to it
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// codeOf is what a program consists of: the packages that it lies among, or the
// directory of programs that it lies in.
func codeOf(program string) string {
	const packages = "/node_modules/"
	if i := strings.Index(program, packages); i >= 0 {
		return program[:i+len(packages)-1]
	}
	return filepath.Dir(program)
}
