//go:build !linux

package journal

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Changes tells when something was appended to the journal of a directory, within a second.
func Changes(ctx context.Context, dir string) (<-chan struct{}, error) {
	told := make(chan struct{}, 1)
	go func() {
		defer close(told)
		var last time.Time
		for ctx.Err() == nil {
			if fi, err := os.Stat(filepath.Join(dir, HeadFile)); err == nil && fi.ModTime() != last {
				last = fi.ModTime()
				select {
				case told <- struct{}{}:
				default:
				}
			}
			time.Sleep(time.Second)
		}
	}()
	return told, nil
}
