package plan

import (
	"encoding/json"
	"strings"
)

// Spec is a cell as a value: what the confined process will see and may do. It
// is planned without touching anything, printed by --dry-run, and handed to the
// process that carries it out on a sealed descriptor.
type Spec struct {
	Argv   []string `json:"argv"`
	Dir    string   `json:"dir"`
	Env    []string `json:"env"`
	Layers []Layer  `json:"layers"`          // to be put up, each of them proven or fatal
	View   []Op     `json:"view"`            // the file system, in the order of mounting
	Write  []string `json:"write"`           // what Landlock lets it write
	Read   []string `json:"read"`            // what Landlock lets it read
	Hidden []string `json:"hidden"`          // what Landlock has to keep from it, where no mount does
	Shown  []string `json:"shown,omitempty"` // what it reads although it lies in something hidden, where no mount shows it
	// Sockets are those of the host that have to be covered where an overlay of the
	// view turns out to be refused.
	Sockets []string `json:"sockets,omitempty"`
	Keep    string   `json:"keep"` // the host's directory of the private layers; "": in memory
	Limits  Limits   `json:"limits"`
	Trace   bool     `json:"trace,omitempty"`  // its processes may trace each other
	Trial   *Trial   `json:"trial,omitempty"`  // what runs before the worker; nil: nothing
	Net     *Net     `json:"net,omitempty"`    // nil: its own loopback and nothing else
	Inward  bool     `json:"inward,omitempty"` // sockets for connections to its servers are handed out
	Proxy   uint16   `json:"proxy,omitempty"`  // the port that programs are told of; 0: none
	Dial    []uint16 `json:"dial,omitempty"`   // what Landlock lets it connect to, where no namespace is in the way
	Proof   Proof    `json:"proof"`

	// Terminal says which of the three standard descriptors are its own pty.
	Terminal [3]bool `json:"terminal"`
}

// Limits bound what the cell may use. Zero is no limit.
type Limits struct {
	Memory    int64    `json:"memory"`    // bytes of all processes together
	Disk      int64    `json:"disk"`      // bytes written and still there
	Processes int      `json:"processes"` // alive at once
	Files     int      `json:"files"`     // open in one process
	Watched   []string `json:"watched"`   // where Disk is counted

	// Group says that a control group holds the cell to Memory, so that the warden
	// need not count it.
	Group bool `json:"group,omitempty"`
}

// InMemory bounds a file system that lies in memory: it takes from both limits.
func (l Limits) InMemory() int64 {
	if l.Disk == 0 || l.Memory > 0 && l.Memory < l.Disk {
		return l.Memory
	}
	return l.Disk
}

// Counting is how a limit on memory is held.
type Counting string

// The ways. A control group counts all memory, the kernel's own included. Without one
// the memory is looked at ten times a second, and a worker that wants to can hide some of it.
const (
	NotCounted Counting = ""
	ByGroup    Counting = "cgroup v2"
	ByLooking  Counting = "counted; a worker can hide memory"
	ByProcess  Counting = "for each process alone" // without namespaces nobody sees them all
)

func (c Counting) String() string {
	if c == NotCounted {
		return "none"
	}
	return string(c)
}

// Counting is how the cell's limit on memory is held.
func (s Spec) Counting() Counting {
	switch {
	case s.Limits.Memory == 0:
		return NotCounted
	case s.Limits.Group:
		return ByGroup
	case !s.Has(Namespaces):
		return ByProcess
	}
	return ByLooking
}

// Proof lists acts that the cell tries before the worker's first instruction.
type Proof struct {
	Outside string   `json:"outside"`          // a file that must not come to be on the host
	Private bool     `json:"private"`          // Outside may come to be in the cell
	Hidden  []string `json:"hidden"`           // must not be readable
	Closed  []string `json:"closed"`           // directories that show nothing but what is placed in them, and what leads there
	Placed  []string `json:"placed"`           // in those
	Connect []string `json:"connect"`          // abstract sockets and ports that really listen on the host
	Parent  int      `json:"parent"`           // a process of the host that must not be reached
	Inside  []string `json:"inside"`           // directories where a file must come to be
	Sealed  []string `json:"sealed,omitempty"` // directories where none must
	Commit  string   `json:"commit"`           // a repository in which a commit must succeed; "": none
	Objects string   `json:"objects"`          // where that repository keeps its objects
	Git     string   `json:"git"`              // the program to commit with

	Elsewhere uint16 `json:"elsewhere,omitempty"` // a port that every address has to refuse; 0: none
}

// Op is one step in building what the cell sees. The operations are few, and a
// path in them is always the one that the worker sees, from its root.
type Op struct {
	Do   Do     `json:"do"`
	At   string `json:"at"`
	From string `json:"from,omitempty"` // on the host, for bind, and overlay's lower layer
	// Below are the lower layers of an overlay that has several, topmost first.
	Below []string `json:"below,omitempty"`

	Write bool   `json:"write,omitempty"` // bind and tmpfs: writable
	Layer string `json:"layer,omitempty"` // overlay: the private layer that takes what is written; "": read-only
	// Sealed: an overlay with a private layer that shows it and takes nothing more.
	Sealed bool   `json:"sealed,omitempty"`
	Kept   string `json:"kept,omitempty"` // on the host: what an earlier cell left of that layer, shown below it where there is any
	Bare   bool   `json:"bare,omitempty"` // just a part of the host: bound where an overlay is refused, left out where it is gone

	Absent []string `json:"absent,omitempty"` // overlay: names that do not exist in it
	Make   []string `json:"make,omitempty"`   // directories made in it before it is sealed
	Files  []string `json:"files,omitempty"`  // empty files made in it, to be mounted on
	Links  []Link   `json:"links,omitempty"`  // symbolic links made in it
	File   bool     `json:"file,omitempty"`   // mask: a file, not a directory
	Mode   uint32   `json:"mode,omitempty"`
	Size   int64    `json:"size,omitempty"` // tmpfs: bytes; 0: the kernel's default
}

// Do names an operation.
type Do string

// The operations.
const (
	Overlay  Do = "overlay"
	BindOver Do = "bind"
	Tmpfs    Do = "tmpfs"
	Private  Do = "private" // a writable directory that lies in the layers
	Mask     Do = "mask"
	ProcFS   Do = "proc"
	SysFS    Do = "sysfs"
	DevFS    Do = "dev"
	Skeleton Do = "skeleton" // a directory in which only what is mounted is there
)

// showsHost reports whether an operation shows something of the host's.
func (d Do) showsHost() bool { return d == Overlay || d == BindOver || d == Skeleton }

// Has reports whether a layer is to be put up.
func (s Spec) Has(l Layer) bool {
	for _, x := range s.Layers {
		if x == l {
			return true
		}
	}
	return false
}

// String is the form for a person: one line for each step.
func (s Spec) String() string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(s) // a Spec holds nothing that cannot be encoded
	return b.String()
}

// Devices are those that programs cannot do without.
var Devices = []string{"null", "zero", "full", "random", "urandom", "tty"}
