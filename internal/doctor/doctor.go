// Package doctor examines whether cordon works on this machine and in this repository: git,
// the state directory, the repository, the cell that it starts, the kernel and the agent
// clients on PATH.
//
// It refuses to change anything and to repair anything: it names what is wrong and the line
// that would mend it. A check that cannot be made is a failed check. Command cordon doctor
// prints what is found; package escape attacks.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/legible"
	"cordon/internal/state"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// status is the word in front of a check.
type status string

const (
	statusOK   status = "ok"
	statusWarn status = "warn" // works, with something to know
	statusFail status = "fail" // cordon does not work like this
	statusInfo status = "info" // listed, not judged
)

// check is one line of the doctor's.
type check struct {
	Name   string
	Status status
	Detail string
	Hint   string // what to do about it; may be empty
}

// Examine makes every check for the repository around dir, and reports whether one failed.
// The checks are in the order in which they are shown; those of clients come last.
func Examine(ctx context.Context, dir string) (shown view.Doctor, bad bool, err error) {
	clients := surveyClients(ctx, dir)
	checks := examineMachine(ctx, dir)
	shown.Clients = []view.DoctorClient{}
	for _, c := range clients {
		checks = append(checks, c.check())
		shown.Clients = append(shown.Clients, c.view())
	}
	shown.Checks = []view.DoctorCheck{}
	for _, c := range checks {
		shown.Checks = append(shown.Checks, c.view())
	}
	v := verdictOf(checks)
	shown.Verdict, shown.Next = v.Ready, v.Next
	return shown, v.failed, ctx.Err()
}

// examineMachine makes every check but those of clients.
func examineMachine(ctx context.Context, dir string) []check {
	git := checkGit(ctx)
	checks := append([]check{git}, checkState()...)
	if git.Status == statusFail {
		checks = append(checks, check{"repository", statusInfo, "not looked at without git", ""})
	} else {
		checks = append(checks, checkRepository(ctx, dir)...)
	}
	if runtime := cell.Container(); runtime != "" {
		checks = append(checks, check{"container", statusInfo, runtime, ""})
	}
	checks = append(checks, checkCell(ctx)...)
	checks = append(checks, checkNetwork(ctx))
	checks = append(checks, checkTrees(ctx))
	return append(checks, checkKernel(ctx)...)
}

func (c check) view() view.DoctorCheck {
	return view.DoctorCheck{Name: c.Name, Status: string(c.Status), Detail: c.Detail, Hint: c.Hint}
}

// Line is the detail of a check and what to do about it.
func Line(c view.DoctorCheck) string {
	if c.Hint == "" {
		return legible.Line(c.Detail)
	}
	return legible.Line(c.Detail + "; " + c.Hint)
}

// failed is a check that could not be made, which is no better than one that
// failed.
func failed(name string, err error, hint string) check {
	return check{name, statusFail, err.Error(), hint}
}

// gitFixes is, for each release line of git, the version that has the fixes of
// May 2024 (CVE-2024-32002, -32004, -32020, -32021, -32465: repositories that
// run code when they are cloned, or that others can write into). Lines after
// 2.45 have them from the start; those before 2.39 never got them.
var gitFixes = []git.Version{{2, 39, 4}, {2, 40, 2}, {2, 41, 1}, {2, 42, 2}, {2, 43, 4}, {2, 44, 1}, {2, 45, 1}}

// fixedGit reports whether a version has the fixes, and which version of its
// line, or failing that which newest one, does.
func fixedGit(v git.Version) (bool, git.Version) {
	newest := gitFixes[len(gitFixes)-1]
	for _, fix := range gitFixes {
		if v[0] == fix[0] && v[1] == fix[1] {
			return !v.Less(fix), fix
		}
	}
	return !v.Less(newest), newest
}

func checkGit(ctx context.Context) check {
	bin, err := git.Find(ctx, state.Written()...)
	if err != nil {
		return failed("git", err, fmt.Sprintf("install git %s or newer", git.MinVersion))
	}
	detail := fmt.Sprintf("%s at %s", bin.Version, bin.Path)
	if fixed, in := fixedGit(bin.Version); !fixed {
		return check{"git", statusWarn, detail + " lacks security fixes of 2024", fmt.Sprintf("update to %s or newer, unless your distribution has "+
			"added them to this one", in)}
	}
	return check{"git", statusOK, detail, ""}
}

// checkState looks at the place where cordon keeps things.
func checkState() []check {
	root, err := state.Root()
	if err != nil {
		return []check{failed("state", err, "set XDG_STATE_HOME")}
	}
	place, err := existing(root)
	if err != nil {
		return []check{failed("state", err, "set XDG_STATE_HOME to a place that you can write")}
	}
	return []check{writableState(root, place), checkFileSystem(place), checkSpace(place)}
}

// existing is the longest part of a path that is there.
func existing(path string) (string, error) {
	for {
		_, err := os.Stat(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return path, err
		}
		path = filepath.Dir(path)
	}
}

// writableState tries to write where that leaves nothing behind, and asks the
// kernel where the directory would have to be made first.
func writableState(root, place string) check {
	hint := cmp.Or(volumeLine(), "make it writable for you alone, or set XDG_STATE_HOME")
	if place != root {
		if err := unix.Access(place, unix.W_OK|unix.X_OK); err != nil {
			return failed("state", fmt.Errorf("%s cannot be made in %s: %w", root, place, err), hint)
		}
		return check{"state", statusOK, root + ", made by the first run", ""}
	}
	f, err := os.CreateTemp(root, ".doctor-")
	if err != nil {
		return failed("state", err, hint)
	}
	_, err = f.WriteString("written by cordon doctor\n")
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name())); err != nil {
		return failed("state", err, hint)
	}
	if fi, err := os.Stat(root); err != nil || fi.Mode().Perm()&0o022 != 0 {
		return check{"state", statusWarn, root + " can be written by others", "chmod go-w it"}
	}
	return check{"state", statusOK, root + " is writable", ""}
}

// fileSystem is a kind of file system that cordon's state may lie on.
type fileSystem struct {
	name, doubt   string
	holdsNoLayers bool // it cannot be the upper layer of an overlay
}

// volumeLine is how the container around gets a volume for the state; "": there is none.
func volumeLine() string {
	root, err := state.Root()
	if err != nil {
		return ""
	}
	return cell.VolumeLine(root)
}

const (
	isRemote   = "locks and the order of writes may not be kept by it, and the journal relies on both"
	isVolatile = "it is gone after a restart, and the journal and every quarantined result with it"
)

func checkFileSystem(place string) check {
	kind, err := fileSystemOf(place)
	if err != nil {
		return failed("file system", fmt.Errorf("%s: %w", place, err), "")
	}
	if kind.holdsNoLayers {
		return check{"file system", statusFail, kind.name + " at " + place + " cannot hold what cells write, so cordon run would refuse",
			cmp.Or(volumeLine(), "set XDG_STATE_HOME to a directory on ext4, xfs or btrfs")}
	}
	if kind.doubt != "" {
		return check{"file system", statusWarn, kind.name + " at " + place + ": " + kind.doubt, "set XDG_STATE_HOME to a local disk"}
	}
	return check{"file system", statusOK, kind.name + " at " + place, ""}
}

const (
	scarceSpace = 2 << 30  // a few worktrees of a middling repository
	noSpace     = 64 << 20 // not even the journal and the gate's objects
)

func checkSpace(place string) check {
	var fs unix.Statfs_t
	if err := unix.Statfs(place, &fs); err != nil {
		return failed("disk", fmt.Errorf("%s: %w", place, err), "")
	}
	free := int64(fs.Bavail) * int64(fs.Bsize)
	c := check{"disk", statusOK, terminal.Size(free) + " free at " + place, ""}
	const hint = "each worker takes as much as a checkout; cordon gc removes what is merged or discarded"
	switch {
	case free < noSpace:
		c.Status, c.Hint = statusFail, hint
	case free < scarceSpace:
		c.Status, c.Hint = statusWarn, hint
	}
	return c
}

// kernelFeatures are what the cell is to be made of, in the order in which they
// are listed.
var kernelFeatures = []string{"kernel", "user namespaces", "overlayfs", "landlock", "seccomp", "cgroups"}
