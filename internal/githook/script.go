package githook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/git"
)

// runners are commands that run programs, scripts or settings of the directory they are
// called for.
var runners = []string{
	"npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "node_modules", "lint-staged", "husky", "lefthook", "pre-commit", "prek", "overcommit",
	"simple-git-hooks", "commitlint", "make", "gmake", "ninja", "just", "task", "rake", "bundle", "bundler", "go", "cargo", "mvn", "gradle", "ant", "bazel",
	"tox", "nox", "poetry", "pipenv", "uv", "pdm", "hatch", "composer", "captainhook", "mix", "sbt", "dotnet", "deno", "direnv", "mise", "nix",
}

// shells are interpreters whose scripts cordon reads word by word.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}

// script checks the interpreter of a script, and what the script names.
func (c *checker) script(path, text string, depth int) error {
	first, body, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(first, "#!")
	if !ok && depth == 0 {
		return errors.New("it has no #! line")
	}
	language := "sh" // of a file that a script reads
	if ok {
		var err error
		if language, err = c.interpreter(line); err != nil {
			return err
		}
	} else {
		body = text
	}
	if slices.Contains(shells, language) {
		return c.shell(path, body, depth)
	}
	return c.other(body)
}

// interpreter checks the program of a #! line, and returns its name. A name behind env is
// looked for on the hook's PATH.
func (c *checker) interpreter(line string) (string, error) {
	words := strings.Fields(line)
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return "", fmt.Errorf("its interpreter %q is not an absolute path", strings.TrimSpace(line))
	}
	at := words[0]
	if filepath.Base(at) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
		if len(words) == 0 {
			return "", errors.New("its #! line names no interpreter")
		}
		if at = c.find(words[0]); at == "" {
			return "", fmt.Errorf("its interpreter %s is not on the PATH outside of trees", words[0])
		}
	}
	name := strings.TrimRight(filepath.Base(at), "0123456789.")
	return name, c.place(at, false)
}

// find looks a command up on the hook's PATH; "": it is not there.
func (c *checker) find(name string) string {
	for _, dir := range filepath.SplitList(c.path) {
		at := filepath.Join(dir, name)
		if fi, err := os.Stat(at); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// shell checks the words of a shell script.
func (c *checker) shell(path, text string, depth int) error {
	for _, w := range git.ScriptWords(text) {
		if err := c.word(path, w, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) word(path string, w git.Word, depth int) error {
	text := git.Homed(w.Text)
	called := w.Command || w.Place
	switch {
	case text == "":
		return nil
	case called && slices.Contains(runners, filepath.Base(strings.Fields(text + " x")[0])):
		return fmt.Errorf("it calls %s, which runs programs or obeys settings of a checkout", strings.Fields(text)[0])
	case filepath.IsAbs(text):
		return c.named(text, called, depth)
	case strings.HasPrefix(text, "$"):
		return c.computed(path, text, called, depth)
	case strings.Contains(text, "/") && called, w.Absent:
		return c.relative(text)
	case w.Command:
		if at := c.find(text); at != "" {
			return c.named(at, true, depth)
		}
	}
	return nil
}

// named checks an absolute path: it may not lead into a tree, and if it is called it is
// checked like the hook.
func (c *checker) named(path string, called bool, depth int) error {
	if c.inTree(path) {
		return inside(path)
	}
	if fi, err := os.Stat(path); err != nil || !called || !fi.Mode().IsRegular() {
		return nil
	}
	return c.program(path, depth+1)
}

// relative refuses a name that a checkout has, wherever the script thinks it is.
func (c *checker) relative(name string) error {
	below := strings.Trim(filepath.Clean("/"+name), "/")
	for _, top := range c.tops {
		if _, err := os.Lstat(filepath.Join(top, below)); err == nil && below != "" {
			return fmt.Errorf("it names %s, which lies in the checkout %s", name, top)
		}
	}
	return nil
}

// computed checks a path behind a value that only the shell knows: "$ROOT/scripts/check". It
// may lie beside the script, and not in a checkout. A variable that cordon knows too was
// replaced in another reading of the script.
func (c *checker) computed(path, text string, called bool, depth int) error {
	first, rest, below := strings.Cut(text, "/")
	name := strings.TrimPrefix(first, "$")
	_, known := os.LookupEnv(name)
	known = known && !strings.HasSuffix(name, "PWD") && !strings.HasSuffix(name, "PATH")
	rest = strings.Trim(filepath.Clean("/"+rest), "/")
	if !below || !called || known || rest == "" {
		return nil
	}
	beside := filepath.Join(filepath.Dir(path), rest)
	if fi, err := os.Stat(beside); err == nil && fi.Mode().IsRegular() {
		return c.named(beside, true, depth)
	}
	return c.relative(rest)
}

// other checks a script of another language: every text in it that can be a path, and
// quoted names of runners.
func (c *checker) other(text string) error {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") {
			continue
		}
		for _, name := range runners {
			if strings.Contains(line, `"`+name+`"`) || strings.Contains(line, `'`+name+`'`) {
				return fmt.Errorf("it names %s, which runs programs or obeys settings of a checkout", name)
			}
		}
		for _, tree := range c.trees { // whatever characters are in its name
			if _, rest, named := strings.Cut(line, tree+"/"); named && !strings.HasPrefix(rest, ".git/") {
				return inside(tree)
			}
		}
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t;|&()<>`'\"{}\\[],=", r) }) {
			if err := c.part(git.Homed(part)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) part(text string) error {
	switch {
	case filepath.IsAbs(text):
		return c.named(text, false, 0)
	case strings.Contains(text, "/"):
		return c.relative(text)
	}
	return nil
}
