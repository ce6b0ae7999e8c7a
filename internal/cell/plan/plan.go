// Package plan turns an Order, which says what a command may see and write, into a
// Spec: the layers, the mounts in their order, the limits and the proof of one cell.
//
// It is pure: it refuses to look at the machine and to change anything. Package host
// looks; packages mount, walls and limit carry a Spec out.
package plan

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/paths"
)

// Replaced are the directories that every cell has of its own. What the host has
// mounted below them is not seen.
var Replaced = []Op{
	{Do: ProcFS, At: "/proc"},
	{Do: SysFS, At: "/sys"},
	{Do: DevFS, At: "/dev"},
	{Do: Tmpfs, At: "/run", Write: true, Mode: 0o755},
	{Do: Private, At: "/tmp", Layer: "tmp", Mode: 0o1777},
	{Do: Private, At: "/var/tmp", Layer: "var-tmp", Mode: 0o1777},
}

// Pseudo are file systems that are never shown: they are views of the kernel.
var Pseudo = map[string]bool{
	"proc": true, "sysfs": true, "devtmpfs": true, "devpts": true, "cgroup": true, "cgroup2": true,
	"securityfs": true, "debugfs": true, "tracefs": true, "pstore": true, "bpf": true, "configfs": true,
	"fusectl": true, "mqueue": true, "hugetlbfs": true, "autofs": true, "binfmt_misc": true,
	"efivarfs": true, "rpc_pipefs": true, "nsfs": true, "selinuxfs": true,
}

// readOnlyKinds cannot hold a socket that anybody listens on, and some of them
// cannot be a layer of an overlay.
var readOnlyKinds = map[string]bool{"squashfs": true, "iso9660": true, "erofs": true, "cramfs": true, "romfs": true}

// Plan makes the Spec of a cell with all layers but those that are left out. It
// is pure: the same order on the same host gives the same Spec.
func Plan(o Order, h Host, without ...Layer) (Spec, error) {
	if err := o.check(); err != nil {
		return Spec{}, err
	}
	h.Sockets = slices.DeleteFunc(slices.Clone(h.Sockets), func(p string) bool { return slices.Contains(o.Talk, p) })
	s := Spec{Argv: o.Argv, Dir: o.Dir, Env: o.Env, Keep: o.Layers, Limits: o.Limits, Trace: o.Trace, Trial: o.Trial, Terminal: o.Terminal}
	s.Layers = layers(o, without)
	all := o.Over
	o.Over = possible(o.Over, h, s.Has(CopyView))
	if why := noLayer(o, h, s.Has(CopyView)); why != "" {
		return Spec{}, &MissingError{Missing{Layer: CopyView, Why: why}}
	}
	if why := needsCopyView(o); why != "" && !s.Has(CopyView) {
		return Spec{}, &LayerError{CopyView, errors.New(why)}
	}
	var closed []string
	if s.Has(Namespaces) {
		s.Sockets = h.Sockets
		s.View, closed = view(o, h, s.Has(CopyView))
		showKept(s.View, o.Kept)
	} else {
		s.Hidden = slices.Concat(o.Hide, h.Aliases)
		if o.Home != "" && !o.ReadsHome() { // it cannot begin empty, so it is hidden around its parts
			s.Hidden = append(s.Hidden, o.Home)
			s.Shown = append(s.Shown, belowParts(all)...)
		}
		s.Env = ownPlaces(o)
	}
	if !s.Has(Namespaces) {
		if err := holdsWithoutView(o); err != nil {
			return Spec{}, err
		}
		for _, b := range o.Bind {
			s.Shown = append(s.Shown, b.From, b.At) // one names the other
		}
		s.Shown = append(s.Shown, o.Sealed...) // no rule for writing opens them
	}
	s.Write, s.Read = walls(o, s)
	s.Limits.Watched = slices.Concat(o.Write, writableBinds(o))
	if o.Layers != "" {
		s.Limits.Watched = append(s.Limits.Watched, o.Layers)
	}
	s.Proof = proof(o, h, s, closed)
	s.network(o)
	return s, nil
}

// possible leaves out what a worker can do without and what cannot be made: there are no overlays, or it lies on a
// directory of the host with mounts below it, and the kernel refuses that.
func possible(list []Over, h Host, overlays bool) []Over {
	v := viewer{host: h}
	return slices.DeleteFunc(slices.Clone(list), func(c Over) bool { return c.Spare && (!overlays || slices.ContainsFunc(c.Below, v.mountsBelow)) })
}

// belowParts are where the directories lie that a worker can do without.
func belowParts(list []Over) []string {
	var dirs []string
	for _, c := range list {
		if c.Spare {
			dirs = append(dirs, c.Below...)
		}
	}
	return dirs
}

// noLayer says why no layer can lie over a directory of the host's that is written; "" where it can.
func noLayer(o Order, h Host, overlays bool) string {
	for _, c := range o.Over {
		if c.Spare || !slices.Contains(c.Below, c.At) {
			continue
		}
		if !overlays {
			return "what is written in " + c.At + " goes to a layer"
		}
		for _, m := range h.Mounts {
			if paths.Below(m.At, c.At) {
				return m.At + " is mounted in " + c.At + ", and no layer can lie over that"
			}
		}
	}
	return ""
}

// needsCopyView says what of an order has no meaning without overlays.
func needsCopyView(o Order) string {
	switch {
	case o.Capture:
		return "filesystem.outside: capture needs it"
	case len(o.Over) > 0:
		return o.Over[0].At + " is copied on write and needs it"
	case o.Kept != "":
		return "what an earlier cell left is shown by it"
	}
	return ""
}

// showKept adds what an earlier cell wrote to everything that is written privately.
func showKept(view []Op, dir string) {
	for i, op := range view {
		switch {
		case dir == "" || op.Layer == "":
		case op.Do == Private:
			view[i].Kept = filepath.Join(dir, op.Layer)
		default:
			view[i].Kept = filepath.Join(dir, op.Layer, "upper")
		}
	}
}

// holdsWithoutView refuses an order whose boundary is made of mounts: without them
// the command would write what lies below, the host's own repository for one.
func holdsWithoutView(o Order) error {
	var covered []string
	for _, b := range o.Bind {
		if b.From != b.At && slices.ContainsFunc(o.Write, func(w string) bool { return paths.Within(b.At, w) }) {
			covered = append(covered, b.At)
		}
	}
	if len(covered) == 0 {
		return nil
	}
	return &MissingError{Missing{Layer: Namespaces, Why: covered[0] + " cannot be hidden from the worker without them",
		Fix: "use a private tree (cordon run), which does not need them"}}
}

// ownPlaces gives a command that has no view of its own a home and a directory for
// temporary files that are: the operator's cannot be written.
func ownPlaces(o Order) []string {
	mine := []string{"HOME=" + filepath.Join(o.Layers, HomeName), "TMPDIR=" + filepath.Join(o.Layers, "tmp")}
	rest := slices.DeleteFunc(slices.Clone(o.Env), func(kv string) bool {
		return strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "TMPDIR=")
	})
	return append(rest, mine...)
}

func writableBinds(o Order) []string {
	var list []string
	for _, b := range o.Bind {
		if b.Write {
			list = append(list, b.From)
		}
	}
	return list
}

// walls says what Landlock lets the cell write and read.
func walls(o Order, s Spec) (write, read []string) {
	write = o.unsealed(o.Write)
	for _, b := range o.Bind {
		if b.Write {
			write = append(write, b.At)
		}
	}
	for _, p := range o.Pinned {
		if InsideAny(p, o.Sealed) {
			write = append(write, p)
		}
	}
	if !s.Has(Namespaces) {
		return append(write, o.Layers), o.Read
	}
	for _, op := range s.View {
		if op.Do == Private || op.Do == Tmpfs && op.Write || (op.Do == Overlay || op.Do == Skeleton) && op.Layer != "" && !op.Sealed {
			write = append(write, op.At)
		}
	}
	if len(o.Read) == 0 || slices.Contains(o.Read, "/") {
		return write, []string{"/"}
	}
	for _, op := range s.View {
		if op.At != "/" && op.Do != Mask {
			read = append(read, op.At)
		}
	}
	return write, read
}

// overs are the directories that are copied on write.
func overs(o Order) []string {
	var list []string
	for _, c := range o.Over {
		list = append(list, c.At)
	}
	return list
}

// needed are those that a worker cannot do without.
func needed(o Order) []string {
	o.Over = slices.DeleteFunc(slices.Clone(o.Over), func(c Over) bool { return c.Spare })
	return overs(o)
}

// proof is what can be planned of the proof; the rest is known at the launch.
func proof(o Order, h Host, s Spec, closed []string) Proof {
	return Proof{
		Outside: "/.cordon-proof", Private: o.Capture, Closed: closed, Placed: seenIn(closed, o, s.View),
		Hidden: slices.DeleteFunc(slices.Clone(o.Canaries), func(p string) bool { return h.Kinds[p] == Absent }),
		Inside: o.unsealed(slices.Concat(o.Write, needed(o))), Sealed: slices.Clone(o.Sealed), Commit: o.Commit, Objects: o.Objects, Git: h.Git,
	}
}

// seenIn lists what may be seen in hidden directories: what was placed there by name, and what
// the cell has of its own.
func seenIn(closed []string, o Order, view []Op) []string {
	list := o.Placed()
	for _, op := range view {
		if !op.Do.showsHost() && op.Do != Mask {
			list = append(list, op.At)
		}
	}
	return slices.DeleteFunc(list, func(p string) bool { return !InsideAny(p, closed) })
}
