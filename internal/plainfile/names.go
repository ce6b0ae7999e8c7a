package plainfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrMany says that a directory holds more names than the caller allows.
var ErrMany = errors.New("too many names in one directory")

// maxNames bounds the bytes of the names that are read of one directory.
const maxNames = 256 << 20

// Batch is how many names of a directory are read at a time.
const Batch = 1024

// Names lists an open directory. More than most names are an error: who fills a directory
// with hard links pays a few bytes for each, and the reader many.
func Names(dir *os.File, most int) ([]string, error) {
	var list []string
	text := 0
	for {
		some, err := dir.Readdirnames(Batch)
		for _, name := range some {
			text += len(name)
		}
		if len(list)+len(some) > most || text > maxNames {
			return nil, fmt.Errorf("%s: %w", dir.Name(), ErrMany)
		}
		list = append(list, some...)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
	}
}
