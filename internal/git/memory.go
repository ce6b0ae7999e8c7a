package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"cordon/internal/gitfile"
)

// Memory keeps what a program answered to a question, for as long as the program is the same
// file. A question holds everything that the answer depends on: the text that git reads, not
// only its name.
type Memory func(program, question string, ask func() (string, error)) (string, error)

// errUnasked says that a question has no answer yet that may be kept.
var errUnasked = errors.New("not known")

// Remembering is git with a memory that outlives this program.
func (b Binary) Remembering(m Memory) Binary {
	b.memory = m
	return b
}

func (b Binary) remember(question string, ask func() (string, error)) (string, error) {
	if b.memory == nil {
		return ask()
	}
	return b.memory(b.Path, question, ask)
}

// parsedBefore is what git said of the text of a configuration file, and what keeps it.
func (b Binary) parsedBefore(text []byte) (said [][2]string, known bool) {
	answer, err := b.remember("config\n"+string(text), func() (string, error) { return "", errUnasked })
	return said, err == nil && json.Unmarshal([]byte(answer), &said) == nil
}

// learnParsed keeps what git said of a text.
func (b Binary) learnParsed(text []byte, said []Setting) {
	list := [][2]string{}
	for _, s := range said {
		list = append(list, [2]string{s.Key, s.Value})
	}
	_, _ = b.remember("config\n"+string(text), func() (string, error) { // it is asked again where this fails
		answer, err := json.Marshal(list)
		return string(answer), err
	})
}

// rememberSame asks unless everything that the answer depends on is as it was. What changed
// while git looked is not kept. Where the question is not known, git is asked each time.
func (b Binary) rememberSame(question func() (string, bool), ask func() (string, error)) (string, error) {
	q, ok := question()
	if !ok {
		return ask()
	}
	answer, err := b.remember(q, func() (string, error) {
		answer, err := ask()
		if again, _ := question(); err == nil && again != q {
			err = errUnasked
		}
		return answer, err
	})
	if errors.Is(err, errUnasked) {
		return ask()
	}
	return answer, err
}

// everywhereQuestion is all that the answer depends on: the variables, and the text of the
// files. Git knows where that of the system lies.
func (b Binary) everywhereQuestion(ctx context.Context) (string, bool) {
	if b.memory == nil || runtime.GOOS != "linux" { // elsewhere git reads more files
		return "", false
	}
	env := fmt.Sprintf("%q", operatorEnviron())
	system, err := b.remember("system\n"+env, func() (string, error) { return b.systemFile(ctx) })
	if err != nil || !filepath.IsAbs(system) {
		return "", false
	}
	question := "everywhere\n" + env
	files := []string{system, filepath.Join(os.Getenv("HOME"), ".gitconfig"), filepath.Join(configHome(), "git", "config")}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		if at := os.Getenv(name); at != "" {
			files = append(files, at)
		}
	}
	return gitfile.Texts(question, maxConfig, files...)
}

// systemFile is the configuration file of the system, which git names whether it is there or not.
func (b Binary) systemFile(ctx context.Context) (string, error) {
	out, err := b.run(ctx, call{
		operator: true, repo: []string{"--git-dir=/nonexistent"},
		args: []string{"config", "--system", "--no-includes", "--show-origin", "-z", "--list"},
	})
	if err == nil {
		first, _, _ := strings.Cut(string(out), "\x00")
		file, ok := strings.CutPrefix(first, "file:")
		if !ok {
			return "none", nil // it has no settings, so git does not name it
		}
		return file, nil
	}
	_, quoted, ok := strings.Cut(err.Error(), "unable to read config file '")
	if file, _, closed := strings.Cut(quoted, "': No such file or directory"); ok && closed {
		return file, nil
	}
	return "", errUnasked
}

// discoverQuestion is all that the discovery of a repository depends on, where that is plain.
func (b Binary) discoverQuestion(dir string) (string, bool) {
	if b.memory == nil || runtime.GOOS != "linux" {
		return "", false
	}
	texts, ok := gitfile.Discovery(dir, maxConfig)
	return fmt.Sprintf("discover\n%q\n%s", environ(), texts), ok
}
