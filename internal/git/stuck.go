package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// BlockedError names a pipe or a device in a checkout that git opened and waits for. For
// example, nobody writes to the pipe.
type BlockedError struct{ Path string }

func (e *BlockedError) Error() string {
	return fmt.Sprintf("%s is a pipe or a device, so git would wait for it forever: remove it", e.Path)
}

// stuckAfter is the interval between searches for such a file. A git process that ends
// sooner costs no search, and a later search finds a file that is created later.
const stuckAfter = 2 * time.Second

// watched ends the context of a git that works in a checkout when there is a file that it
// would wait for. stop ends the watching.
func watched(ctx context.Context, top string) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(stuckAfter):
			}
			if at := blocking(ctx, top); at != "" {
				cancel(&BlockedError{at})
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// opened are the files that git opens in every directory of a checkout.
var opened = []string{".gitignore", ".gitattributes", ".gitmodules", ".mailmap", ".git"}

// blocking finds a pipe or a device in a checkout under a name that git opens. It returns
// "" if there is none.
func blocking(ctx context.Context, top string) (found string) {
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error { // what cannot be read, git cannot either
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil || d.IsDir() || d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0 && !slices.Contains(opened, d.Name()):
			return nil
		case !slices.Contains(opened, d.Name()) && !strings.Contains(path[len(top):], "/.git/"):
			return nil
		}
		if fi, err := os.Stat(path); err == nil && fi.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) != 0 { // a socket refuses to be opened, at once
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}
