package session

import (
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/paths"
)

// loading are variables that decide what code a program loads or runs before its own.
// A client that reads variables from a file sets only those that are not set: they are
// set for it, to what the worker has, or to nothing.
var loading = []string{
	"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_DEBUG", "GCONV_PATH", "GLIBC_TUNABLES",
	"BASH_ENV", "ENV", "NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS",
}

// pins sets them, and the shell that clients start.
func pins(env []string) []string {
	var set []string
	for _, name := range loading {
		set = append(set, name+"="+variable(env, name))
	}
	shell := variable(env, "SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	return append(set, "SHELL="+shell)
}

// codeIn are the places in a home that a client's code lies at. The home of a worker
// is a copy that it can write, and a client must not run what its agent wrote there.
func codeIn(home string, programs ...string) []string {
	home = realPath(home)
	var list []string
	for _, program := range programs {
		if program == "" {
			continue
		}
		real := realPath(program)
		if paths.Below(real, home) {
			list = append(list, codeOf(real))
		}
		if at := filepath.Join(realPath(filepath.Dir(program)), filepath.Base(program)); at != real && paths.Below(at, home) {
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
