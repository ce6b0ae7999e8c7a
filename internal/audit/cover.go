package audit

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// cover is a survey held over the base. Through a layer the base shows where
// nothing lies over it; a plain tree is a layer through which nothing does. Both
// are judged by the names that a worker, and later somebody else, would see.
type cover struct {
	survey *survey
	base   *git.Listing
	at     map[string]int    // path → its node
	shows  map[string]bool   // directory of the survey → the base's shows through it
	hidden []string          // what of the base does not show, or only below something
	gone   map[string]bool   // the layer's signs of removal
	repos  map[string]string // directory → why it is a repository; "." is the top
}

func newCover(s *survey, base *git.Listing) *cover {
	c := &cover{
		survey: s, base: base,
		at: make(map[string]int, len(s.nodes)), shows: map[string]bool{"": s.layer}, gone: map[string]bool{}, repos: map[string]string{},
	}
	for i, n := range s.nodes {
		c.at[n.path] = i
	}
	dirs := make([]string, 0, len(s.folders))
	for d := range s.folders {
		dirs = append(dirs, d)
	}
	slices.Sort(dirs) // those above first
	if !s.layer {
		c.hidden = []string{""}
	}
	for _, d := range dirs {
		c.folder(d, s.folders[d])
	}
	return c
}

// folder holds one directory over the base's.
func (c *cover) folder(d string, f *folder) {
	var under git.Dir
	if c.shows[d] {
		under = c.base.Dir(d)
	}
	for _, name := range f.gone {
		p := below(d, name)
		c.gone[p] = true
		if _, ok := under[name]; ok {
			c.hidden = append(c.hidden, p)
		}
	}
	for _, name := range f.names {
		c.name(below(d, name), under[name])
	}
	if why := c.repository(d, f, under); why != "" {
		c.repos[path.Join(".", d)] = why
	}
}

// name holds one name over what the base shows there.
func (c *cover) name(p string, under git.Entry) {
	f, isFolder := c.survey.folders[p]
	switch {
	case isFolder && under.Mode == git.Directory && !f.anew:
		c.shows[p] = true
	case isFolder && under.Mode != git.Absent, !isFolder && under.Mode == git.Directory:
		c.hidden = append(c.hidden, p)
	}
}

// repository says why a directory is one that git would take for a repository, by
// all names that are seen in it.
func (c *cover) repository(d string, f *folder, under git.Dir) string {
	names := slices.Clip(f.names)
	for name := range under {
		if _, over := slices.BinarySearch(f.names, name); !over && !c.gone[below(d, name)] {
			names = append(names, name)
		}
	}
	own := ""
	for _, name := range names {
		if DotGit(name) && (own == "" || name < own) {
			own = name
		}
	}
	if own != "" {
		return "it holds " + Path(own).String()
	}
	return Repository(names, func(name string) bool { return c.isFile(below(d, name), under[name]) })
}

// isFile reports whether a name that is seen is something else than a directory.
// What cannot be looked at counts as a file.
func (c *cover) isFile(p string, under git.Entry) bool {
	if _, ok := c.survey.folders[p]; ok {
		return false
	}
	if i, ok := c.at[p]; ok {
		return c.survey.nodes[i].kind() != unix.S_IFDIR
	}
	return under.Mode != git.Directory && under.Mode != git.Gitlink
}

// present reports whether the survey has something at a path that is no
// directory.
func (c *cover) present(p string) bool {
	_, ok := c.at[p]
	return ok
}

// hiddenFiles lists the files of the base that do not show, also those in whose
// place the survey has another.
func (c *cover) hiddenFiles() []git.File {
	var files []git.File
	var dirs []string
	for _, p := range c.hidden {
		switch e := c.base.Entry(p); e.Mode {
		case git.Directory:
			dirs = append(dirs, p)
		default:
			files = append(files, git.File{Path: p, Entry: e})
		}
	}
	files = append(files, c.base.Below(dirs...)...)
	slices.SortFunc(files, func(a, b git.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// target is where a link that is seen leads.
func (c *cover) target(p string, known map[git.OID]string) (string, bool) {
	if i, ok := c.at[p]; ok {
		return c.survey.nodes[i].target, c.survey.nodes[i].isLink()
	}
	if !c.showsThrough(p) {
		return "", false
	}
	e := c.base.File(p)
	if e.Mode != git.Symlink {
		return "", false
	}
	return targetOf(c.base, known, e.OID), true
}

// showsThrough reports whether the base is seen at a path that the survey has
// nothing at.
func (c *cover) showsThrough(p string) bool {
	above := prefixes(p)
	slices.Reverse(above)
	dir := ""
	for _, d := range above {
		if !c.shows[dir] || c.gone[d] || c.present(d) {
			return false
		}
		if _, ok := c.survey.folders[d]; !ok {
			return true // nothing lies over it, or below
		}
		dir = d
	}
	return false // a directory
}
