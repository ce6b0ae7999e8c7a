package git

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/gitfile"
)

// Place is a directory in which git obeys the configuration of a repository.
type Place = gitfile.Place

// Setting is one value of the configuration that the operator's own git obeys.
type Setting struct {
	Key    string // in lower case, but for a subsection
	Value  string
	Origin string // the file it stands in; "": the environment
}

// String says where a value stands.
func (s Setting) String() string {
	if s.Origin == "" {
		return s.Key + " of the environment"
	}
	return s.Key + " in " + s.Origin
}

// operatorVariables decide which configuration the operator's git reads, and as whom sudo runs it.
var operatorVariables = []string{
	"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "SUDO_UID",
}

// programVariables name programs that git runs, or files that it believes, beside
// those that begin with GIT_, and files that programs load that git or a prompt starts.
var programVariables = []string{
	"PAGER", "EDITOR", "VISUAL", "SSH_ASKPASS", "BROWSER", "MANPAGER", "DELTA_PAGER", "LESSOPEN", "LESSCLOSE", "LESSKEYIN", "LESSKEY", "GNUPGHOME",
	"LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "ENV", "PERL5OPT", "PYTHONSTARTUP", "RUBYOPT", "NODE_OPTIONS",
}

// Settings lists what the operator's git obeys in a checkout: the files of the
// repository, of the operator and of the system, what these include, also under a
// condition that does not hold now, and the variables of the environment. Listing a
// configuration runs nothing that it says.
func (r Repo) Settings(ctx context.Context, c Checkout) ([]Setting, error) {
	every, each, err := r.bin.Settings(ctx, gitfile.PlaceOf(c.Top, c.GitDir))
	if err != nil {
		return nil, err
	}
	return append(each[0], every...), nil
}

// Settings lists what the operator's git obeys everywhere, and what it obeys beside that
// in each of some places. The number of git processes does not depend on theirs.
func (b Binary) Settings(ctx context.Context, at ...Place) (every []Setting, each [][]Setting, err error) {
	var files []string
	for _, p := range at {
		files = append(files, p.Configs()...)
	}
	read := configs{bin: b, says: map[string][]Setting{}}
	done := make(chan error, 1)
	go func() { done <- read.follow(ctx, files) }()
	every, err = b.everywhere(ctx)
	if err = errors.Join(<-done, err); err == nil {
		err = read.follow(ctx, included(every))
	}
	if err != nil {
		return nil, nil, err
	}
	every = append(every, read.all(included(every))...)
	every = append(append(every, environment()...), operatorFiles(every)...)
	for _, p := range at {
		own := read.all(p.Configs())
		each = append(each, append(own, readAt(p, own)...))
	}
	return every, each, nil
}

// askEverywhere lists what the files of the operator and of the system say, and the
// variables that hand settings to git.
func (b Binary) askEverywhere(ctx context.Context) ([]Setting, error) {
	out, err := b.rememberSame(func() (string, bool) { return b.everywhereQuestion(ctx) }, func() (string, error) {
		out, err := b.run(ctx, call{
			operator: true, repo: []string{"--git-dir=/nonexistent"},
			args: []string{"config", "--no-includes", "--show-origin", "-z", "--list"},
		})
		return string(out), err
	})
	if err != nil {
		return nil, err
	}
	var list []Setting
	recs := lines([]byte(out))
	for i := 0; i+1 < len(recs); i += 2 {
		s := Setting{}
		s.Key, s.Value, _ = strings.Cut(recs[i+1], "\n")
		s.Origin, _ = strings.CutPrefix(recs[i], "file:")
		if !filepath.IsAbs(s.Origin) {
			s.Origin = "" // the environment
		}
		list = append(list, s)
	}
	return list, nil
}

// Included is the file that a setting includes, and the directories before a .. on the way
// to it.
func (s Setting) Included() (file string, detours []string, ok bool) {
	section, _, last := s.parts()
	if last != "path" || section != "include" && section != "includeif" {
		return "", nil, false
	}
	file = Homed(s.Value)
	if !filepath.IsAbs(file) {
		file = filepath.Dir(s.Origin) + "/" + file
	}
	file, detours = Straight(file)
	return file, detours, true
}

// Straight takes every .. out of an absolute path as the kernel does: a .. behind a link leads
// to where the link's target lies. It also lists the directories before each .., because
// a link in the place of one of them would lead elsewhere.
func Straight(path string) (straight string, detours []string) {
	straight = "/"
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case name == "" || name == ".":
		case name != "..":
			straight = filepath.Join(straight, name)
		case straight != "/":
			detours = append(detours, straight)
			straight = above(straight)
		}
	}
	return straight, detours
}

// above is the directory that .. leads to.
func above(dir string) string {
	up := filepath.Dir(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return up
	}
	if same, err := filepath.EvalSymlinks(up); err == nil && same == filepath.Dir(real) {
		return up
	}
	return filepath.Dir(real)
}

// Homed replaces ~ and ~USER at the beginning of a path.
func Homed(file string) string {
	name, rest, below := strings.Cut(file, "/")
	name, tilde := strings.CutPrefix(name, "~")
	if !tilde || !below {
		return file
	}
	home := os.Getenv("HOME")
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return file
		}
		home = u.HomeDir
	}
	return home + "/" + rest
}

// parts of a key: section, subsection and name.
func (s Setting) parts() (section, sub, last string) {
	first, final := strings.IndexByte(s.Key, '.'), strings.LastIndexByte(s.Key, '.')
	if first < 0 {
		return "", "", strings.ToLower(s.Key)
	}
	if first < final {
		sub = s.Key[first+1 : final]
	}
	return strings.ToLower(s.Key[:first]), sub, strings.ToLower(s.Key[final+1:])
}

// Worktree reports whether the value is where the files of a repository lie.
func (s Setting) Worktree() bool { return s.is([]string{"core.worktree"}) }

// Programs reports whether the value is a directory that git runs programs from, or
// copies hooks from.
func (s Setting) Programs() bool {
	return s.is([]string{"core.hookspath", "init.templatedir", "git_template_dir", "git_exec_path"})
}

// environment lists the variables that git obeys. Those that hand it settings are
// listed by git.
func environment() []Setting {
	var list []Setting
	for _, kv := range os.Environ() {
		key, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(key, "GIT_CONFIG") || !strings.HasPrefix(key, "GIT_") && !slices.Contains(programVariables, key) {
			continue
		}
		list = append(list, Setting{Key: key, Value: value})
	}
	return list
}

// filesKey is the key of the files that git reads without being told to.
const filesKey = "files.git.reads"

// operatorFiles are the files that git reads everywhere without being told to, and those
// that settings were read from: any of them can be a link into a tree.
func operatorFiles(from []Setting) []Setting {
	files := []string{filepath.Join(os.Getenv("HOME"), ".gitconfig"), "/etc/gitconfig", "/etc/gitattributes"}
	for _, name := range []string{"config", "attributes", "ignore"} {
		files = append(files, filepath.Join(configHome(), "git", name))
	}
	files = append(files, os.Getenv("GIT_CONFIG_GLOBAL"), os.Getenv("GIT_CONFIG_SYSTEM"))
	return readFrom(files, from)
}

// configHome is the directory of the operator's configuration files.
func configHome() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".config")
}

// readAt are the same of a place, as far as they can lie anywhere else than in its git
// directory.
func readAt(p Place, from []Setting) []Setting {
	var files []string
	for _, dir := range []string{p.GitDir, p.Common} {
		real, err := filepath.EvalSymlinks(dir)
		moved := err != nil || real != dir || isLink(filepath.Join(dir, "info"))
		for _, name := range []string{"config", "config.worktree", "info", "info/attributes", "info/exclude", "hooks"} {
			if at := filepath.Join(dir, name); moved || isLink(at) {
				files = append(files, at)
			}
		}
	}
	from = slices.DeleteFunc(slices.Clone(from), func(s Setting) bool { return slices.Contains(p.Configs(), s.Origin) })
	return readFrom(files, from)
}

func isLink(path string) bool {
	_, err := os.Readlink(path)
	return err == nil
}

func readFrom(files []string, from []Setting) []Setting {
	for _, s := range from {
		files = append(files, s.Origin)
	}
	var list []Setting
	known := map[string]bool{"": true}
	for _, f := range files {
		if !known[f] {
			known[f] = true
			list = append(list, Setting{Key: filesKey, Value: f, Origin: f})
		}
	}
	return list
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// operatorEnviron is the environment in which git finds the operator's configuration.
func operatorEnviron() []string {
	env := slices.DeleteFunc(environ(), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.Contains(operatorVariables, key)
	})
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		if slices.Contains(operatorVariables, key) || strings.HasPrefix(key, "GIT_CONFIG_KEY_") || strings.HasPrefix(key, "GIT_CONFIG_VALUE_") {
			env = append(env, kv)
		}
	}
	return env
}
