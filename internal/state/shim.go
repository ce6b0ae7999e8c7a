package state

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/plainfile"
)

// choosers are programs of version managers and packagers that stand in the place of others,
// under the names of those.
var choosers = []string{"volta-shim", "mise", "asdf", "proto-shim", "aqua-proxy", "snap", "nix-portable", "hermit"}

// shells read programs that run others.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox"}

// isShim reports whether a program, which is the file real, runs another one: the one file
// stays the same when the other is replaced. Shell scripts count as that.
func isShim(program, real string) bool {
	if slices.Contains(choosers, filepath.Base(real)) {
		return true
	}
	for _, at := range []string{program, real} {
		if slices.Contains(strings.Split(filepath.Dir(at), "/"), "shims") {
			return true
		}
	}
	f, err := plainfile.Open(real, unix.O_RDONLY)
	if err != nil {
		return true // nobody knows
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if n == 0 && err != nil && err != io.EOF {
		return true
	}
	return isShellScript(head[:n])
}

// isShellScript reports whether the first line of a program names a shell.
func isShellScript(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, script := strings.CutPrefix(string(line), "#!")
	if !script {
		return false
	}
	return slices.ContainsFunc(strings.Fields(rest), func(word string) bool {
		return slices.Contains(shells, filepath.Base(word))
	})
}
