package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/testground"
)

// A mutant is one change that breaks one promise. It names its place by the text that it replaces, so that
// code can move; how deep the code is indented does not count either.
type mutant struct {
	area, name, breaks string
	test               test
	hangs              bool // a test that times out has caught it
	old, new           string
}

// A test is one test or part of one, named exactly: TestScripts/net_block.
type test struct {
	pkg, name string
	size      testground.Size
}

func (t test) fast() bool { return t.size == testground.Fast }

func (t test) String() string { return strings.TrimSpace(t.pkg + " " + t.name + " " + string(t.size)) }

// sized returns the test with the size that sizes.txt gives it or a test that it is a part of.
func (t test) sized(rows []testground.Row) test {
	for _, r := range rows {
		if "./"+r.Folder == t.pkg && (r.Test == t.name || strings.HasPrefix(t.name, r.Test+"/")) {
			t.size = r.Size
		}
	}
	return t
}

// readMutants reads all files of the directory but its README. The file's name is the area.
func readMutants(dir string) ([]*mutant, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	rows, err := testground.Rows()
	if err != nil {
		return nil, err
	}
	var all []*mutant
	seen := map[string]bool{}
	for _, file := range files {
		if file.Name() == "README" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		read, err := parse(file.Name(), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		for _, m := range read {
			if seen[m.name] {
				return nil, fmt.Errorf("two mutants are named %s", m.name)
			}
			seen[m.name] = true
			m.test = m.test.sized(rows)
		}
		all = append(all, read...)
	}
	return all, nil
}

// parse reads the mutants of one area. Each begins with "=== NAME"; "--- old" and "--- new" begin its texts.
func parse(area, text string) ([]*mutant, error) {
	var all []*mutant
	var m *mutant
	var into *[]string
	var before, after []string
	end := func() error {
		if m == nil {
			return nil
		}
		m.old, m.new = strings.TrimSpace(strings.Join(before, "\n")), strings.TrimSpace(strings.Join(after, "\n"))
		before, after, into = nil, nil, nil
		return m.complete()
	}
	for at, line := range strings.Split(text, "\n") {
		name, begins := strings.CutPrefix(line, "=== ")
		key, value, isKey := strings.Cut(line, ": ")
		switch {
		case begins:
			if err := end(); err != nil {
				return nil, err
			}
			m = &mutant{area: area, name: name}
			all = append(all, m)
		case m == nil:
			if line != "" {
				return nil, fmt.Errorf("line %d stands before the first mutant", at+1)
			}
		case line == "--- old":
			into = &before
		case line == "--- new":
			into = &after
		case into != nil:
			*into = append(*into, line)
		case line == "hang":
			m.hangs = true
		case isKey && key == "breaks":
			m.breaks = value
		case isKey && key == "test" && m.test.name == "":
			if _, err := fmt.Sscan(value, &m.test.pkg, &m.test.name); err != nil {
				return nil, fmt.Errorf("line %d: a test is named as PACKAGE TEST", at+1)
			}
		case line != "":
			return nil, fmt.Errorf("line %d is neither breaks, hang nor the one test", at+1)
		}
	}
	return all, end()
}

func (m *mutant) complete() error {
	switch {
	case m.old == "" || m.old == m.new:
		return fmt.Errorf("%s changes nothing", m.name)
	case m.breaks == "":
		return fmt.Errorf("%s breaks no promise", m.name)
	case m.test.name == "":
		return fmt.Errorf("%s names no test", m.name)
	}
	return nil
}

// tree has the files that a mutant may change: everything that is compiled or embedded into a program.
type tree struct {
	root  string
	files map[string]string
}

func readTree(root string) (tree, error) {
	t := tree{root, map[string]string{}}
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return filepath.SkipDir
			case !entry.Type().IsRegular(), strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			t.files[path] = string(text)
			return err
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// find returns the one file that has the mutant's text, and where in it.
func (m *mutant) find(t tree) (path string, from, to int, err error) {
	lines := strings.Split(m.old, "\n")
	for i, line := range lines {
		lines[i] = regexp.QuoteMeta(strings.TrimSpace(line))
	}
	pattern := regexp.MustCompile(strings.Join(lines, `[ \t]*\n[ \t]*`))
	found := 0
	for file, text := range t.files {
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			path, from, to = file, at[0], at[1]
			found++
		}
	}
	switch found {
	case 0:
		return "", 0, 0, errors.New("its text is gone: find what keeps the promise now, and write the mutant anew")
	case 1:
		return path, from, to, nil
	}
	return "", 0, 0, fmt.Errorf("its text occurs %d times", found)
}

// dir returns the directory of the package that the mutant changes.
func (m *mutant) dir(t tree) string {
	path, _, _, _ := m.find(t)
	dir := filepath.Dir(path)
	for { // an embedded file may lie deeper than its package
		if sources, _ := filepath.Glob(filepath.Join(dir, "*.go")); len(sources) > 0 || dir == t.root {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// write writes the changed file and an overlay that puts it in place. It returns the overlay.
func (m *mutant) write(t tree, scratch string) (string, error) {
	path, from, to, err := m.find(t)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(scratch, m.name+filepath.Ext(path))
	text := t.files[path]
	if err := os.WriteFile(changed, []byte(text[:from]+m.new+text[to:]), 0o644); err != nil {
		return "", err
	}
	overlay := filepath.Join(scratch, m.name+".json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, replace, 0o644)
}

// check looks whether the text occurs once and the test exists. A part of a test is known only when it runs.
func (m *mutant) check(t tree) error {
	if _, _, _, err := m.find(t); err != nil {
		return err
	}
	name, _, _ := strings.Cut(m.test.name, "/")
	declares := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	files, err := filepath.Glob(filepath.Join(t.root, m.test.pkg, "*_test.go"))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && declares.Match(text)
	}) {
		return fmt.Errorf("there is no test %s in %s", name, m.test.pkg)
	}
	return nil
}
