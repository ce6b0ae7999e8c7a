package guard

import (
	"io/fs"
	"strings"
)

// The bounds of a look for links. A tree that is larger is judged by its top: who
// walks it through its links is the cell's business then.
const (
	maxDeep    = 4000
	deepLevels = 12
)

// deep judges a walk that follows links: one below the directory that leads to
// another tree is walked too.
func (j *judge) deep(w where) finding {
	if w.unknown || j.placeOf(w) != Own {
		return finding{verdict: Allow}
	}
	left := maxDeep
	if link, ok := j.leadsOut(w.path, deepLevels, &left); ok {
		return finding{
			verdict: Deny, reason: "that follows " + shown(j.scope.relative(link)) + ", a link that leads out of your worktree",
			instead: "drop the option that follows links, or name the directories you mean",
		}
	}
	return finding{verdict: Allow}
}

// leadsOut finds a link below a directory that leads to another tree.
func (j *judge) leadsOut(dir string, levels int, left *int) (string, bool) {
	entries, err := j.scope.files().ReadDir(dir)
	if err != nil || levels == 0 {
		return "", false
	}
	for _, e := range entries {
		if *left--; *left < 0 {
			return "", false
		}
		at := dir + "/" + e.Name()
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			if w := j.follow(at); w.outside || j.foreign(w) || j.placeOf(w) == Home {
				return at, true
			}
		case e.IsDir() && !strings.HasPrefix(e.Name(), ".git"):
			if link, ok := j.leadsOut(at, levels-1, left); ok {
				return link, true
			}
		}
	}
	return "", false
}
