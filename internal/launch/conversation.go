package launch

import (
	"bytes"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/agent"
)

// conversation is the record that an interactive client keeps of what is said and done,
// as far as it has grown in this launch. The client writes it in its own directory:
// nothing there is followed, waited for or believed to be short. It decides only when
// cordon begins to wait for the client's hooks, and ends a client whose own record says
// that it called a tool before they reported. A client without a record is judged at the
// gate alone.
type conversation struct {
	dir    string
	record *agent.Record
	read   map[string]int64 // how much of each file is known
}

// beginConversation notes where the record of an interactive client ends before its
// launch. It is nil where the record tells nothing: the hooks have to report soon after
// the start.
func beginConversation(o *clientSetup, interactive, again bool) *conversation {
	r := o.adapter.Record
	if !interactive || r == nil || again && !r.Lines() { // what is not in lines may be written again
		return nil
	}
	c := &conversation{dir: o.state, record: r, read: map[string]int64{}}
	c.each(func(name string, f *os.File) agent.Sign {
		if fi, err := f.Stat(); err == nil {
			c.read[name] = fi.Size()
		}
		return agent.NoSign
	})
	return c
}

// look tells what has come since it was looked last.
func (c *conversation) look() agent.Sign { return c.each(c.more) }

// each opens the files of the record and returns the weightiest sign of them.
func (c *conversation) each(open func(string, *os.File) agent.Sign) (seen agent.Sign) {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return agent.NoSign
	}
	defer root.Close()
	for _, pattern := range c.record.Files {
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			continue
		}
		for _, name := range names {
			f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
			if err != nil {
				continue
			}
			if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
				seen = max(seen, open(name, f))
			}
			f.Close()
		}
	}
	return seen
}

// lookRoom is how much of a file is read at once. A line that is longer tells of a prompt.
const lookRoom = 4 << 20

// more reads what has come to a file.
func (c *conversation) more(name string, f *os.File) (seen agent.Sign) {
	at := c.read[name]
	if fi, err := f.Stat(); err == nil && fi.Size() < at {
		at = 0 // it was written anew
	}
	text, err := io.ReadAll(io.NewSectionReader(f, at, lookRoom))
	if err != nil {
		return agent.NoSign
	}
	if c.record.Lines() {
		end := bytes.LastIndexByte(text, '\n') + 1
		if end == 0 && len(text) == lookRoom {
			end, seen = len(text), agent.Prompted
		}
		text = text[:end]
	}
	c.read[name] = at + int64(len(text))
	return max(seen, c.record.Read(text))
}
