package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"cordon/internal/plainfile"
)

// configs are configuration files as git reads them, without what they include.
type configs struct {
	bin   Binary
	says  map[string][]Setting
	count int
}

// maxSettings bounds what is read, and maxConfig each file.
const (
	maxSettings = 100_000
	maxConfig   = 4 << 20
)

// follow reads files and those that they include, a git process for each step of that.
func (c *configs) follow(ctx context.Context, files []string) error {
	for {
		var fresh []string
		for _, f := range files {
			if _, known := c.says[f]; !known {
				c.says[f] = nil
				if isFile(f) {
					fresh = append(fresh, f)
				}
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		if err := c.read(ctx, fresh); err != nil {
			return err
		}
		if c.count > maxSettings {
			return fmt.Errorf("your git configuration has more than %d settings, the most that cordon reads", maxSettings)
		}
		files = nil
		for _, f := range fresh {
			files = append(files, included(c.says[f])...)
		}
	}
}

// read has git parse files, all in one go: they are handed to it one after the other with
// a line before each that says which one begins. git opens none of them, so it cannot be
// made to wait by what is no file. A file that git cannot parse is one that it stops at
// wherever it obeys it; it says nothing.
func (c *configs) read(ctx context.Context, all []string) error {
	section := "cordon-" + strings.ToLower(rand.Text())
	var text bytes.Buffer
	var files []string
	var texts [][]byte
	for _, f := range all {
		one, err := plainfile.ReadLinked(f, maxConfig)
		if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, plainfile.ErrKind) {
			return fmt.Errorf("your git configuration: %w", err)
		}
		one = bytes.TrimPrefix(one, []byte("\xef\xbb\xbf"))
		if said, known := c.bin.parsedBefore(one); known {
			for _, s := range said {
				c.says[f] = append(c.says[f], Setting{Key: s[0], Value: s[1], Origin: f})
			}
			c.count += len(said)
			continue
		}
		// The first line may lack a section, and the last one may end with a backslash.
		fmt.Fprintf(&text, "[%s]\n\tfile = %d\n[none]\n%s\n\n", section, len(files), one)
		files, texts = append(files, f), append(texts, one)
	}
	if len(files) == 0 {
		return nil
	}
	out, err := c.bin.run(ctx, call{args: []string{"config", "--no-includes", "-z", "--list", "--file", "-"}, stdin: &text})
	var failed *Error
	switch {
	case errors.As(err, &failed) && len(files) > 1:
		return errors.Join(c.read(ctx, files[:len(files)/2]), c.read(ctx, files[len(files)/2:]))
	case errors.As(err, &failed):
		return nil
	case err != nil:
		return err
	}
	file := ""
	for _, rec := range lines(out) {
		key, value, _ := strings.Cut(rec, "\n")
		if key == section+".file" {
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n >= len(files) {
				return fmt.Errorf("unexpected answer from git config: %q", value)
			}
			file = files[n]
			continue
		}
		c.says[file] = append(c.says[file], Setting{Key: key, Value: value, Origin: file})
		c.count++
	}
	for i, f := range files {
		c.bin.learnParsed(texts[i], c.says[f])
	}
	return nil
}

// all is what files say together with those that they include.
func (c *configs) all(files []string) []Setting {
	var list []Setting
	seen := map[string]bool{}
	for len(files) > 0 {
		f := files[0]
		files = files[1:]
		if !seen[f] {
			seen[f] = true
			list = append(list, c.says[f]...)
			files = append(files, included(c.says[f])...)
		}
	}
	return list
}

// included lists the files that settings include.
func included(from []Setting) []string {
	var list []string
	for _, s := range from {
		if file, _, ok := s.Included(); ok {
			list = append(list, file)
		}
	}
	return list
}
