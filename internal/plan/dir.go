package plan

import (
	"fmt"
	"path"
	"strings"

	"cordon/internal/policy"
)

// located: the directory in which the commands of a stage run is there, or this stage or an earlier one can
// make it. It never lies behind a link: nobody could tell from the plan what the commands look at.
func located(p Permit, in Surroundings) (problem, hint string) {
	dir := p.Stage.Dir
	for at := dir; at != "."; at = path.Dir(at) {
		if in.Link != nil && in.Link(at) {
			return fmt.Sprintf("its directory %s lies behind the link %s", dir, at), "name the directory that the link leads to"
		}
	}
	if dir != "." && !in.Has(dir) && len(policy.Overlap([]string{dir}, in.made)) == 0 {
		return "the base commit has no directory " + dir + ", and no stage before it can make it", "correct the path"
	}
	return "", ""
}

// Doubts are sentences about stages that run their commands in a directory in which they may change nothing. In a
// loom document all paths of a stage begin at that directory; in a plan's own form they begin at the top.
func Doubts(permits []Permit) (notes []string) {
	for _, p := range permits {
		s := p.Stage
		if s.Dir == "." || !s.Writes() || len(policy.Overlap(s.Write, []string{s.Dir})) > 0 {
			continue
		}
		meant := make([]string, len(s.Write))
		for i, root := range s.Write {
			meant[i] = path.Join(s.Dir, root)
		}
		notes = append(notes, fmt.Sprintf("%s runs its commands in %s and may change nothing there: write begins at the top of the tree (did you mean write: [%s]?)",
			s.ID, s.Dir, strings.Join(meant, ", ")))
	}
	return notes
}
