package audit

import (
	"path"
	"strings"

	"cordon/internal/git"
	"cordon/internal/policy"
)

// maxLinks is how many links one path may pass through, as in the kernel.
const maxLinks = 40

// anyName stands for any name at the top of the tree. No policy lists it.
const anyName = "a name that nobody gave to anything"

// leadsOut says why a symbolic link does not stay inside the write_roots, or "".
// It is resolved component by component on the tree that would land, never on the
// disk: lookup gives the target of every other link, and leaving the top at any
// step counts, even when the path comes back.
func leadsOut(link string, lookup func(string) (string, bool), rules Judge) string {
	final, why := follow(link, lookup)
	if why != "" {
		return why
	}
	if final == "." {
		if rules.Judge(anyName).Class == policy.Landing {
			return ""
		}
		return "it leads to the top of the tree, outside the write_roots"
	}
	if v := rules.Judge(final); v.Class != policy.Landing {
		return "it leads to " + Path(final).String() + ": " + v.Rule
	}
	return ""
}

// Follow resolves a path of a tree through its links: lookup gives their targets.
// It says why that leads nowhere in the tree, or "".
func Follow(path string, lookup func(string) (string, bool)) (final, why string) {
	return follow(path, lookup)
}

func follow(link string, lookup func(string) (string, bool)) (final, why string) {
	todo := splitPath(link)
	at := "."
	for hops := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			if at == "." {
				return "", "it leads out of the tree"
			}
			at = path.Dir(at)
			continue
		case DotGit(name):
			return "", "it leads into .git"
		}
		at = path.Join(at, name)
		target, ok := lookup(at)
		if !ok {
			continue
		}
		if hops++; hops > maxLinks {
			return "", "it passes through too many links"
		}
		if strings.HasPrefix(target, "/") {
			return "", "its target is absolute: " + Path(target).String()
		}
		todo = append(splitPath(target), todo...)
		at = path.Dir(at)
	}
	return at, ""
}

// bent finds the links that nobody touched and that leave the tree now, because
// a link on their way was changed. It returns why.
func bent(links []string, changed map[string]bool, lookup func(string) (string, bool)) map[string]string {
	out := map[string]string{}
	if len(changed) == 0 {
		return out
	}
	for _, link := range links {
		if changed[link] {
			continue
		}
		through := ""
		_, why := follow(link, func(p string) (string, bool) {
			if changed[p] {
				through = p
			}
			return lookup(p)
		})
		if why != "" && through != "" {
			out[link] = why + ", by way of " + Path(through).String()
		}
	}
	return out
}

// changedLinks are the paths at which a link appeared, changed or went.
func changedLinks(list []Change) map[string]bool {
	changed := map[string]bool{}
	for _, ch := range list {
		if !ch.Ignored && (ch.Old.Mode == git.Symlink || ch.New.Mode == git.Symlink) {
			changed[string(ch.Path)] = true
		}
	}
	return changed
}

// bentChanges are bent links as changes. Only when a link changed does anybody
// have to know all of them.
func bentChanges(list []Change, after *outcome, lookup func(string) (string, bool)) []Change {
	changed := changedLinks(list)
	if len(changed) == 0 {
		return nil
	}
	links := after.allLinks()
	out := bent(links, changed, lookup)
	var more []Change
	for _, p := range links {
		if why, ok := out[p]; ok {
			target, _ := lookup(p)
			e := after.file(p)
			more = append(more, Change{Path: Path(p), Kind: LinkOut, Old: e, New: e, Target: Path(target), Detail: why})
		}
	}
	return more
}
