package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// objects reads objects of one repository through one git process, which is
// asked as often as needed. The first thing that goes wrong ends it: whatever was
// answered before, nobody may go on with half of it.
type objects struct {
	cmd     *exec.Cmd // nil: there is none, or none any more
	ctx     context.Context
	stop    context.CancelFunc
	watcher *watcher
	in      io.WriteCloser
	out     *bufio.Reader
	said    bytes.Buffer // on stderr
	size    int          // of an object name, in bytes
	trees   map[OID]Dir
	entries int // in trees
	err     error
}

// Bounds of what is read and kept. A worker can write a tree of any size, and one
// of a few objects that has any number of files.
const (
	maxTree    = 1 << 28 // bytes
	maxEntries = 4 << 20 // in memory
	maxFiles   = 8 << 20 // in one listing
	maxDepth   = 4096
)

// open starts the process. It has the environment and the bounds of every other
// call, and ends with the context or when it is closed.
func (r Repo) open(ctx context.Context) (*objects, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	c := call{repo: []string{"--git-dir=" + r.Dir}, dir: r.Dir, args: []string{"cat-file", "--batch-command", "--buffer"}}
	ctx, w := watch(ctx, c)
	stop := func() { w.stop(); cancel() }
	o := &objects{cmd: r.bin.command(ctx, c), ctx: ctx, stop: stop, watcher: w, size: r.Format.NewHash().Size(), trees: map[OID]Dir{}}
	o.cmd.Stderr = &limited{w: &o.said, left: 1 << 20}
	in, err := o.cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = o.cmd.StdoutPipe(); err == nil {
			o.in, o.out = in, bufio.NewReaderSize(out, 1<<16)
			err = o.cmd.Start()
		}
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	bound(o.cmd.Process.Pid)
	return o, nil
}

// close ends the process and waits for its end. What was read stays.
func (o *objects) close() {
	if o.cmd == nil {
		return
	}
	o.in.Close()
	if o.err != nil {
		o.stop()
	}
	_ = o.cmd.Wait() // what it had to say was read, or is an error already
	o.stop()
	o.cmd = nil
}

// fail keeps the first error and ends the process.
func (o *objects) fail(err error) error {
	if o.err != nil {
		return o.err
	}
	o.err = err
	if o.cmd != nil {
		if cause := context.Cause(o.ctx); cause != nil {
			o.err = cause // of the end of file that was read
		}
		o.close()
	}
	if said := strings.TrimSpace(o.said.String()); said != "" {
		o.err = fmt.Errorf("%w: %s", o.err, said)
	}
	o.err = fmt.Errorf("git cat-file: %w", o.err)
	return o.err
}

// ask sends commands, a line each, and hands the first line of every answer to
// take, which reads the rest of it.
func (o *objects) ask(commands []string, take func(i int, head string) error) error {
	if o.err != nil {
		return o.err
	}
	if o.cmd == nil {
		return o.fail(errors.New("closed"))
	}
	o.watcher.started.Store(int32(o.cmd.Process.Pid)) // between two questions it sleeps rightly
	defer o.watcher.started.Store(0)
	// Both ends of a pipe may be full: the answers are read meanwhile.
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(o.in, strings.Join(commands, "\n")+"\nflush\n")
		sent <- err
	}()
	for i := range commands {
		head, err := o.out.ReadString('\n')
		if err == nil {
			err = take(i, strings.TrimSuffix(head, "\n"))
		}
		if err != nil {
			err = o.fail(err) // which ends the writing too
			<-sent
			return err
		}
	}
	if err := <-sent; err != nil {
		return o.fail(err)
	}
	return nil
}

// content reads what follows the first line of an answer.
func (o *objects) content(size int64) ([]byte, error) {
	b := make([]byte, size+1)
	if _, err := io.ReadFull(o.out, b); err != nil {
		return nil, err
	}
	return b[:size], nil
}

// firstLine reads the first line of an answer. A missing object has no kind.
func firstLine(line string) (kind string, size int64, err error) {
	f := strings.Fields(line)
	if len(f) == 2 && f[1] == "missing" {
		return "", 0, nil
	}
	if len(f) == 3 {
		if size, err = strconv.ParseInt(f[2], 10, 64); err == nil && size >= 0 {
			return f[1], size, nil
		}
	}
	return "", 0, fmt.Errorf("unexpected answer %q", line)
}

// treeOf after a name stands for the tree of a commit. Git parses the object twice
// for it, which for trees themselves can be spared.
const treeOf = "^{tree}"

// readTrees reads trees that are not held yet. With the suffix, they are those of
// commits.
func (o *objects) readTrees(oids []OID, suffix string) error {
	var missing []OID
	var commands []string
	asked := map[OID]bool{}
	for _, oid := range oids {
		if _, ok := o.trees[oid]; !ok && !asked[oid] {
			asked[oid] = true
			missing, commands = append(missing, oid), append(commands, "contents "+string(oid)+suffix)
		}
	}
	if len(missing) == 0 {
		return o.err
	}
	if o.entries > maxEntries { // what is needed again is read again
		o.trees, o.entries = map[OID]Dir{}, 0
	}
	return o.ask(commands, func(i int, line string) error {
		kind, size, err := firstLine(line)
		switch {
		case err != nil:
			return err
		case kind != "tree":
			return fmt.Errorf("%s is not a tree: %q", missing[i], line)
		case size > maxTree:
			return fmt.Errorf("the tree %s has %d bytes", missing[i], size)
		}
		raw, err := o.content(size)
		if err != nil {
			return err
		}
		dir, err := parseTree(raw, o.size)
		o.trees[missing[i]], o.entries = dir, o.entries+len(dir)
		return err
	})
}

// parseTree reads a tree object. One that holds a name twice, or a name that is
// more than one, is refused: two readers would see two trees.
func parseTree(raw []byte, size int) (Dir, error) {
	dir := make(Dir, len(raw)/(size+16))
	for len(raw) > 0 {
		meta, rest, ok := bytes.Cut(raw, []byte{0})
		mode, name, spaced := strings.Cut(string(meta), " ")
		m, err := strconv.ParseUint(mode, 8, 32)
		if !ok || !spaced || err != nil || len(rest) < size {
			return nil, fmt.Errorf("a tree cannot be read at %q", meta)
		}
		if _, twice := dir[name]; twice || name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return nil, fmt.Errorf("a tree has the invalid name %q, or has a name twice", name)
		}
		dir[name] = Entry{Mode: canonical(Mode(m)), OID: OID(hex.EncodeToString(rest[:size]))}
		raw = rest[size:]
	}
	return dir, nil
}

// canonical is the mode that git takes another one for: old trees have more.
func canonical(m Mode) Mode {
	switch m & 0o170000 {
	case Regular & 0o170000:
		if m&0o100 != 0 {
			return Executable
		}
		return Regular
	case Symlink, Directory:
		return m & 0o170000
	}
	return Gitlink
}

// readBlobs reads those of some blobs that are no longer than limit. Another one,
// or one that is not there, is not among them.
func (o *objects) readBlobs(oids []OID, limit int64) (map[OID][]byte, error) {
	blobs := map[OID][]byte{}
	if len(oids) == 0 {
		return blobs, o.err
	}
	var small []OID
	err := o.ask(each("info", oids), func(i int, line string) error {
		kind, size, err := firstLine(line)
		if kind == "blob" && size <= limit {
			small = append(small, oids[i])
		}
		return err
	})
	if err != nil || len(small) == 0 {
		return blobs, err
	}
	return blobs, o.ask(each("contents", small), func(i int, line string) error {
		kind, size, err := firstLine(line)
		if err == nil && (kind != "blob" || size > limit) {
			err = fmt.Errorf("unexpected answer %q", line)
		}
		if err == nil {
			blobs[small[i]], err = o.content(size)
		}
		return err
	})
}

func each(command string, oids []OID) []string {
	list := make([]string, len(oids))
	for i, oid := range oids {
		list[i] = command + " " + string(oid)
	}
	return list
}
