package confine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/paths"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// obeyed collects what in directories the operator's git runs or reads, for every repository that
// has to do with them: those in them and around them, with their linked worktrees, and also none
// at all, as for the operator's own configuration.
type obeyed struct {
	dirs   []string
	opened []string // what somebody named: it is the command's
	known  []string // .git entries and git directories: what is in them counts with them
	named  map[string]named
	every  []git.Setting // what the operator's git obeys in any repository
}

// named is a path that something makes the operator's git run or read.
type named struct {
	why   string
	alias bool // only when the operator types a name, and nothing is there
}

// isRepository is why nothing is written in a git directory.
const isRepository = "your git obeys what is in a repository of yours"

// findObeyed finds it as it is now. The .git entry own ("": none) is private to the command.
func findObeyed(ctx context.Context, dirs, opened []string, own string) (obeyed, error) {
	o := obeyed{dirs: dirs, opened: opened, named: map[string]named{}}
	known, err := worktree.FindRepositories(dirs, own)
	if err != nil {
		return o, err
	}
	if worksite.Exists(own) {
		known = append(known, own)
	}
	o.known = known
	for _, at := range known {
		o.named[at] = named{why: isRepository}
	}
	o.addStarted()
	bin, err := git.Located(append(state.Written(), dirs...)...)
	if errors.Is(err, git.ErrNoGit) {
		return o, nil // nobody's git obeys anything here
	}
	if err != nil {
		return o, err
	}
	entries := gitEntries(known, dirs)
	places := placesOf(known, entries)
	every, each, err := bin.Remembering(state.Recalled).Settings(ctx, places...)
	if err != nil {
		return o, err
	}
	o.every = every
	tops := slices.Clone(dirs)
	for _, at := range entries {
		tops = append(tops, filepath.Dir(at)) // also when it leads nowhere yet
	}
	if err := seeAll(places, tops, every, each, o.add); err != nil {
		return o, err
	}
	o.addTargets(entries)
	return o, nil
}

// gitEntries lists the .git entries among repositories, and those in and above directories.
func gitEntries(repositories, dirs []string) []string {
	list := slices.DeleteFunc(slices.Clone(repositories), func(at string) bool { return filepath.Base(at) != ".git" })
	for _, dir := range dirs {
		for up := dir; ; up = filepath.Dir(up) {
			if at := filepath.Join(up, ".git"); worksite.Exists(at) && !slices.Contains(list, at) {
				list = append(list, at)
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	return list
}

// placesOf lists where git finds a repository: the bare ones among repositories, those that
// entries lead to, and the worktrees linked to these.
func placesOf(repositories, entries []string) []git.Place {
	var list []git.Place
	add := func(p git.Place) {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, at := range repositories {
		if filepath.Base(at) != ".git" {
			add(gitfile.PlaceOf("", at))
		}
	}
	for _, at := range entries {
		if p, ok := gitfile.PlaceAt(at); ok {
			add(p)
		}
	}
	for _, p := range slices.Clone(list) {
		for _, other := range append(p.Linked(), p.Modules()...) {
			add(other)
		}
	}
	return list
}

// addTargets takes what .git files and links lead to, unless that is a repository that was
// found: git would take what comes to be there for one.
func (o *obeyed) addTargets(entries []string) {
	for _, at := range entries {
		from := git.Setting{Key: "the entry .git", Origin: filepath.Dir(at)}
		o.add(from, at)
		if to := gitfile.NamedBy(at); to != "" {
			o.add(from, to)
		}
	}
}

// add takes paths that a setting names.
func (o *obeyed) add(from git.Setting, paths ...string) {
	for _, p := range paths {
		o.take(p, "your git would run or obey it ("+from.String()+")", from.Programs(), from.Alias())
	}
}

// take takes a path that something of the operator's runs or reads, and the links on the way to it: whole, also if
// the directories lie in it.
func (o *obeyed) take(path, why string, whole, alias bool) {
	links, end := wayTo(path)
	for _, at := range append(links, end) {
		if !o.within(at) && !(whole && at == end && o.around(at)) {
			continue
		}
		typed := alias && !worksite.Exists(at)
		if was, found := o.named[at]; !found || was.alias && !typed {
			o.named[at] = named{why: why, alias: typed}
		}
	}
}

// within reports whether a path lies in one of the directories, and is none that somebody named.
func (o *obeyed) within(path string) bool {
	return paths.Holding(path, o.dirs) != "" && paths.Holding(path, o.known) == "" && !slices.Contains(o.opened, path)
}

// around reports whether one of the directories that nobody named lies in a path.
func (o *obeyed) around(path string) bool {
	return slices.ContainsFunc(o.dirs, func(dir string) bool { return paths.Within(dir, path) && !slices.Contains(o.opened, dir) })
}

// first is the first of the paths that the operator's git runs or reads.
func (o *obeyed) first() (path, why string) {
	for at, n := range o.named {
		if !n.alias && (path == "" || at < path) {
			path, why = at, n.why
		}
	}
	return path, why
}

// kernelLinks is how many links the kernel follows on one way.
const kernelLinks = 40

// wayTo goes to a path as far as it exists. It returns the links on the way, and where
// that ends, without a link in it.
func wayTo(path string) (links []string, end string) {
	end = "/"
	rest := strings.Split(filepath.Clean(path), "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			end = filepath.Dir(end)
			continue
		}
		at := filepath.Join(end, name)
		to, err := os.Readlink(at)
		if err != nil || len(links) >= kernelLinks {
			end = at
			continue
		}
		links = append(links, at)
		if filepath.IsAbs(to) {
			end = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return links, end
}

// ObeyedAnywhere returns what says what is there in a new repository that the operator's own configuration
// names from its top, such as a core.hooksPath of .githooks; "" for nothing. What it names
// by .. lies beside the repository, and counts in directories that the command wrote. A link on the
// way counts: somebody could put something behind it later.
// The words of the settings are found once, when the first repository is looked at: there
// may be thousands.
func ObeyedAnywhere(every []git.Setting, write []string) func(top string) string {
	every = slices.DeleteFunc(slices.Clone(every), git.Setting.Alias) // runs only when the operator types a name
	find := sync.OnceValue(func() []relative {
		var list []relative
		for _, s := range every {
			r := relative{setting: s, words: relativeWords(s, s.Words())}
			r.fixed, r.err = settingPaths(s, r.words, nowhere)
			list = append(list, r)
		}
		return list
	})
	return func(top string) string {
		for _, r := range find() {
			if r.obeysIn(top, write) {
				return r.setting.String()
			}
		}
		return ""
	}
}

// nowhere is the top of no checkout.
const nowhere = "/nonexistent/checkout"

// relative is a setting with words that can mean something else in each checkout.
type relative struct {
	setting git.Setting
	words   []git.Word
	fixed   []string // what it names from everywhere: the command could not write that
	err     error
}

func (r relative) obeysIn(top string, write []string) bool {
	named, err := settingPaths(r.setting, r.words, top)
	if err != nil || r.err != nil {
		return true
	}
	return slices.ContainsFunc(named, func(p string) bool {
		beside := paths.Holding(p, write) != "" && !slices.Contains(r.fixed, p)
		if !paths.Below(p, top) && !beside || paths.Within(top, p) { // a directory around it is none of these
			return false
		}
		links, end := wayTo(p)
		return worksite.Exists(end) || slices.ContainsFunc(links, func(l string) bool { return paths.Below(l, top) || paths.Holding(l, write) != "" })
	})
}
