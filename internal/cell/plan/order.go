package plan

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/paths"
)

// Order is what a caller wants of a cell. Its paths are absolute and clean, with
// links resolved; Find looks at what lies there.
type Order struct {
	Argv []string
	Dir  string
	Env  []string
	Home string

	Write   []string // directories that are written in place
	Pinned  []string // entries in them that cannot be renamed, removed or replaced
	Bind    []Bind   // what is seen elsewhere than where it lies
	Over    []Over   // directories that are copied on write
	Sealed  []string // those of Write and Over that can only be read; what is pinned or mounted in them is written all the same
	Read    []string // what may be read; "/" is everything
	Hide    []string // what may not, whatever else is said
	Scratch []string // directories outside of Write that are written privately
	Talk    []string // sockets of the host that may be connected to, in what is shown of it
	Capture bool     // writes elsewhere succeed, privately

	// Layers is the directory that keeps what is written privately. Without it
	// that is kept in memory and gone with the cell.
	Layers string
	// Kept is a directory of layers that an earlier cell left. They are shown as
	// they are, below those of this one, and do not change.
	Kept string

	Net      *Net // nil: its own loopback and nothing else
	Inward   bool // sockets for connections from outside to its servers are handed out
	Limits   Limits
	Trace    bool   // its processes may trace each other
	Trial    *Trial // what runs in the finished cell before the worker; nil: nothing
	Commit   string // a directory in which a commit has to work
	Objects  string // where that is stored
	Canaries []string
	Terminal [3]bool
}

// Trial is a command that runs in a cell before the worker, with the worker's environment. The one
// who started the cell judges what comes of it.
type Trial struct {
	Argv  []string `json:"argv"`  // the program by its path
	Input string   `json:"input"` // what it reads
}

// Bind shows a directory or a file of the host at another place, or at its own.
type Bind struct {
	From  string
	At    string
	Write bool
}

// Over is a directory that is put together: what is written in it goes to a private
// layer, above directories of the host that lie elsewhere and stay as they are.
type Over struct {
	At    string
	Below []string // topmost first
	Layer string
	Spare bool // a worker can do without it
}

// Host is what a plan has to know of the machine.
type Host struct {
	Mounts  []MountPoint       // what is mounted, in the order of mounting
	Kinds   map[string]Kind    // of the paths that an Order names
	Lists   map[string][]Entry // of directories that are taken apart
	Aliases []string           // other names of what an Order hides, by other mounts
	Sockets []string           // listening, with a path
	Git     string             // the program
}

// MountPoint is one line of the kernel's list.
type MountPoint struct {
	At, Type string
	Dev      string // of the file system
	Root     string // the part of it that is mounted
}

// Kind is what lies at a path.
type Kind int

// The kinds.
const (
	Absent Kind = iota
	Directory
	File     // a regular file
	Symbolic // a link
	Special  // anything else
)

// Entry is one name in a directory.
type Entry struct {
	Name string
	Kind Kind
	To   string // where a link leads
}

// Link is a symbolic link.
type Link struct {
	Name string `json:"name"`
	To   string `json:"to"`
}

// check refuses orders that could not mean what they say.
func (o Order) check() error {
	checks := []func(Order) error{
		absolutePaths, writesSomethingNarrow, runsSomething, worksInside, liesOnSomething, sealsWhatIsThere, listensToPorts,
	}
	for _, c := range checks {
		if err := c(o); err != nil {
			return err
		}
	}
	return nil
}

func absolutePaths(o Order) error {
	lists := [][]string{{o.Dir}, optional(o.Kept), o.Write, o.Pinned, o.Read, o.Hide, o.Scratch, o.Talk}
	for _, b := range o.Bind {
		lists = append(lists, []string{b.From, b.At})
	}
	for _, c := range o.Over {
		lists = append(lists, []string{c.At}, c.Below)
	}
	for _, p := range slices.Concat(lists...) {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p || strings.ContainsRune(p, 0) {
			return fmt.Errorf("%q is not an absolute clean path", p)
		}
	}
	return nil
}

func optional(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}

// writesSomethingNarrow refuses to open the machine or the whole home: what
// starts with the operator's next login lies there.
func writesSomethingNarrow(o Order) error {
	for _, w := range slices.Concat(o.Write, overs(o)) {
		if paths.Within(o.Home, w) && o.Home != "" {
			return fmt.Errorf("%s cannot be opened for writing as a whole: your home directory is in it, with files that your next login runs; "+
				"go into a directory below it, or name one with --write", w)
		}
		for _, special := range []string{"/", "/proc", "/sys", "/dev"} {
			if w == special || special != "/" && paths.Within(w, special) {
				return fmt.Errorf("%s cannot be opened for writing", w)
			}
		}
	}
	return nil
}

func runsSomething(o Order) error {
	if len(o.Argv) == 0 {
		return errors.New("no command to run")
	}
	return nil
}

// liesOnSomething refuses to put together a directory of nothing, and one that keeps
// nothing.
func liesOnSomething(o Order) error {
	for _, c := range o.Over {
		if len(c.Below) == 0 || c.Layer == "" {
			return fmt.Errorf("%s has no layers", c.At)
		}
	}
	return nil
}

// sealsWhatIsThere refuses to seal a directory that the cell would not have: another one would stay open.
func sealsWhatIsThere(o Order) error {
	for _, at := range o.Sealed {
		if !slices.Contains(slices.Concat(o.Write, overs(o)), at) {
			return fmt.Errorf("%s is to be sealed, and is no directory of the worker's", at)
		}
	}
	return nil
}

// unsealed are those of the worker's directories that it can write.
func (o Order) unsealed(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(at string) bool { return slices.Contains(o.Sealed, at) })
}

// ReadsHome reports whether the home is shown as a whole: read_roots names it.
func (o Order) ReadsHome() bool {
	return o.Home != "" && slices.ContainsFunc(o.Read, func(r string) bool { return r != "/" && paths.Within(o.Home, r) })
}

// worksInside refuses a directory that would not be there.
func worksInside(o Order) error {
	for _, h := range o.Hide {
		if paths.Within(o.Dir, h) && !slices.ContainsFunc(o.Placed(), func(p string) bool { return paths.Within(o.Dir, p) && paths.Within(p, h) }) {
			return fmt.Errorf("the worker cannot start in %s: it is hidden from the worker", o.Dir)
		}
	}
	return nil
}

// Placed lists what is put into the view by name. Scratch is not among it: it is written privately where it is seen, and shows nothing.
func (o Order) Placed() []string {
	list := slices.Clone(o.Write)
	for _, b := range o.Bind {
		list = append(list, b.At)
	}
	for _, c := range o.Over {
		list = append(list, c.At)
	}
	if o.Home != "" {
		list = append(list, o.Home)
	}
	return list
}
