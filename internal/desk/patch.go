// Package desk holds the parts of a desk that its faces share: the patch of a worker as rows, the
// signs and words of states, and the order of lists. It takes objects of package view and text.
//
// It refuses to read, decide and draw anything: it has no way to a file, a process or a network, and
// text of a worker's leaves it as it came in. A face makes it legible.
package desk

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/legible"
	"cordon/internal/view"
)

// File is a file of a patch, and what the audit says about it.
type File struct {
	Name    string
	Rule    string
	Class   string // of the finding: violation, landing, …; empty: none
	Kind    string
	Added   int
	Removed int
	Folded  bool   // a lock file, a large one or one that is full of what cannot be seen: one click or key away
	Old     string // object ID of the content that was there; empty: none
	New     string // of the content that is there now
	Rows    []Row
}

// Content names what a reader has seen who has seen the file.
func (f File) Content() string { return cmp.Or(f.New, f.Old) }

// Row is a line of a patch: what was there and what is there now.
type Row struct {
	Kind     byte // ' ' both, '~' changed, '-' or '+' one side, '@' the head of a hunk, '\\' a remark
	Old, New int  // numbers of lines; 0: none
	Was, Is  string
}

// chunk is how many rows are laid out at once: a browser skips chunks that are not in sight.
const chunk = 200

// Chunks are the rows in parts.
func (f File) Chunks() [][]Row { return slices.Collect(slices.Chunk(f.Rows, chunk)) }

// maxRows is how many rows of a patch a screen has.
const maxRows = 100_000

// foldAbove is from how many rows on a file is folded.
const foldAbove = 2000

// Files reads a patch as git writes it. What the findings say about a path comes first where it
// violates the lease. left is how many lines were too many.
func Files(patch string, found []view.Finding) (list []File, left int) {
	r := reader{}
	for line := range strings.Lines(patch) {
		r.line(strings.TrimSuffix(line, "\n"))
	}
	r.endFile()
	for i := range r.files {
		r.files[i].judge(found)
	}
	slices.SortStableFunc(r.files, func(a, b File) int { return cmp.Compare(a.rank(), b.rank()) })
	return r.files, r.left
}

func (f File) rank() int {
	if f.Class == "violation" {
		return 0
	}
	return 1
}

// judge takes over what the audit found at a file's path.
func (f *File) judge(found []view.Finding) {
	for _, one := range found {
		if string(one.Path) != f.Name || f.Class != "" && one.Class != "violation" {
			continue
		}
		f.Class, f.Rule, f.Kind = one.Class, one.Rule, one.Kind
	}
}

// reader reads a patch line by line.
type reader struct {
	files    []File
	rows     []Row
	removed  []string // lines that were taken out and wait for those that came instead
	added    []string
	old, new int
	hunk     bool
	open     bool
	total    int
	left     int
}

func (r *reader) line(s string) {
	switch {
	case strings.HasPrefix(s, "diff --git "):
		r.endFile()
		r.open, r.hunk = true, false
		r.files = append(r.files, File{Name: gitName(s)})
	case !r.open:
	case strings.HasPrefix(s, "@@ "):
		r.pair()
		r.hunk = true
		r.old, r.new = hunkStart(s)
		r.add(Row{Kind: '@', Was: s})
	case !r.hunk:
		r.head(s)
	case strings.HasPrefix(s, "-"):
		if len(r.added) > 0 {
			r.pair()
		}
		r.removed = append(r.removed, s[1:])
	case strings.HasPrefix(s, "+"):
		r.added = append(r.added, s[1:])
	case strings.HasPrefix(s, `\`):
		r.pair()
		r.add(Row{Kind: '\\', Was: s})
	default:
		r.pair()
		text := strings.TrimPrefix(s, " ")
		r.add(Row{Kind: ' ', Old: r.old, New: r.new, Was: text, Is: text})
		r.old++
		r.new++
	}
}

// head reads a line between the name of a file and its first hunk.
func (r *reader) head(s string) {
	f := &r.files[len(r.files)-1]
	for _, prefix := range []string{"--- a/", "+++ b/", `--- "a/`, `+++ "b/`, "rename to "} {
		if name, ok := strings.CutPrefix(s, prefix); ok {
			if strings.Contains(prefix, `"`) {
				name = unquote(`"` + name)
			}
			f.Name = strings.TrimSuffix(name, "\t")
			return
		}
	}
	switch {
	case strings.HasPrefix(s, "index "):
		f.Old, f.New = contents(s)
	case strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "+++ "):
	default:
		r.add(Row{Kind: '\\', Was: s}) // a mode, a rename, a binary file
	}
}

// pair puts lines that were taken out beside those that came instead.
func (r *reader) pair() {
	f := &File{}
	if len(r.files) > 0 {
		f = &r.files[len(r.files)-1]
	}
	f.Removed += len(r.removed)
	f.Added += len(r.added)
	for i := range max(len(r.removed), len(r.added)) {
		var row Row
		if i < len(r.removed) {
			row.Kind, row.Was, row.Old = '-', r.removed[i], r.old
			r.old++
		}
		if i < len(r.added) {
			row.Is, row.New = r.added[i], r.new
			r.new++
			if row.Kind = '+'; row.Old > 0 {
				row.Kind = '~'
			}
		}
		r.add(row)
	}
	r.removed, r.added = r.removed[:0], r.added[:0]
}

func (r *reader) add(row Row) {
	if r.total++; r.total > maxRows {
		r.left++
		return
	}
	r.rows = append(r.rows, row)
}

func (r *reader) endFile() {
	r.pair()
	if len(r.files) > 0 {
		f := &r.files[len(r.files)-1]
		f.Folded = len(r.rows) > foldAbove || generated(f.Name) || crowded(r.rows)
		f.Rows = r.rows
	}
	r.rows = nil
}

// crowded reports whether so many characters of a file cannot be seen that it is not shown unasked.
func crowded(rows []Row) bool {
	n := 0
	for _, row := range rows {
		for _, side := range []string{row.Was, row.Is} {
			parts := legible.Parts(side)
			for _, part := range parts {
				if part.Chip != "" {
					n++
				}
			}
			if n > foldAbove/2 || len(parts) > legible.MostParts {
				return true
			}
		}
	}
	return false
}

// generated knows files that programs write and people seldom read.
func generated(name string) bool {
	base := name[strings.LastIndex(name, "/")+1:]
	return slices.Contains([]string{
		"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.lock", "go.sum", "poetry.lock", "uv.lock", "composer.lock", "Gemfile.lock",
	}, base)
}

// gitName is the name in the first line of a file's part.
func gitName(s string) string {
	s = strings.TrimPrefix(s, "diff --git ")
	if i := strings.LastIndex(s, ` "b/`); i >= 0 {
		return unquote(`"` + s[i+4:])
	}
	if n := len(s) / 2; len(s)%2 == 1 && strings.HasPrefix(s, "a/") && s[n] == ' ' && s[2:n] == strings.TrimPrefix(s[n+1:], "b/") {
		return s[2:n]
	}
	return s[strings.LastIndex(s, " b/")+1:]
}

// unquote reads a name as git quotes it: as in C, with octal numbers.
func unquote(s string) string {
	if name, err := strconv.Unquote(s); err == nil {
		return name
	}
	return s
}

// contents are the object IDs in a line such as "index 1f2e..98c0 100644". One of zeros is none.
func contents(s string) (old, new string) {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "index "), " ")
	old, new, _ = strings.Cut(s, "..")
	if strings.Trim(old, "0") == "" {
		old = ""
	}
	if strings.Trim(new, "0") == "" {
		new = ""
	}
	return old, new
}

// hunkStart are the first lines of a hunk on both sides.
func hunkStart(s string) (old, new int) {
	for _, word := range strings.Fields(s) {
		number, _, _ := strings.Cut(word[1:], ",")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil:
		case word[0] == '-':
			old = n
		case word[0] == '+':
			return old, n
		}
	}
	return old, new
}
