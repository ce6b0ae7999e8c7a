//go:build !linux

package post

import (
	"fmt"
	"path/filepath"
)

// reach is the name of the socket.
func reach(dir string) (name string, release func(), err error) {
	name = filepath.Join(dir, Socket)
	if len(name) > longest {
		return "", nil, fmt.Errorf("%s is too long for the path of a socket", name)
	}
	return name, func() {}, nil
}
