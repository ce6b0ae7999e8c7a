package confine

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/paths"
	"cordon/internal/worksite"
)

// namedFile is a path of the tree that the operator's git runs or obeys.
type namedFile struct {
	rel string // from the top of a checkout
	why string // the setting that names it
}

// filesGitRuns lists what lies in one of the host's checkouts and is run or read by the
// operator's git there, or in a submodule. The rule is general: any word of any setting
// that leads into the tree counts, unless the key's values are known to be inert.
func filesGitRuns(ctx context.Context, s *worksite.Site) ([]namedFile, error) {
	checkouts, err := s.Host.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	f := finder{host: s.Host, seen: map[string]bool{}}
	var places []git.Place
	for _, c := range checkouts {
		f.tops = append(f.tops, c.Top, resolveLinks(c.Top))
		if !c.Prunable { // otherwise it is gone
			p := gitfile.PlaceOf(c.Top, c.GitDir)
			places = append(append(places, p), p.Modules()...)
		}
	}
	slices.Sort(f.tops)
	f.tops = slices.Compact(f.tops)
	every, each, err := s.Bin.Settings(ctx, places...)
	if err != nil {
		return nil, err
	}
	err = seeAll(places, nil, every, each, f.add)
	return f.found, err
}

// finder collects the places in checkouts that settings name.
type finder struct {
	tops  []string
	host  git.Host
	seen  map[string]bool
	found []namedFile
}

func (f *finder) add(from git.Setting, paths ...string) {
	for _, p := range paths {
		if f.seen[p] {
			continue
		}
		f.seen[p] = true
		for _, rel := range insideAny(p, f.tops) {
			if !slices.ContainsFunc(f.found, func(s namedFile) bool { return s.rel == rel }) {
				f.found = append(f.found, namedFile{rel: rel, why: f.describe(from)})
			}
		}
	}
}

// describe names a setting as the operator knows it, and tells a worker no path of the host.
func (f *finder) describe(from git.Setting) string {
	if rel, err := filepath.Rel(f.host.Dir, from.Origin); err == nil && filepath.IsLocal(rel) {
		from.Origin = filepath.Join(".git", rel)
	} else if rel, err := filepath.Rel(os.Getenv("HOME"), from.Origin); err == nil && filepath.IsLocal(rel) {
		from.Origin = "~/" + rel
	} else if in := insideAny(from.Origin, f.tops); len(in) > 0 {
		from.Origin = in[0]
	}
	return from.String()
}

// seeAll looks at what holds everywhere in each place, and in further directories, and at
// what each place says beside that.
func seeAll(places []git.Place, tops []string, every []git.Setting, each [][]git.Setting, add func(git.Setting, ...string)) error {
	v := viewed{words: map[string][]git.Word{}, add: add, search: searchedIn("PATH", places, tops)}
	v.shadow(git.Setting{Key: "PATH"}, oftenRun()...)
	if dirs := searchedIn(libraryPath, places, tops); len(dirs) > 0 {
		shadowLibraries(dirs, add)
	}
	for i, p := range places {
		mine := []string{p.Top}
		for _, s := range each[i] {
			if s.Worktree() {
				mine = append(mine, joinPath(p.GitDir, s.Value))
			}
		}
		if err := v.visitSettings(each[i], mine); err != nil {
			return err
		}
		tops = append(tops, mine...)
		if i > 0 && p.Common == places[i-1].Common {
			continue // a worktree linked to the one before
		}
		hooks, err := linkedHooks(filepath.Join(p.Common, "hooks"))
		if err != nil {
			return err
		}
		add(git.Setting{Key: "a hook", Origin: p.Common}, hooks...)
	}
	slices.Sort(tops)
	return v.visitSettings(every, slices.Compact(tops))
}

// viewed remembers the words of settings that were looked at once: those that can mean
// something else in another checkout.
type viewed struct {
	words  map[string][]git.Word
	add    func(git.Setting, ...string)
	search []string // directories of PATH that lie in a tree
}

// visitSettings looks at settings in checkouts.
func (v *viewed) visitSettings(settings []git.Setting, tops []string) error {
	for _, s := range settings {
		key := s.Key + "\n" + s.Value
		words, again := v.words[key]
		if !again {
			words = s.Words()
			v.words[key] = relativeWords(s, words)
			v.shadow(s, commandsOnPath(s, words)...)
		}
		for _, top := range tops {
			paths, err := settingPaths(s, words, top)
			words = v.words[key]
			if err != nil {
				return err
			}
			v.add(s, paths...)
		}
	}
	return nil
}

// relativeWords are the words of a setting that can mean something else in each checkout.
// A command without a slash is found on PATH, and that takes long in a hundred of them.
func relativeWords(s git.Setting, words []git.Word) []git.Word {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			return words
		}
	}
	return slices.DeleteFunc(slices.Clone(words), func(w git.Word) bool {
		return !w.Place && !w.Absent && (w.Command || plainAlias(s)) && !strings.Contains(w.Text, "/")
	})
}

func joinPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// settingPaths lists the paths that words of a setting can mean to a git in a checkout.
func settingPaths(from git.Setting, words []git.Word, top string) ([]string, error) {
	if file, detours, ok := from.Included(); ok {
		return append(detours, file), nil
	}
	if from.Hooks() && filepath.Clean(from.Value) == "." {
		return hooksAt(top), nil
	}
	var list []string
	for _, w := range words {
		paths := wordPaths(w, from, top)
		list = append(list, paths...)
		if !from.Hooks() {
			continue
		}
		for _, dir := range paths {
			hooks, err := linkedHooks(dir)
			if err != nil {
				return nil, err
			}
			list = append(list, hooks...)
		}
	}
	return list, nil
}

// hooksAt lists the hooks that git looks for in a directory that holds other files too.
func hooksAt(dir string) []string {
	var list []string
	for name := range strings.FieldsSeq(`applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit
		prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update
		proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite
		sendemail-validate fsmonitor-watchman p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change`) {
		list = append(list, filepath.Join(dir, name))
	}
	return list
}

// wordPaths lists the paths that a word can mean to a git in a checkout.
func wordPaths(w git.Word, from git.Setting, top string) []string {
	text := w.Text
	if !w.Exact {
		text = strings.TrimLeft(text, "!@+|")
	}
	if text == "" || strings.ContainsRune(text, 0) {
		return nil
	}
	if !strings.Contains(text, "/") {
		return bareWord(w, text, from, top)
	}
	var list []string
	for _, at := range spellings(w, text, top) {
		fixed, open := at.rest, false
		if i := strings.IndexAny(fixed, openings); i >= 0 && !w.Exact {
			fixed, open = strings.TrimRight(fixed[:strings.LastIndexByte("/"+fixed[:i], '/')], "/"), true
		}
		absent := at.sure && absentCounts(w, fixed, from)
		p, detours := git.Straight(at.base + "/" + fixed)
		switch {
		case open && paths.Within(top, p):
			list = append(list, globNow(at)...)
		case open && opens(p, w, from, absent), !open && standsForFile(p, w, from, absent):
			list = append(append(list, detours...), p)
		}
	}
	return list
}

// openings are characters that a shell puts other text in the place of.
const openings = "$*?[{`"

// standsForFile reports whether a word stands for a file, or for a directory where one is meant.
func standsForFile(p string, w git.Word, from git.Setting, absent bool) bool {
	fi, err := os.Stat(p)
	switch {
	case err != nil:
		return absent
	case fi.IsDir():
		return w.Place // nothing executes a directory
	}
	return !plainAlias(from) || w.Place || fi.Mode()&0o111 != 0 // otherwise a file that an alias is about
}

// opens reports whether a word stands for something in a directory that only a shell finds
// out. What an alias is about is typed by the operator.
func opens(dir string, w git.Word, from git.Setting, absent bool) bool {
	executed := w.Command || w.Place
	fi, err := os.Stat(dir)
	if err != nil {
		return absent && executed
	}
	return fi.IsDir() && (executed || !from.Alias())
}

// globNow lists what a pattern at the top of the tree matches now.
func globNow(at spelling) []string {
	found, err := fs.Glob(os.DirFS(at.base), at.rest)
	if err != nil || strings.ContainsAny(at.rest, "${`") {
		return nil
	}
	for i, name := range found {
		found[i] = filepath.Join(at.base, name)
	}
	return found
}

// plainAlias is an alias for a command of git's own: its words are revisions and paths.
func plainAlias(s git.Setting) bool {
	return s.Alias() && !strings.HasPrefix(strings.TrimSpace(s.Value), "!")
}

// absentCounts reports whether a path that does not exist is meant as one: the worker
// could make it.
func absentCounts(w git.Word, text string, from git.Setting) bool {
	switch {
	case w.Exact:
		return !strings.HasPrefix(text, "%(")
	case strings.ContainsAny(text, unwritable+"\n%^<>\"'") || strings.Contains(text, "://") || strings.HasPrefix(text, "//"):
		return false
	case strings.ContainsAny(text, " \t"):
		return w.Command // a word of its own in quotes
	case strings.HasSuffix(text, "/") && !w.Place: // no program
		return false
	}
	return w.Place || w.Command || !from.Alias()
}

// bareWord is a word without a slash: a command that is found on PATH, or a file at
// the top of the tree that a command is told of. A name that nothing in the tree has
// is taken for an ordinary word, unless an interpreter would run it.
func bareWord(w git.Word, text string, from git.Setting, top string) []string {
	at := filepath.Join(top, text)
	fi, err := os.Stat(at)
	switch {
	case text == "." || text == "..":
		return nil
	case w.Place && err == nil, w.Absent && absentCounts(w, text, from):
		return []string{at}
	case w.Command || plainAlias(from):
		return onPath(text, top)
	case err == nil && fi.Mode().IsRegular(), !from.Alias() && isScript(text) && absentCounts(w, text, from):
		return []string{at}
	}
	return nil
}

// isScript reports whether a name is that of a script, which an interpreter is told of
// after options that cordon does not know.
func isScript(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".zsh", ".py", ".pl", ".rb", ".js", ".mjs", ".cjs", ".ts", ".lua", ".php", ".awk", ".tcl"}, filepath.Ext(name))
}

// onPath lists where a command is found: what PATH finds may be a link into the tree,
// or PATH may lead there.
func onPath(name, top string) []string {
	var list []string
	for _, name := range []string{name, "git-" + name, "git-credential-" + name} {
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(top, dir)
			}
			var st unix.Stat_t // most are not there, and os.Stat makes an error of each
			if unix.Stat(dir+"/"+name, &st) == nil && uint32(st.Mode)&unix.S_IFMT == unix.S_IFREG {
				list = append(list, filepath.Join(dir, name))
			}
		}
	}
	return list
}

// spelling is a path that a word with a slash can stand for.
type spelling struct {
	base string // an existing directory
	rest string
	sure bool // it says this path: it counts also when nothing lies there
}

// spellings are the paths that a word can stand for. An unknown variable before it may be
// the top of the tree.
func spellings(w git.Word, text, top string) []spelling {
	dir, rest := anchorDir(text, top, w.Exact)
	head, behind, _ := strings.Cut(rest, "/")
	switch {
	case strings.Contains(head, "%(") || strings.Contains(head, "$") && !w.Exact:
		for strings.HasPrefix(behind, "../") {
			behind = behind[len("../"):]
		}
		if behind == "" {
			return nil
		}
		return []spelling{{"/", behind, false}, {top, behind, false}}
	case head == "":
		return []spelling{{"/", rest[1:], !strings.HasPrefix(rest, "//")}, {top, rest[1:], false}}
	case w.Exact && !w.Place && dir != top: // not every git knows ~ before every program
		return []spelling{{dir, rest, true}, {top, text, true}}
	}
	return []spelling{{dir, rest, true}}
}

// anchorDir finds the directory that a path begins with. The output of a command is taken
// for the top of the tree, as in $(git rev-parse --show-toplevel)/tools/x.
func anchorDir(text, top string, exact bool) (dir, rest string) {
	head, rest, _ := strings.Cut(text, "/")
	switch {
	case exact:
	case head == "$()" || head == "$PWD" || head == "$GIT_WORK_TREE":
		return top, strings.TrimLeft(rest, "/")
	case head == "$HOME":
		head = "~"
	}
	if home := git.Homed(head + "/"); home != head+"/" {
		return strings.TrimRight(home, "/"), strings.TrimLeft(rest, "/")
	}
	return top, text
}

// resolveLinks follows the links of a path as far as it exists.
func resolveLinks(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	if dir := filepath.Dir(p); dir != p {
		return filepath.Join(resolveLinks(dir), filepath.Base(p))
	}
	return p
}
