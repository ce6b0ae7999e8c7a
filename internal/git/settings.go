package git

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

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

// operatorVariables decide which configuration the operator's git reads.
var operatorVariables = []string{
	"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
}

// programVariables name programs that git runs, or files that it believes, beside
// those that begin with GIT_.
var programVariables = []string{"PAGER", "EDITOR", "VISUAL", "SSH_ASKPASS", "LESSOPEN", "LESSCLOSE", "BROWSER"}

// Settings lists what the operator's git obeys in a checkout: the files of the
// repository, of the operator and of the system, what these include, also under a
// condition that does not hold now, and the variables of the environment. Listing a
// configuration runs nothing that it says.
func (r Repo) Settings(ctx context.Context, c Checkout) ([]Setting, error) {
	list, err := r.list(ctx, c, "--git-dir="+c.GitDir)
	if err != nil {
		return nil, err
	}
	read := map[string]bool{}
	for _, one := range list {
		read[one.Origin] = true
	}
	for i := 0; i < len(list); i++ { // it grows
		if i >= maxSettings {
			return nil, fmt.Errorf("your git configuration has more than %d settings, which cordon does not read", maxSettings)
		}
		file, ok := list[i].Included()
		if !ok || read[file] || !isFile(file) {
			continue
		}
		read[file] = true
		more, err := r.list(ctx, c, "", "--file", file)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return append(append(list, environment()...), places(c, list)...), nil
}

// maxSettings bounds what includes can add.
const maxSettings = 20000

func (r Repo) list(ctx context.Context, c Checkout, repo string, from ...string) ([]Setting, error) {
	k := call{
		dir: c.GitDir, operator: true,
		args: append([]string{"config", "--includes", "--show-origin", "-z", "--list"}, from...),
	}
	if repo != "" {
		k.repo = []string{repo}
	}
	out, err := r.bin.run(ctx, k)
	if err != nil {
		return nil, err
	}
	var list []Setting
	recs := lines(out)
	for i := 0; i+1 < len(recs); i += 2 {
		s := Setting{}
		s.Key, s.Value, _ = strings.Cut(recs[i+1], "\n")
		if file, ok := strings.CutPrefix(recs[i], "file:"); ok {
			if s.Origin = file; !filepath.IsAbs(file) {
				s.Origin = filepath.Join(c.GitDir, file)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// Included is the file that a setting includes.
func (s Setting) Included() (string, bool) {
	section, _, last := s.parts()
	if last != "path" || section != "include" && section != "includeif" {
		return "", false
	}
	file := Homed(s.Value)
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(s.Origin), file)
	}
	return filepath.Clean(file), true
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
	return filepath.Join(home, rest)
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

// places are the files that git reads without being told to, and those that settings
// were read from: any of them can be a link into a tree.
func places(c Checkout, from []Setting) []Setting {
	home := os.Getenv("HOME")
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	files := []string{filepath.Join(home, ".gitconfig"), "/etc/gitconfig", "/etc/gitattributes"}
	for _, name := range []string{"config", "attributes", "ignore"} {
		files = append(files, filepath.Join(config, "git", name))
	}
	for _, name := range []string{"config", "config.worktree", "info", "info/attributes", "info/exclude", "hooks"} {
		files = append(files, filepath.Join(c.GitDir, name))
	}
	for _, s := range from {
		if s.Origin != "" && !slices.Contains(files, s.Origin) {
			files = append(files, s.Origin)
		}
	}
	var list []Setting
	for _, f := range files {
		list = append(list, Setting{Key: filesKey, Value: f, Origin: f})
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
