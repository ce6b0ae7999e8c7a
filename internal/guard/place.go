package guard

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"cordon/internal/depcache"
)

// Place is the kind of place a path leads to.
type Place string

// The places. Only the first six may ever be touched.
const (
	Own       Place = "the worktree"
	Scratch   Place = "a directory for temporary files"
	Device    Place = "a device"
	System    Place = "the system"
	Readable  Place = "what the policy lets be read"
	Packages  Place = "what a package manager downloaded"
	Host      Place = "the operator's repository"
	Sibling   Place = "another worktree"
	Home      Place = "the home directory"
	State     Place = "cordon's own state"
	Elsewhere Place = "another directory"
	Unknown   Place = "an unknown place"
)

// systemDirs hold what is installed, and what the machine says about itself.
var systemDirs = [...]string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/var", "/run", "/nix", "/gnu", "/snap", "/boot",
	"/proc", "/sys", "/dev", "/System", "/Library", "/Applications", "/private/etc", "/private/var",
}

var scratchDirs = [...]string{"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp", "/private/var/folders", "/var/folders"}

// openDevices may be written: what goes there is lost, or comes from a terminal.
var openDevices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd",
	"/dev/ptmx", "/dev/pts", "/dev/random", "/dev/urandom", "/dev/tcp", "/dev/udp"}

// place says where a resolved path is. The longest root wins, so that a worktree
// below a temporary directory or below the host is itself.
func (s *Scope) place(p string) Place {
	best, found := -1, Elsewhere
	try := func(root string, is Place) {
		if len(root) > best && s.below(p, root) {
			best, found = len(root), is
		}
	}
	try(s.Worktree, Own)
	for _, h := range s.Hosts {
		try(h, Host)
	}
	try(s.State, State)
	if s.Post != "" {
		try(s.Post+"/bin", System) // cordon itself, as it is installed there
	}
	try(s.Home, Home)
	try("/root", Home)
	for _, d := range scratchDirs {
		try(d, Scratch)
	}
	for _, d := range systemDirs {
		try(d, System)
	}
	for _, d := range openDevices {
		try(d, Device)
	}
	switch found {
	case Elsewhere:
		return s.rest(p)
	case Host:
		return s.hosted(p)
	case Own:
		return Own
	}
	return s.lent(p, found)
}

// rest is a path in none of the known places.
func (s *Scope) rest(p string) Place {
	for _, homes := range []string{"/home", "/Users"} {
		if s.below(p, homes) && p != homes {
			return s.lent(p, Home)
		}
	}
	switch p {
	case "/", "/.dockerenv", "/.containerenv":
		return System
	}
	return s.lent(p, Elsewhere)
}

// hosted tells a worktree below the host from the host.
func (s *Scope) hosted(p string) Place {
	if parent := s.Worktree[:strings.LastIndexByte(s.Worktree, '/')+1]; len(parent) > 1 && strings.HasPrefix(p, parent) && len(p) > len(parent) {
		for _, h := range s.Hosts {
			if s.below(strings.TrimSuffix(parent, "/"), h) && strings.TrimSuffix(parent, "/") != h {
				return Sibling
			}
		}
	}
	return s.lent(p, Host)
}

// lent is a path that the policy names as scratch or readable.
func (s *Scope) lent(p string, otherwise Place) Place {
	for _, g := range s.Rules.ScratchRoots() {
		if covers(g, p) {
			return Scratch
		}
	}
	if otherwise == Scratch || otherwise == System || otherwise == Device {
		return otherwise
	}
	everything := false
	for _, g := range s.Rules.ReadRoots() {
		if g == "/" || g == "/**" {
			everything = true
		} else if covers(g, p) {
			return Readable
		}
	}
	if everything && (otherwise == Home || otherwise == Elsewhere) && depcache.Holds(p, s.Home, s.Packages) {
		return Packages
	}
	return otherwise
}

// readable reports whether a place may be read, as far as deny_read does not say otherwise.
func (p Place) readable() bool {
	switch p {
	case Own, Scratch, System, Device, Readable, Packages:
		return true
	}
	return false
}

// covers reports whether a glob matches a path or something above it.
func covers(glob, p string) bool {
	for p != "" && p != "/" && p != "." {
		if ok, _ := doublestar.Match(glob, p); ok {
			return true
		}
		p = p[:max(0, strings.LastIndexByte(p, '/'))]
	}
	return false
}
