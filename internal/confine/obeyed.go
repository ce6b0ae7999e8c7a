package confine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/paths"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// obeyed collects what in directories that are written in place the operator's git runs or
// reads, for every repository that has to do with them: those in them and around them, with
// their linked worktrees, and also none at all, as for the operator's own configuration.
type obeyed struct {
	write  []string
	opened []string // what may be written all the same
	own    []string // .git entries and git directories: nothing in them can be written, or it is private
	held   []string // what is there, and the links that lead to it
	absent []absent
	around error          // a directory that is written lies in one that git runs programs from
	seen   map[string]int // absent, by path; -1: it was dealt with
}

// guard holds what is there of what the operator's git runs or obeys in the directories
// that are written, and notes what is not there and must not come to be. The .git entry
// own ("": none) is private to the command. Other commands may begin and end meanwhile, so
// their records are read before and after.
func (p *InPlace) guard(ctx context.Context, e *enclosure.Enclosure, own string) error {
	before, err := readPending()
	if err != nil {
		return err
	}
	hazards, err := worktree.FindHazards(e.Write, own)
	if err != nil {
		return &fault.RefusedError{Err: err}
	}
	if err := p.guardObeyed(ctx, e, hazards, own); err != nil {
		return err
	}
	after, err := readPending()
	if err != nil {
		return err
	}
	if err := p.ignorePending(append(before, after...), e, own); err != nil {
		return err
	}
	twins, err := hazards.Twins(e.Held)
	if err != nil {
		return &fault.RefusedError{Err: err}
	}
	e.Fixed = append(e.Fixed, twins...)
	return nil
}

// guardObeyed does this as if no other command ran.
func (p *InPlace) guardObeyed(ctx context.Context, e *enclosure.Enclosure, hazards worktree.Hazards, own string) error {
	p.Write, p.Partial, p.Known = e.Write, hazards.Partial, slices.Clone(hazards.Repositories)
	e.Fixed, e.Sockets = append(e.Fixed, hazards.Linked...), append(e.Sockets, hazards.Sockets...)
	e.Held = append(e.Held, hazards.Repositories...)
	if worksite.Exists(own) {
		p.Known = append(p.Known, own)
	}
	bin, err := git.Located(append(state.Written(), e.Write...)...)
	if errors.Is(err, git.ErrNoGit) {
		return nil // nobody's git obeys anything here
	}
	if err != nil {
		return err
	}
	o := obeyed{write: e.Write, opened: p.opened, own: p.Known, seen: map[string]int{}}
	entries := gitEntries(p.Known, e.Write)
	places := placesOf(p.Known, entries)
	every, each, err := bin.Remembering(state.Recalled).Settings(ctx, places...)
	if err != nil {
		return err
	}
	tops := slices.Clone(e.Write)
	for _, at := range entries {
		tops = append(tops, filepath.Dir(at)) // also when it leads nowhere yet
	}
	if err := seeAll(places, tops, every, each, o.add); err != nil {
		return err
	}
	o.addTargets(entries)
	if o.around != nil {
		return o.around
	}
	for _, at := range o.held {
		holdPath(e, at)
	}
	p.Absent, p.every = o.absent, every
	return nil
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

// add takes paths that a setting names. Where a link is on the way, it is held too.
func (o *obeyed) add(from git.Setting, paths ...string) {
	for _, p := range paths {
		if i, known := o.seen[p]; known {
			if i >= 0 && !from.Alias() {
				o.absent[i].Alias = false
			}
			continue
		}
		o.seen[p] = -1
		links, end := wayTo(p)
		for _, l := range links {
			if o.within(l) != "" {
				o.held = append(o.held, l)
			}
		}
		dir := o.within(end)
		if from.Programs() && o.around == nil {
			o.around = o.refuseProgramDir(end, from)
		}
		switch {
		case dir == "":
		case worksite.Exists(end):
			o.held = append(o.held, end)
		default:
			rest, _ := filepath.Rel(dir, end) // it is below
			o.seen[p] = len(o.absent)
			o.absent = append(o.absent, absent{Dir: dir, Rest: filepath.ToSlash(rest), Why: from.String(), Alias: from.Alias()})
		}
	}
}

// refuseProgramDir refuses to open what git runs programs from, unless somebody typed its name.
func (o *obeyed) refuseProgramDir(dir string, from git.Setting) error {
	for _, w := range o.write {
		if (w == dir || paths.Holding(w, []string{dir}) != "") && !slices.Contains(o.opened, w) {
			return fault.Refuse("%s lies in %s, which your git runs programs from (%s): the command could write them; if it may, open it with --write %s",
				w, dir, from, w)
		}
	}
	return nil
}

// within is the directory that is written and that a path lies in, "" for none. What lies
// in a git directory is kept there.
func (o *obeyed) within(path string) string {
	if paths.Holding(path, o.own) != "" || slices.Contains(o.own, path) || slices.Contains(o.opened, path) {
		return ""
	}
	return paths.Holding(path, o.write)
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
