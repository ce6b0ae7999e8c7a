//go:build !linux

package worktree

import (
	"io"
	"os"
)

func copyData(to, from *os.File, size int64) error {
	_, err := io.Copy(to, io.LimitReader(from, size))
	return err
}
