package git

import (
	"context"
	"fmt"
	"sort"
	"strings"
)

// Listing is the tree of a commit, read directory by directory when it is asked
// about: most questions are about a few directories of many. It has one git
// process for all of them and is not for more than one goroutine.
//
// A read that fails leaves nothing to go on with, and callers ask in places where
// an error would be in the way of the question. So the listing holds it: every
// answer after it is empty, and whoever used one asks Err before believing it.
type Listing struct {
	objects *objects
	root    OID
	dirs    map[string]Dir // by path
}

func newListing(o *objects, root OID) *Listing {
	return &Listing{objects: o, root: root, dirs: map[string]Dir{}}
}

// Dir is what a directory holds: files by their entries, directories by theirs.
type Dir map[string]Entry

// Listing opens the tree of a commit, or a tree. It must be closed.
func (r Repo) Listing(ctx context.Context, treeish OID) (*Listing, error) {
	o, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	return newListing(o, treeish), nil
}

// ListingOf is a listing of files that are known already.
func ListingOf(files []File) *Listing {
	o := &objects{trees: map[OID]Dir{"/": {}}}
	var directory func(path string) Dir
	directory = func(path string) Dir {
		name := OID("/" + path)
		if o.trees[name] == nil {
			o.trees[name] = Dir{}
			above, base := splitLast(path)
			directory(above)[base] = Entry{Mode: Directory, OID: name}
		}
		return o.trees[name]
	}
	for _, f := range files {
		above, base := splitLast(f.Path)
		directory(above)[base] = f.Entry
	}
	return newListing(o, "/")
}

func splitLast(path string) (above, base string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// At is another tree of the same repository, read by the same process.
func (l *Listing) At(treeish OID) *Listing { return newListing(l.objects, treeish) }

// Close ends the process.
func (l *Listing) Close() { l.objects.close() }

// Err is what went wrong. With it, no answer is to be believed.
func (l *Listing) Err() error { return l.objects.err }

// tree is a tree by its name; nil where it cannot be read.
func (l *Listing) tree(oid OID, suffix string) Dir {
	if dir, ok := l.objects.trees[oid]; ok {
		return dir
	}
	if l.objects.readTrees([]OID{oid}, suffix) != nil {
		return nil
	}
	return l.objects.trees[oid]
}

// Dir is a directory of the tree, "" the tree itself; nil where there is none.
// It must not be changed.
func (l *Listing) Dir(path string) Dir {
	dir, ok := l.dirs[path]
	if ok {
		return dir
	}
	if path == "" {
		dir = l.tree(l.root, treeOf)
	} else if e := l.Entry(path); e.Mode == Directory {
		dir = l.tree(e.OID, "")
	}
	if dir != nil {
		l.dirs[path] = dir
	}
	return dir
}

// Entry is what the tree holds at a path, which may be a directory.
func (l *Listing) Entry(path string) Entry {
	if path == "" {
		return Entry{Mode: Directory, OID: l.root}
	}
	if path[0] == '/' {
		return Entry{}
	}
	above, name := splitLast(path)
	return l.Dir(above)[name]
}

// File is the file, link or submodule at a path, and nothing where there is none.
func (l *Listing) File(path string) Entry {
	if e := l.Entry(path); e.Mode != Directory {
		return e
	}
	return Entry{}
}

// Load reads directories ahead, all of one level at once.
func (l *Listing) Load(dirs []string) {
	levels := map[int][]string{}
	deepest := 0
	for _, d := range dirs {
		depth := strings.Count(d, "/")
		levels[depth] = append(levels[depth], d)
		deepest = max(deepest, depth)
	}
	for depth := 0; depth <= deepest; depth++ {
		l.load(levels[depth])
	}
}

func (l *Listing) load(dirs []string) {
	oids := make([]OID, 0, len(dirs))
	for _, d := range dirs {
		if e := l.Entry(d); e.Mode == Directory && d != "" {
			oids = append(oids, e.OID)
		}
	}
	_ = l.objects.readTrees(oids, "") // held
}

// Below lists every file below some directories, in order of path.
func (l *Listing) Below(dirs ...string) []File {
	var files []File
	for level, depth := dirs, 0; len(level) > 0; depth++ {
		l.load(level)
		if len(files)+l.count(level) > maxFiles || depth > maxDepth {
			_ = l.objects.fail(fmt.Errorf("the tree %s is too large or too deep", l.root))
			return nil
		}
		var next []string
		for _, d := range level {
			for name, e := range l.Dir(d) {
				p := join(d, name)
				if e.Mode == Directory {
					next = append(next, p)
				} else {
					files = append(files, File{Path: p, Entry: e})
				}
			}
		}
		level = next
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	return files
}

// count is how many names some directories hold.
func (l *Listing) count(dirs []string) int {
	n := 0
	for _, d := range dirs {
		n += len(l.Dir(d))
	}
	return n
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Above lists the files of a name in the directories that lead to some paths,
// those above first.
func (l *Listing) Above(name string, paths []string) []File {
	var dirs []string
	seen := map[string]bool{}
	for _, p := range paths {
		for d, _ := splitLast(p); !seen[d]; d, _ = splitLast(d) {
			seen[d] = true
			dirs = append(dirs, d)
		}
	}
	sort.Strings(dirs)
	l.Load(dirs)
	var files []File
	for _, d := range dirs {
		p := join(d, name)
		if e := l.File(p); e.Mode != Absent {
			files = append(files, File{Path: p, Entry: e})
		}
	}
	return files
}

// All lists every file.
func (l *Listing) All() []File { return l.Below("") }

// Blob returns the content of a blob that is no longer than limit.
func (l *Listing) Blob(oid OID, limit int64) ([]byte, error) {
	blobs, err := l.objects.readBlobs([]OID{oid}, limit)
	if err != nil {
		return nil, err
	}
	b, ok := blobs[oid]
	if !ok {
		return nil, fmt.Errorf("%s is %w: not a blob of at most %d bytes", oid, ErrNoFile, limit)
	}
	return b, nil
}

// Links returns the content of small blobs, for the targets of links, as
// Repo.Links does. Where it failed they are empty, and the listing has an error.
func (l *Listing) Links(oids []OID) map[OID]string {
	blobs, _ := l.objects.readBlobs(oids, MaxLink) // held
	links := map[OID]string{}
	for oid, b := range blobs {
		links[oid] = string(b)
	}
	return links
}
