package internal

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	named   = regexp.MustCompile("`((?:internal|cmd|docs|deploy|bench|release|tools|\\.ci)/[\\w./-]+)`")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// Every relative link of a document leads to a file, and to a heading if it names one.
// Every file of this repository that a document names exists.
func TestDocumentsLead(t *testing.T) {
	root := os.DirFS("..")
	for _, doc := range documents(t) {
		text, err := fs.ReadFile(root, doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range broken(root, doc, string(text)) {
			t.Errorf("%s: %s", doc, p)
		}
	}
}

// Every document that a message or a comment of the program names exists.
func TestNamedDocumentsExist(t *testing.T) {
	page, found := regexp.MustCompile(`docs/[a-z_/]+\.md`), 0
	for _, dir := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || e.Name() == "demo.go" {
				return err // demo.go writes a repository with docs of its own
			}
			text, err := os.ReadFile(p)
			for _, name := range page.FindAllString(string(text), -1) {
				found++
				if _, err := os.Stat(filepath.Join("..", name)); err != nil {
					t.Errorf("%s names %s: %v", p, name, err)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no document is named, so the search is broken")
	}
}

// The README stays short enough to be read.
func TestReadmeIsShort(t *testing.T) {
	info, err := os.Stat("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 8<<10 {
		t.Errorf("README.md has %d bytes; at most %d: move details to docs/", info.Size(), 8<<10)
	}
}

// DESIGN.md says of every package what it does and what it refuses.
func TestDesignNamesPackages(t *testing.T) {
	text, err := os.ReadFile("../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range layers {
		short, inside := strings.CutPrefix(name, "internal/")
		if !inside || strings.Contains(short, "/") {
			continue
		}
		if !strings.Contains(string(text), "\n| `"+short+"` |") {
			t.Errorf("DESIGN.md has no row for %s", name)
		}
	}
}

// The control: a document with mistakes is reported, each one once.
func TestBrokenLinksAreFound(t *testing.T) {
	const text = "# One\n[a](README.md) [b](missing.md) [c](#one) [d](#two) [e](DESIGN.md#terms) [f](DESIGN.md#nothing)\n" +
		"[g](https://example.com) `internal/arch_test.go` `internal/missing.go`\n```\n[h](missing.md)\n```\n"
	found := broken(os.DirFS(".."), "SAMPLE.md", text)
	if len(found) != 4 {
		t.Errorf("found %d of 4 mistakes: %q", len(found), found)
	}
}

// documents are the Markdown files of the repository.
func documents(t *testing.T) []string {
	var docs []string
	for _, dir := range []string{"..", "../docs", "../deploy"} {
		err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && dir == ".." && p != "..":
				return fs.SkipDir
			case strings.HasSuffix(p, ".md"):
				docs = append(docs, strings.TrimPrefix(filepath.ToSlash(p), "../"))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(docs) < 5 {
		t.Fatalf("only %d documents: %q", len(docs), docs)
	}
	return docs
}

// broken is what a document names and the repository does not have.
func broken(root fs.FS, doc, text string) (problems []string) {
	prose := fence.ReplaceAllString(text, "")
	for _, m := range link.FindAllStringSubmatch(prose, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if err := follow(root, doc, text, m[1]); err != nil {
			problems = append(problems, fmt.Sprintf("the link %s leads nowhere: %v", m[1], err))
		}
	}
	for _, m := range named.FindAllStringSubmatch(prose, -1) {
		if _, err := fs.Stat(root, strings.TrimSuffix(m[1], "/")); err != nil {
			problems = append(problems, fmt.Sprintf("it names %s: %v", m[1], err))
		}
	}
	return problems
}

// follow finds the file and the heading of a link.
func follow(root fs.FS, doc, text, target string) error {
	file, anchor, _ := strings.Cut(target, "#")
	if file != "" {
		at := path.Join(path.Dir(doc), file)
		if info, err := fs.Stat(root, at); err != nil || info.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, at)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if anchor == "" {
		return nil
	}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		if slug(m[1]) == anchor {
			return nil
		}
	}
	return fmt.Errorf("no heading has the anchor #%s", anchor)
}

// slug is the anchor that repository hosts give a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
