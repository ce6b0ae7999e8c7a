// Package keyhelper runs the commands of the operator's that print a key for an agent client
// (an apiKeyHelper and its like), writes each key to a file that the client's cell
// shows read-only, and renews it while the client runs.
//
// The commands run outside the cell, as the operator, in no repository, with a time limit.
// What they print goes to the file and nowhere else: not into a journal, a log or a message.
// The package refuses a command that stands in a file of a tree or names one, because a
// worker or a landing could have written it. Which commands there are is up to package
// agent, and whether a worker gets a key at all to package launch.
package keyhelper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/agent"
	"cordon/internal/codewords"
	"cordon/internal/errand"
	"cordon/internal/git"
	"cordon/internal/paths"
)

const (
	// maxKey bounds a key.
	maxKey = 16 << 10
	// soonest is how often a key is renewed at most.
	soonest = time.Second
	// stagger is how many times a client looks at the file while the supervisor renews it
	// once: the two intervals together are the one that the operator knows.
	stagger = 4
)

// Keys are the keys of one launch.
type Keys struct {
	commands []agent.KeyCommand
	trees    []string // in which workers and landings write
	texts    [][]byte
	dir      string
	mu       sync.Mutex // of the files
	stop     func()
}

// Ask runs each command once. trees are the directories in which workers and landings write;
// at says where a file of the home is.
func Ask(ctx context.Context, commands []agent.KeyCommand, trees []string, at func(file string) string) (*Keys, error) {
	k := &Keys{commands: commands, trees: trees}
	for _, c := range commands {
		if err := k.check(c, at); err != nil {
			return nil, err
		}
	}
	for _, c := range commands {
		text, err := k.run(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s %w", c.Noun, err)
		}
		k.texts = append(k.texts, text)
	}
	return k, nil
}

// None reports whether there is no key.
func (k *Keys) None() bool { return k == nil || len(k.commands) == 0 }

// Files are where the keys will be below a directory, by the IDs of their commands.
func (k *Keys) Files(dir string) map[string]string {
	files := map[string]string{}
	if k != nil {
		for i, c := range k.commands {
			files[c.ID] = filepath.Join(dir, fileName(i))
		}
	}
	return files
}

func fileName(i int) string { return fmt.Sprintf("key-%d", i+1) }

// Every is how often a client has to look at the files; 0: once is enough.
func (k *Keys) Every() time.Duration {
	var least time.Duration
	if k != nil {
		for _, c := range k.commands {
			if c.Every > 0 && (least == 0 || c.Every < least) {
				least = c.Every
			}
		}
	}
	if least == 0 {
		return 0
	}
	return max(least/stagger, soonest)
}

// Write writes the keys into a directory, which it makes.
func (k *Keys) Write(dir string) error {
	if k.None() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	k.dir = dir
	for i, text := range k.texts {
		if err := k.put(i, text); err != nil {
			return err
		}
	}
	return nil
}

// put replaces a key, whole or not at all.
func (k *Keys) put(i int, text []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dir == "" {
		return nil // they were removed
	}
	out, err := os.CreateTemp(k.dir, ".new-") // only the operator reads it
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // gone when it was renamed
	_, err = out.Write(text)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), filepath.Join(k.dir, fileName(i)))
}

// Renew asks for the keys again when they are due, until the context is done or Remove is
// called. A key whose command fails stays, and tell is called once for each row of failures.
func (k *Keys) Renew(ctx context.Context, tell func(line string)) {
	if k.None() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for i, c := range k.commands {
		if c.Every > 0 {
			running.Go(func() { k.renewOne(ctx, i, c, tell) })
		}
	}
	k.stop = func() { cancel(); running.Wait() }
}

func (k *Keys) renewOne(ctx context.Context, i int, c agent.KeyCommand, tell func(line string)) {
	failing := false
	tick := time.NewTicker(max(c.Every-c.Every/stagger, soonest))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		text, err := k.run(ctx, c)
		if err == nil {
			err = k.put(i, text)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			tell(c.Noun + " " + err.Error() + ": the client keeps the last key, and cordon tries again")
		}
		failing = err != nil
	}
}

// Remove ends the renewing and removes the files.
func (k *Keys) Remove() error {
	if k == nil {
		return nil
	}
	if k.stop != nil {
		k.stop()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	dir := k.dir
	k.dir = ""
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// run runs a command and returns what it prints. The words of an error go after its name.
func (k *Keys) run(ctx context.Context, c agent.KeyCommand) ([]byte, error) {
	answer := &bounded{room: maxKey}
	r := errand.Errand{
		Argv: []string{"/bin/sh", "-c", c.Line}, Dir: "/", Written: k.trees, Limit: c.Limit, Answer: answer, Closed: true,
	}.Run(ctx)
	if !r.OK() {
		return nil, errors.New(r.How())
	}
	return keyIn(answer)
}

// keyIn is the key in what a command printed.
func keyIn(b *bounded) ([]byte, error) {
	key := bytes.TrimSpace(b.text)
	switch {
	case len(key) == 0:
		return nil, errors.New("printed nothing")
	case b.more:
		return nil, fmt.Errorf("printed more than %d bytes, which is no key", maxKey)
	case bytes.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return nil, errors.New("printed more than one line, or characters that no key has")
	}
	return append(bytes.Clone(key), '\n'), nil
}

// bounded keeps the beginning of what is written.
type bounded struct {
	text []byte
	room int
	more bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.room-len(b.text))
	b.text = append(b.text, p[:n]...)
	b.more = b.more || n < len(p)
	return len(p), nil
}

// check refuses a command that a worker or a landing could have written: its file lies in a
// tree, or one of its words does.
func (k *Keys) check(c agent.KeyCommand, at func(file string) string) error {
	if c.File != "" && k.inTree(at(c.File)) {
		return fmt.Errorf("%s is not run: the file lies in a repository, where a worker or a landing could have written it", c.Noun)
	}
	for _, w := range codewords.Of(c.Line, func(string, string) []codewords.Word { return nil }) {
		name := git.Homed(w.Text)
		if w.Command && name != "" && !strings.Contains(name, "/") {
			continue // looked for on a PATH without trees
		}
		if filepath.IsAbs(name) && k.inTree(name) {
			return fmt.Errorf("%s is not run: it names a file in a repository, which a worker or a landing could have written", c.Noun)
		}
	}
	return nil
}

// inTree reports whether a path, or what it leads to, lies in a tree.
func (k *Keys) inTree(path string) bool {
	places := []string{filepath.Clean(path)}
	for _, p := range []string{path, filepath.Dir(path)} {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			places = append(places, real)
		}
	}
	return slices.ContainsFunc(k.trees, func(tree string) bool {
		if real, err := filepath.EvalSymlinks(tree); err == nil {
			tree = real
		}
		return slices.ContainsFunc(places, func(place string) bool { return paths.Within(place, tree) })
	})
}
