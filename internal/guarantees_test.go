package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"

	"cordon/internal/escape"
	"cordon/internal/testground"
)

// unpromising are the sections of SECURITY.md that have text and promise nothing.
var unpromising = []string{"Reporting", "Guarantees", "Who is trusted"}

var (
	// guardNames is how docs/guarantees.md names tests: their folder, and each function with the
	// script, the attempt or the subtest.
	guardNames = regexp.MustCompile("^`([\\w./-]+)` (\\w+(?:/[^\\s,]+)?(?:, \\w+(?:/[^\\s,]+)?)*)$")
	numbered   = regexp.MustCompile(`(?m)^(\d+\.) \*\*`)
)

// Every guarantee of SECURITY.md has tests in docs/guarantees.md, and all of them exist.
func TestGuaranteesAreGuarded(t *testing.T) {
	root := os.DirFS("..")
	text := map[string]string{}
	for _, name := range []string{"SECURITY.md", "docs/guarantees.md"} {
		b, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		text[name] = string(b)
	}
	for _, problem := range unguarded(root, text["SECURITY.md"], text["docs/guarantees.md"]) {
		t.Error(problem)
	}
	for _, name := range unpromising {
		if !slices.ContainsFunc(sections(text["SECURITY.md"]), func(s titled) bool { return s.name == name }) {
			t.Errorf("%s is no section of SECURITY.md any more", name)
		}
	}
}

// The control: each mistake in a page is reported, and the page without mistakes is not.
func TestUnguardedIsFound(t *testing.T) {
	root := fstest.MapFS{
		"a/a_test.go": {Data: []byte("package a\n\n// func TestComment(t *testing.T) {}\nfunc TestOne(t *testing.T) { t.Run(\"two words\", nil) }\n\n" +
			"func TestMain(m *testing.M) {}\n\nfunc (x suite) TestMethod(t *testing.T) {}\n\nfunc TestHelper(t *testing.T, x int) {}\n\n" +
			"const text = `func TestText(t *testing.T) {}`\n\nfunc FuzzOne(f *testing.F) {}\n\nfunc Testing(t *testing.T) {}\n")},
		"a/a.go":                           {Data: []byte("package a\n\nfunc TestProduct(t *testing.T) {}\n")},
		"s/s_test.go":                      {Data: []byte("package s\n\nfunc TestS(t *testing.T) { scripts(t, \"testdata/s\") }\n")},
		"s/testdata/s/good.txtar":          {},
		"s/testdata/other/elsewhere.txtar": {},
		"internal/escape/escape_test.go":   {Data: []byte("package escape\n\nfunc TestQuick(t *testing.T) { try(Options{Pick: quick}) }\n\nfunc TestAll(t *testing.T) {}\n")},
	}
	const security = "# Security\n\n## Reporting\n\nWrite.\n\n## Guarantees\n\nA page.\n\n### One\n\n1. **First.** Text.\n2. **Second.** Text.\n\n### Two\n\nText.\n"
	const good = "# Page\n\nText.\n\n## One\n\n| guarantee | tests |\n|---|---|\n| 1. First. | `a` TestOne; `a` FuzzOne |\n| 2. Second. | `a` FuzzOne, TestOne/two_words<br>`s` TestS/good |\n" +
		"\n## Two\n\n| guarantee | tests |\n|---|---|\n| Text. | `internal/escape` TestQuick/files-write; `internal/escape` TestAll/files-truncate |\n"
	if got := unguarded(root, security, good); len(got) > 0 {
		t.Errorf("a page without mistakes: %q", got)
	}
	name := func(guard string) string { return strings.Replace(good, "`a` TestOne;", guard+";", 1) }
	mistakes := map[string]string{
		name("`a` TestNone"):        "has no test TestNone",
		name("`a` TestComment"):     "has no test TestComment",
		name("`a` TestText"):        "has no test TestText",
		name("`a` TestProduct"):     "has no test TestProduct",
		name("`a` TestMain"):        "has no test TestMain",
		name("`a` TestMethod"):      "has no test TestMethod",
		name("`a` TestHelper"):      "has no test TestHelper",
		name("`a` Testing"):         "has no test Testing",
		name("`b` TestOne"):         "b: ",
		name("`a` TestOne/two"):     "nothing in the tests of a is called two",
		name("`a` TestOne x"):       "does not name tests",
		name("a TestOne"):           "does not name tests",
		name(" "):                   `"" does not name tests`,
		name("`s` TestS/bad"):       "TestS runs no script bad",
		name("`s` TestS/elsewhere"): "TestS runs no script elsewhere",
		name("`s` TestS"):           "name one of the scripts of TestS",
		strings.Replace(good, "| `a` TestOne; `a` FuzzOne |", "| |", 1):        `"1. First." has no test`,
		strings.Replace(good, "| `a` TestOne; `a` FuzzOne |", "|", 1):          "is not a row of two cells",
		strings.Replace(good, "| 2. Second.", "| 1. Second.", 1):               `guarantee 2. of "One" has no row`,
		strings.Replace(good, "## Two", "## Three", 1):                         `"Three" is no section of SECURITY.md`,
		good[:strings.Index(good, "\n## Two")]:                                 `section "Two" of SECURITY.md has no row`,
		strings.Replace(good, "| Text. |", "Text. |", 1):                       `section "Two" of SECURITY.md has no row`,
		good + "\n## Reporting\n\n| guarantee | tests |\n|---|---|\n| a | |\n": `"a" has no test`,
		"": `section "One" of SECURITY.md has no row`,
	}
	if len(escape.Attempts()) > 0 { // there are none where there is no cell
		mistakes[name("`internal/escape` TestAll/files-none")] = "there is no attempt files-none"
		mistakes[name("`internal/escape` TestQuick/files-append")] = "TestQuick does not make the attempt files-append"
	}
	for page, want := range mistakes {
		got := unguarded(root, security, page)
		if !slices.ContainsFunc(got, func(problem string) bool { return strings.Contains(problem, want) }) {
			t.Errorf("%q is not found in\n%s\nbut %q", want, page, got)
		}
	}
}

// unguarded is what a page of guarantees lacks of a document that makes them.
func unguarded(root fs.FS, promises, page string) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	rows, suites := map[string][]string{}, suites{root: root, known: map[string]suite{}}
	topics := sections(page)
	topics = topics[min(1, len(topics)):] // without the title
	for _, s := range topics {
		for _, line := range tableRows(s.text) {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if len(cells) == 1 && strings.HasSuffix(line, " | |") {
				report("%q has no test", cells[0])
				continue
			}
			if len(cells) != 2 {
				report("%q is not a row of two cells", line)
				continue
			}
			rows[s.name] = append(rows[s.name], cells[0])
			for _, group := range strings.Split(strings.ReplaceAll(cells[1], "<br>", ";"), ";") {
				for _, why := range suites.lack(strings.TrimSpace(group)) {
					report("%q: %s", cells[0], why)
				}
			}
		}
	}
	var names []string
	for _, s := range sections(promises) {
		names = append(names, s.name)
		if len(rows[s.name]) == 0 {
			if strings.TrimSpace(s.text) != "" && !slices.Contains(unpromising, s.name) {
				report("the section %q of SECURITY.md has no row", s.name)
			}
			continue
		}
		for _, m := range numbered.FindAllStringSubmatch(s.text, -1) {
			if !slices.ContainsFunc(rows[s.name], func(row string) bool { return strings.HasPrefix(row, m[1]+" ") }) {
				report("the guarantee %s of %q has no row", m[1], s.name)
			}
		}
	}
	for _, s := range topics {
		if !slices.Contains(names, s.name) {
			report("%q is no section of SECURITY.md", s.name)
		}
	}
	return problems
}

// Each guarantee has a test that runs for every change, not only in .ci/full.
func TestGuaranteesAreTestedForEachChange(t *testing.T) {
	page, err := os.ReadFile("../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := testground.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range tableRows(string(page)) {
		if onlyFull(line, rows) {
			t.Errorf("only .ci/full runs the tests of %s", line)
		}
	}
	// The control.
	rows = []testground.Row{{Folder: "a", Test: "TestOne", Size: testground.Full}, {Folder: "a", Test: "TestTwo/part", Size: testground.Full}}
	for tests, want := range map[string]bool{
		"`a` TestOne": true, "`a` TestTwo/part, TestOne": true, "`a` TestOne/part": true,
		"`a` TestTwo": false, "`b` TestOne": false, "`a` TestOne; `b` TestThree": false,
	} {
		if got := onlyFull("| Text. | "+tests+" |", rows); got != want {
			t.Errorf("%s: %v", tests, got)
		}
	}
}

// onlyFull reports whether all tests of a row of the page have the size full.
func onlyFull(line string, rows []testground.Row) bool {
	_, tests, _ := strings.Cut(strings.Trim(line, "| "), " | ")
	for group := range strings.SplitSeq(strings.ReplaceAll(tests, "<br>", ";"), ";") {
		folder, names, _ := strings.Cut(strings.TrimSpace(group), " ")
		for name := range strings.SplitSeq(names, ", ") {
			full := slices.ContainsFunc(rows, func(r testground.Row) bool {
				return r.Size == testground.Full && r.Folder == strings.Trim(folder, "`") && (r.Test == name || strings.HasPrefix(name, r.Test+"/"))
			})
			if !full {
				return false
			}
		}
	}
	return true
}

// titled is a heading and the text below it, up to the next heading.
type titled struct{ name, text string }

func sections(text string) (list []titled) {
	text = fence.ReplaceAllString(text, "")
	at := heading.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		list = append(list, titled{text[m[2]:m[3]], text[m[1]:end]})
	}
	return list
}

// tableRows are the lines of tables below their heads.
func tableRows(text string) (list []string) {
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "|---"):
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside:
			list = append(list, line)
		}
	}
	return list
}

// suites are the tests of folders, each read when it is first asked for.
type suites struct {
	root  fs.FS
	known map[string]suite
}

// suite is the tests of a folder.
type suite struct {
	err   error
	tests map[string]*ast.FuncDecl
	texts map[string]bool // every text in their code, as go test would write it in the name of a subtest
}

// lack says what does not exist of the tests of a folder that the page names.
func (all suites) lack(group string) (problems []string) {
	m := guardNames.FindStringSubmatch(group)
	if m == nil {
		return []string{fmt.Sprintf("%q does not name tests: write `folder` TestName, TestName/script", group)}
	}
	dir, s := m[1], all.of(m[1])
	if s.err != nil {
		return []string{fmt.Sprintf("%s: %v", dir, s.err)}
	}
	for name := range strings.SplitSeq(m[2], ", ") {
		name, part, _ := strings.Cut(name, "/")
		if s.tests[name] == nil {
			problems = append(problems, fmt.Sprintf("%s has no test %s", dir, name))
		} else if why := all.lackPart(dir, s, s.tests[name], part); why != "" {
			problems = append(problems, why)
		}
	}
	return problems
}

// lackPart says why a test does not run a script, an attempt or a subtest; "" if it does.
func (all suites) lackPart(dir string, s suite, test *ast.FuncDecl, part string) string {
	scripts := all.scripts(dir, test)
	switch {
	case len(scripts) > 0 && part == "":
		return fmt.Sprintf("name one of the scripts of %s", test.Name.Name)
	case len(scripts) > 0 && !slices.Contains(scripts, part):
		return fmt.Sprintf("%s runs no script %s", test.Name.Name, part)
	case len(scripts) > 0 || part == "":
		return ""
	case dir == "internal/escape":
		return lackOfAttempt(test, part)
	}
	for word := range strings.SplitSeq(part, "/") {
		if !s.texts[word] {
			return fmt.Sprintf("nothing in the tests of %s is called %s", dir, word)
		}
	}
	return ""
}

func (all suites) of(dir string) suite {
	if s, ok := all.known[dir]; ok {
		return s
	}
	s := suite{tests: map[string]*ast.FuncDecl{}, texts: map[string]bool{}}
	files, err := fs.Glob(all.root, path.Join(dir, "*_test.go"))
	if err == nil && len(files) == 0 {
		err = fs.ErrNotExist
	}
	s.err = err
	for _, name := range files {
		text, err := fs.ReadFile(all.root, name)
		if err == nil {
			err = s.read(name, text)
		}
		if err != nil {
			s.err = err
		}
	}
	all.known[dir] = s
	return s
}

// read adds the tests and the texts of a file.
func (s suite) read(name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && isTest(f) {
			s.tests[f.Name.Name] = f
		}
	}
	for _, t := range texts(file) {
		s.texts[strings.ReplaceAll(t, " ", "_")] = true
	}
	return nil
}

// isTest reports whether go test runs a function.
func isTest(f *ast.FuncDecl) bool {
	for prefix, param := range map[string]string{"Test": "T", "Fuzz": "F"} {
		rest, ok := strings.CutPrefix(f.Name.Name, prefix)
		if first, _ := utf8.DecodeRuneInString(rest); !ok || unicode.IsLower(first) || f.Recv != nil || f.Type.Params.NumFields() != 1 {
			continue
		}
		pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if of, ok := pointer.X.(*ast.SelectorExpr); ok && of.Sel.Name == param {
			return true
		}
	}
	return false
}

// texts are the string literals below a node.
func texts(n ast.Node) (list []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				list = append(list, text)
			}
		}
		return true
	})
	return list
}

// scripts are the scripts in the folders that a test names.
func (all suites) scripts(dir string, test *ast.FuncDecl) (names []string) {
	for _, t := range texts(test) {
		if !strings.HasPrefix(t, "testdata/") {
			continue
		}
		files, err := fs.Glob(all.root, path.Join(dir, t, "*.txtar"))
		if err != nil {
			continue // a text that is no folder
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(path.Base(f), ".txtar"))
		}
	}
	return names
}

// lackOfAttempt says why a test of package escape does not make an attempt. Where there is no
// cell there are no attempts to compare with.
func lackOfAttempt(test *ast.FuncDecl, name string) string {
	all := escape.Attempts()
	for _, a := range all {
		if a.Name == name {
			if !a.Quick && picksQuick(test) {
				return fmt.Sprintf("%s does not make the attempt %s, which is not a quick one", test.Name.Name, name)
			}
			return ""
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("there is no attempt %s", name)
}

// picksQuick reports whether a test makes only the quick attempts: Pick: quick.
func picksQuick(test *ast.FuncDecl) (found bool) {
	ast.Inspect(test, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			key, _ := kv.Key.(*ast.Ident)
			value, _ := kv.Value.(*ast.Ident)
			found = found || key != nil && value != nil && key.Name == "Pick" && value.Name == "quick"
		}
		return true
	})
	return found
}
