package audit

import (
	"path"
	"strings"

	"cordon/internal/policy"
)

// maxLinks is how many links one path may pass through, as in the kernel.
const maxLinks = 40

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
		if rules.Judge("x").Class == policy.Landing {
			return ""
		}
		return "it leads to the top of the tree, outside the write_roots"
	}
	if v := rules.Judge(final); v.Class != policy.Landing {
		return "it leads to " + Path(final).String() + ": " + v.Rule
	}
	return ""
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
		case isDotGit(name):
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
