package guard

import (
	"cmp"
	"strings"

	"cordon/internal/mark"
)

// where is a resolved path: what is known of it, and whether that is all.
type where struct {
	path    string // absolute, clean, links resolved, as far as it is known
	unknown bool   // what follows path can lead anywhere
	outside bool   // it is known to lead to another tree
	place   Place  // of a path that is known only by its mark
}

const maxLinks = 40

// resolve follows a path as the kernel does: every component's links, from the
// root, with .. after the link. A component that is not there is taken as it is.
// Links that the script makes itself count.
func (j *judge) resolve(dir, p string) where {
	p = cmp.Or(p, ".")
	if w, ok := j.marked(p); ok {
		return w
	}
	if !strings.HasPrefix(p, "/") {
		p = dir + "/" + p
		if w, ok := j.marked(p); ok {
			return w
		}
	}
	return j.follow(p)
}

// marked is a path that begins with what is not known.
func (j *judge) marked(p string) (where, bool) {
	head, rest := first(p)
	switch head {
	case mark.Any:
		return where{unknown: true, outside: j.emptyLeads(rest)}, true
	case mark.Outside:
		return where{outside: true}, true
	case mark.Scratch:
		return j.beyond(where{path: "/tmp/" + mark.Atom, place: Scratch}, rest), true
	case mark.System:
		return j.beyond(where{path: "/usr/" + mark.Atom, place: System}, rest), true
	case mark.Inside:
		return j.follow(j.scope.Worktree + "/" + mark.Atom + rest), true
	}
	return where{}, false
}

// emptyLeads reports whether a path leads to a forbidden place if the unknown text
// before it is nothing: a variable that nobody set.
func (j *judge) emptyLeads(rest string) bool {
	if rest == "" || mark.In(rest) || rest[0] != '/' && !strings.HasPrefix(rest, "..") {
		return false
	}
	if rest[0] != '/' {
		rest = j.at + "/" + rest
	}
	if mark.First(rest) >= 0 {
		return false
	}
	switch j.placeOf(j.follow(rest)) {
	case Host, Sibling, State, Home:
		return true
	}
	return false
}

// beyond is what follows a path that is known only by its mark: as long as it
// does not climb, it stays there.
func (j *judge) beyond(w where, rest string) where {
	if strings.Contains(rest, "..") || mark.Has(rest, mark.Any) {
		return where{unknown: true}
	}
	w.path += rest
	return w
}

// first splits a mark off the beginning of a path.
func first(p string) (string, string) {
	if i := mark.First(p); i != 0 {
		return "", p
	}
	size := len(mark.Any)
	return p[:size], p[size:]
}

// follow resolves an absolute path.
func (j *judge) follow(p string) where {
	at := ""
	links := 0
	for rest := p; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		switch {
		case name == "" || name == ".":
		case name == "..":
			at = at[:max(0, strings.LastIndexByte(at, '/'))]
		case mark.Has(name, mark.Any+mark.Scratch+mark.System+mark.Outside):
			return where{path: slash(at), unknown: true}
		case mark.In(name):
			at += "/" + name
		default:
			to, ok := j.link(at + "/" + name)
			if !ok {
				at += "/" + name
				break
			}
			if links++; links > maxLinks {
				return where{path: slash(at), unknown: true}
			}
			if to == "" { // a process's own view: nobody knows whose
				return where{path: slash(at), outside: true}
			}
			if strings.HasPrefix(to, "/") {
				at = ""
			}
			rest = to + "/" + rest
		}
	}
	return where{path: slash(at)}
}

func slash(p string) string {
	if p == "" {
		return "/"
	}
	return p
}

// link is where a link leads, if the path is one.
func (j *judge) link(p string) (string, bool) {
	if to, made := j.links[p]; made {
		return to, to != notLink
	}
	if strings.HasPrefix(p, "/proc/") {
		return j.proc(p)
	}
	if mark.In(p) {
		return "", false
	}
	if to, known := j.seen.links[p]; known {
		return to, to != notLink
	}
	to, err := j.scope.files().Readlink(p)
	if err != nil {
		to = notLink
	}
	j.seen.links[p] = to
	return to, err == nil
}

// notLink is remembered for what is no link.
const notLink = "\x00"

// proc are the links of processes. They belong to whoever runs the command, not
// to the guard, whose own they must not be taken for.
func (j *judge) proc(p string) (string, bool) {
	parts := strings.Split(strings.TrimPrefix(p, "/proc/"), "/")
	if len(parts) == 4 && parts[1] == "task" {
		parts = []string{parts[0], parts[3]}
	}
	own := parts[0] == "self" || parts[0] == "thread-self"
	switch {
	case len(parts) == 3 && parts[1] == "fd":
		return "", true
	case len(parts) != 2:
		return "", false
	case parts[1] == "root" && own:
		return "/", true
	case parts[1] == "cwd" && own:
		return j.at, true
	case parts[1] == "root", parts[1] == "cwd", parts[1] == "map_files":
		return "", true
	}
	return "", false
}
