package git

import (
	"context"
	"path/filepath"
	"strings"
)

// Steering is what steers git in a checkout when it is not told to leave it
// alone: where core.hooksPath of the checkout's own configuration, a linked
// worktree's included, takes hooks from ("" when it is not set), and the files
// that this configuration is read from, those that others include among them.
func (r Repo) Steering(ctx context.Context, c Checkout) (hooks string, files []string, err error) {
	values, err := r.configured(ctx, c)
	if err != nil {
		return "", nil, err
	}
	hooks = values.last["core.hookspath"]
	if hooks != "" && !filepath.IsAbs(hooks) {
		hooks = filepath.Join(c.Top, hooks)
	}
	return hooks, values.files, nil
}

// configuration is what a checkout's own files say. The command line's settings
// are ours and left out.
type configuration struct {
	last  map[string]string
	files []string
}

func (r Repo) configured(ctx context.Context, c Checkout) (configuration, error) {
	out, err := r.bin.run(ctx, call{
		dir: c.GitDir, repo: []string{"--git-dir=" + c.GitDir},
		args: []string{"config", "--includes", "--show-origin", "-z", "--list"},
	})
	if err != nil {
		return configuration{}, err
	}
	values := configuration{last: map[string]string{}}
	seen := map[string]bool{}
	recs := lines(out)
	for i := 0; i+1 < len(recs); i += 2 {
		file, ok := strings.CutPrefix(recs[i], "file:")
		if !ok {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.GitDir, file)
		}
		if !seen[file] {
			seen[file] = true
			values.files = append(values.files, file)
		}
		key, value, _ := strings.Cut(recs[i+1], "\n")
		values.last[strings.ToLower(key)] = value
	}
	return values, nil
}
