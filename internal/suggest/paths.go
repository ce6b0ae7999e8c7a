package suggest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// outsideRule is what a policy says of a path that only a write root is missing for.
const outsideRule = "outside write_roots"

// Bounds of what is proposed: a long list is no lease.
const (
	mostRoots    = 5
	leastRuns    = 3 // runs that are needed to propose less than the whole tree
	leastInPlace = 2 // files of a directory for which the directory is proposed
)

// output proposes scratch for ignored output that a run left outside the write roots.
func (c *collector) output() {
	for _, f := range c.run.Findings {
		if !f.Ignored || f.Source != "" || f.Class != audit.Violation && f.Class != audit.Note {
			continue
		}
		if c.rules.JudgeIgnored(string(f.Path)).Class != policy.Violation {
			continue // meanwhile the policy has it
		}
		if dir := c.untracked(string(f.Path)); dir != "" && plain(strings.TrimPrefix(dir, "**/")) && !slices.Contains(c.policy.Filesystem.Scratch, dir) {
			c.add(Line{Key: scratch, Value: dir, Reason: c.run.ID + " left ignored output there"})
		}
	}
}

// untracked is the directory nearest to the top, above a path, that holds nothing that the
// base commit tracks. It is "" where only the file itself is untracked.
func (c *collector) untracked(p string) string {
	parts := strings.Split(p, "/")
	for i := 1; i < len(parts); i++ {
		dir := strings.Join(parts[:i], "/")
		if c.run.Tracked[dir] {
			continue
		}
		if parts[i-1] == "node_modules" || parts[i-1] == "__pycache__" {
			return "**/" + parts[i-1]
		}
		return dir
	}
	return ""
}

// widen proposes write roots for paths that only a root was missing for.
func (c *collector) widen(runs []Run) {
	files := map[string][]Run{} // directory → runs
	byDir := map[string][]string{}
	for _, r := range runs {
		for _, f := range r.Findings {
			p := string(f.Path)
			if f.Class != audit.Violation || f.Ignored || f.Source != "" || !f.Kind.Landable() || !strings.Contains(f.Rule, outsideRule) || !plain(p) ||
				!strings.Contains(c.rules.Judge(p).Rule, outsideRule) { // meanwhile the policy has it
				continue
			}
			dir := path.Dir(p)
			if !slices.Contains(byDir[dir], p) {
				byDir[dir] = append(byDir[dir], p)
			}
			files[dir] = append(files[dir], r)
		}
	}
	places := map[string][]Run{}
	for dir, list := range byDir {
		if dir != "." && len(list) >= leastInPlace {
			places[dir] = files[dir]
			continue
		}
		for _, p := range list {
			places[p] = files[dir]
		}
	}
	for len(places) > mostRoots && fold(places) {
	}
	for p, from := range places {
		if within(p, places) {
			continue
		}
		for _, r := range from {
			c.run = r
			c.add(Line{Key: roots, Value: p, Reason: r.ID + " changed it"})
		}
	}
}

// fold puts the deepest places into the directories above them, and reports whether there
// was one.
func fold(places map[string][]Run) bool {
	deepest := 0
	for p := range places {
		deepest = max(deepest, strings.Count(p, "/"))
	}
	if deepest == 0 {
		return false
	}
	for p, runs := range places {
		if strings.Count(p, "/") == deepest {
			delete(places, p)
			places[path.Dir(p)] = append(places[path.Dir(p)], runs...)
		}
	}
	return true
}

// within reports whether a place lies in another one.
func within(p string, places map[string][]Run) bool {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if _, ok := places[d]; ok {
			return true
		}
	}
	return false
}

// narrow proposes less than the whole tree, where several runs wrote in a few directories.
func (c *collector) narrow(runs []Run) {
	if !slices.Equal(c.policy.Filesystem.WriteRoots, []string{"."}) {
		return
	}
	tops, wrote := map[string]bool{}, 0
	for _, r := range runs {
		landed := false
		for _, f := range r.Findings {
			if f.Class != audit.Landing || f.Source != "" || f.New.Mode == git.Absent && f.Old.Mode == git.Absent {
				continue
			}
			top, _, inside := strings.Cut(string(f.Path), "/")
			if !inside || !plain(top) {
				return // a file at the top: the whole tree is in use
			}
			tops[top], landed = true, true
		}
		if landed && !r.Quarantined {
			wrote++
		}
	}
	if wrote < leastRuns || len(tops) > mostRoots {
		return
	}
	reason := fmt.Sprintf("%d runs wrote only in %d directories", wrote, len(tops))
	c.run = Run{ID: runs[0].ID}
	c.add(Line{Key: roots, Value: ".", Remove: true, Reason: reason})
	for top := range tops {
		c.add(Line{Key: roots, Value: top, Reason: reason})
	}
}

// plain reports whether a path can be written into a policy as it is.
func plain(p string) bool {
	for _, r := range p {
		if r < ' ' || r == 0x7f || strings.ContainsRune("*?[]{}\\!$~@\"'`#:,&|<>%", r) || r == '\uFFFD' {
			return false
		}
	}
	return p != "" && p != "." && !strings.HasPrefix(p, "-") && !strings.HasPrefix(p, " ") && !strings.HasSuffix(p, " ")
}
