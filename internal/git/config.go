package git

import (
	"context"
	"path/filepath"
	"strings"

	"cordon/internal/gitfile"
)

// Steering is what steers git in a checkout when it is not told to leave it alone.
type Steering struct {
	Hooks  string                       // where core.hooksPath of the checkout's own configuration takes hooks from; "": it is not set
	Files  []string                     // that this configuration is read from, those that others include among them
	Values map[string]map[string]string // file → key → its values in the file, one after the other
}

// Steering reads the configuration of a checkout, that of a linked worktree included.
func (r Repo) Steering(ctx context.Context, c Checkout) (Steering, error) {
	values, err := r.configured(ctx, c)
	if err != nil {
		return Steering{}, err
	}
	hooks := values.last["core.hookspath"]
	if hooks != "" && !filepath.IsAbs(hooks) {
		hooks = filepath.Join(c.Top, hooks)
	}
	return Steering{Hooks: hooks, Files: values.files, Values: values.inFile}, nil
}

// configuration is what a checkout's own files say. The command line's settings
// are ours and left out.
type configuration struct {
	last   map[string]string
	files  []string
	inFile map[string]map[string]string
}

func (r Repo) configured(ctx context.Context, c Checkout) (configuration, error) {
	ask := func() ([]byte, error) {
		return r.bin.run(ctx, call{
			dir: c.GitDir, repo: []string{"--git-dir=" + c.GitDir},
			args: []string{"config", "--includes", "--show-origin", "-z", "--list"},
		})
	}
	out, err := []byte(nil), error(nil)
	if r.asked != nil {
		out, err = r.recall(&r.asked.said.configs, c.GitDir, gitfile.OfConfig(r.Dir, c.GitDir), ask)
	} else {
		out, err = ask()
	}
	if err != nil {
		return configuration{}, err
	}
	values := configuration{last: map[string]string{}, inFile: map[string]map[string]string{}}
	recs := lines(out)
	for i := 0; i+1 < len(recs); i += 2 {
		file, ok := strings.CutPrefix(recs[i], "file:")
		if !ok {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.GitDir, file)
		}
		if values.inFile[file] == nil {
			values.inFile[file] = map[string]string{}
			values.files = append(values.files, file)
		}
		key, value, _ := strings.Cut(recs[i+1], "\n")
		values.last[strings.ToLower(key)] = value
		values.inFile[file][key] += value + "\x00"
	}
	return values, nil
}
