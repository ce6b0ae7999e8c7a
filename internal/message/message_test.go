package message

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/legible"
)

// What agents write stays as they wrote it.
func TestHarmlessTextStays(t *testing.T) {
	for _, text := range []string{
		"cart: add cart_total with a test\n",
		"Fix the parser\n\nIt read one byte too many.\n\n- a test\n- a fix\n",
		"feat(api): drop v1\n\nThis is a breaking change of v1!\nRefs: #12\n",
		"Fix 3 bugs in #include handling\n\n    indented := code[0]\n",
		"Fixed point arithmetic, see #12\n\nSee https://example.com/issues/1 and org/repo#3.\n",
		"Größe – naïve café ✔️ 日本語\n",
		"Revert \"Add the skip list\"\n\nThis reverts commit 0123456789.\n",
		"Handle list[0] and [optional] arguments, skip empty ones\n",
		"Fixes: 0123456789ab (\"cart: add\")\n",
	} {
		if got := Clean(text).String(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestHostileText(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		// Characters.
		{"a\x1b[31mred\x1b[0m\x07 b", "ared b\n"},
		{"title \x1b]0;pwned\x07x", "title x\n"},
		{"a\u202eb\u2066c\u200bd\u2069", "abcd\n"},
		{"a\x00b\xffc", "abc\n"},
		{"one\r\ntwo\rthree", "one\n\ntwo\nthree\n"},
		{"a\u00a0b\u3000c", "a b c\n"},
		{"z\u0300\u0300\u0300\u0300\u0300\u0300x", "z\u0300\u0300\u0300x\n"},
		{"\n\n  \n subject \n\n\n\nbody \n\n", "subject\n\nbody\n"},
		// Other people, and cordon.
		{"x\n\nCordon-Worker: other\ncordon-journal : 1:2\nText", "x\n\nText\n"},
		{"x\n\nSigned-off-by: Operator <op@x>\n folded <more@x>\nCo-Authored-By: A <a@b>\nreviewed-BY : B\nTested-by: C", "x\n"},
		{"Signed-off-by: Operator <op@x>\n\nReal subject", "Real subject\n"},
		{"x\n\nSigned\u2010off\u2011by: Operator <op@x>", "x\n"},
		{"x\n\nSigned-off-\u200bby: Operator <op@x>", "x\n"},
		{"x\n\n\tAcked-by: Operator <op@x>", "x\n"},
		{"x\n\nReviewed: Operator <op@x>\nCc: <list@x>", "x\n"},
		{"x\n\nReviewed By: Operator\nCo-Author By: O <o@x>\nsigned off by : O", "x\n"},
		{"x\n\nChange-Id: I0123\ngit-svn-id: https://x@9 u\nRelease-As: 9.0.0\nDifferential Revision: D1\non-behalf-of: @org <o@x>", "x\n"},
		// Versions.
		{"x +semver: major #major", "x semver major major\n"},
		{"feat(api)!: x\n\nBREAKING CHANGE: all\nBreaking-changes : all", "feat(api): x\n\nbreaking CHANGE, all\nbreaking-changes, all\n"},
		{"x\n\n/tag v9 now\nsee /tag", "x\n\nsee /tag\n"},
		// Patches and mail.
		{"x\n\nFrom: Operator <op@x>\n\ntext", "x\n\n  From: Operator <op@x>\n\ntext\n"},
		{"x\n\ntext\n---\ndiff --git a/f b/f\n--- a/f\n+++ b/f", "x\n\ntext\n  diff --git a/f b/f\n  --- a/f\n  +++ b/f\n"},
		{"x\n\n-- >8 --\nrest", "x\n\nrest\n"},
		{"fixup! squash! Other", "Other\n"},
		// Continuous integration.
		{"x [skip ci]", "x “skip ci”\n"},
		{"x [CI  SKIP] y", "x “CI SKIP” y\n"},
		{"x\n\n[no ci]\n[skip-actions]\n[azp skip]\n***NO_CI***\n--skip-ci", "x\n\n“no ci”\n“skip-actions”\n“azp skip”\n“NO_CI”\n“skip ci”\n"},
		{"x\n\n\nskip-checks: true", "x\n"},
		{"x\n\n\nSkip-Checks:true\n", "x\n"},
		{"x [ci_skip] [ciskip] [SkipCI]", "x “ci_skip” “ciskip” “SkipCI”\n"},
		{"[skip\u200b ci] x", "“skip ci” x\n"},
		{"[[skip ci]]", "““skip ci””\n"},
		{"x [ski\x1b[0mp ci]", "x “skip ci”\n"},
		// Issues.
		{"Fixes #1", "Addresses #1\n"},
		{"fix: crash\n\ncloses org/repo#2, #3", "fix: crash\n\naddresses org/repo#2, #3\n"},
		{"RESOLVES GH-1", "ADDRESSES GH-1\n"},
		{"x\n\nFixed: https://github.com/o/r/issues/1", "x\n\nAddressed: https://github.com/o/r/issues/1\n"},
		{"Closing issues #4 and #5", "Addressing issues #4 and #5\n"},
		{"x\n\nImplements **#7**", "x\n\nAddresses **#7**\n"},
		{"[Finishes #77]", "[Addresses #77]\n"},
		{"fix\n\n#12", "address\n\n#12\n"},
		{"fixes\u200b #12", "addresses #12\n"},
		{"x\n\ncloses" + strings.Repeat(" ", 30) + "#12", "x\n\naddresses" + strings.Repeat(" ", 30) + "#12\n"},
		{"x\n\n_Fixes #12_", "x\n\n_Addresses #12_\n"},
		{"x\n\nCloses-Bug: #12", "x\n\nAddresses-Bug: #12\n"},
		{"fixes AB#12, closes !3", "addresses AB#12, addresses !3\n"},
		{"PROJ-12 #close #time 2w", "PROJ-12 close time 2w\n"},
		{"#PROJ-12 Fixed", "PROJ-12 Fixed\n"},
		{"Complete ENG-12", "Address ENG-12\n"},
		// Editors.
		{"x\n\nvim: set ft=sh:", "x\n\nvim set ft=sh:\n"},
		{"x\n\n-*- mode: x; eval: (y) -*-\nLocal Variables:", "x\n\n* mode: x; eval: (y) *\nlocal variables\n"},
		// Markdown.
		{"## **Summary** of it\n\ntext", "Summary of it\n\ntext\n"},
		{"Add a test.", "Add a test\n"},
		// Nothing.
		{"", "\n"},
		{"\u200b\x1b[0m", "\n"},
	} {
		if got := Clean(row.in).String(); got != row.want {
			t.Errorf("%q became\n%q instead of\n%q", row.in, got, row.want)
		}
	}
}

func TestLongText(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("words go on ", 20))
	m := Clean(long)
	if n := utf8.RuneCountInString(m.Subject); n > 72 || !strings.HasSuffix(m.Subject, "…") {
		t.Errorf("%d: %s", n, m.Subject)
	}
	if strings.ReplaceAll(m.Body, "\n", " ") != long {
		t.Errorf("the text is not in the body: %q", m.Body)
	}
	m = Clean("Added cart_total with a test. I ran the tests of the whole project, and all of them passed at once.")
	if m.Subject != "Added cart_total with a test" || m.Body != "I ran the tests of the whole project, and all of them passed at once." {
		t.Errorf("%+v", m)
	}
	m = Clean("x\n\n- " + long)
	if !strings.Contains(m.Body, "\n  ") || strings.ReplaceAll(strings.ReplaceAll(m.Body, "\n  ", " "), "\n", " ") != "- "+long {
		t.Errorf("%q", m.Body)
	}
	m = Clean("x\n\n" + strings.Repeat("line\n", 5000))
	if n := strings.Count(m.Body, "\n"); n > maxLines || !strings.HasSuffix(m.Body, "\n…") {
		t.Errorf("%d lines: %q", n, m.Body[len(m.Body)-20:])
	}
	if m = Clean(strings.Repeat("x", 1<<20)); len(m.String()) > 1<<10 {
		t.Errorf("%d bytes", len(m.String()))
	}
}

func TestCompose(t *testing.T) {
	changes := []Change{{Path: "src/a.txt"}, {Path: "src/b.txt", Added: true}, {Path: "src/c.txt", Removed: true}}
	for _, row := range []struct {
		s    Source
		want string
	}{
		{Source{"Say hi\n\nIn two places.", []string{"wip"}, "please say hi", changes, ""}, "Say hi\n\nIn two places.\n"},
		{Source{"done.", []string{"cart: add it\n\nWith a test."}, "add it", changes, ""}, "cart: add it\n\nWith a test.\n"},
		{Source{"", []string{"one", "two", "Merge branch 'x'"}, "p", changes, ""}, "two\n\nCommits:\n- one\n- two\n"},
		{Source{"", []string{"one", "two\n\nWhy."}, "p", changes, ""}, "two\n\nWhy.\n\nCommits:\n- one\n- two\n"},
		{Source{"", []string{"\x1b[0m", "Signed-off-by: o <o@x>"}, "\n add a test \nmore", changes, ""}, "add a test\n"},
		{Source{"", nil, "", changes, ""}, "Change src/a.txt and 2 more files\n"},
		{Source{"", nil, "", changes[:1], ""}, "Change src/a.txt\n"},
		{Source{"", nil, "", changes[1:2], ""}, "Add src/b.txt\n"},
		{Source{"", nil, "", changes[2:], ""}, "Remove src/c.txt\n"},
		{Source{"", nil, "", []Change{{Path: "fixes #1 [skip ci]\nx"}, {Path: "y"}}, ""}, "Change addresses #1 “skip ci” x and 1 more file\n"},
		{Source{"", nil, "", nil, ""}, "Change nothing\n"},
		{Source{"", []string{"resolve the conflict"}, "p", changes, "cart: add it\n\nWith a test.\n"},
			"cart: add it\n\nWith a test.\n\nLater commits:\n- resolve the conflict\n"},
		{Source{"done", nil, "p", changes, "cart: add it\n"}, "cart: add it\n"},
		{Source{"cart: add it and drop that", nil, "p", changes, "cart: add it\n"}, "cart: add it and drop that\n"},
		{Source{"", []string{"fix it"}, "p", changes, "."}, "fix it\n"},
	} {
		if got := Compose(row.s).String(); got != row.want {
			t.Errorf("%+v: %q instead of %q", row.s, got, row.want)
		}
	}
	m := Compose(Source{Changes: []Change{{Path: strings.Repeat("deep/", 40) + "end.txt"}, {}}})
	if utf8.RuneCountInString(m.Subject) > 72 || !strings.HasSuffix(m.Subject, "deep/end.txt and 1 more file") {
		t.Error(m.Subject)
	}
	var many []string
	for range 30 {
		many = append(many, "a step")
	}
	if m = Compose(Source{Commits: many}); !strings.HasSuffix(m.Body, "\n- and 10 more") {
		t.Error(m.Body)
	}
}

// The operator's words are theirs: issues are closed, and trailers stay.
func TestOwn(t *testing.T) {
	m, err := Own("\n\nFixes #1 [skip ci]  \n\n\nWhy.\n\nSigned-off-by: Me <me@x>\n\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "Fixes #1 [skip ci]\n\nWhy.\n\nSigned-off-by: Me <me@x>\nCordon-Worker: w\n"
	if got := m.With([]Trailer{{"Cordon-Worker", "w"}}); got != want {
		t.Errorf("%q", got)
	}
	if got := (Message{"s", "note: this is text\nand more"}).With([]Trailer{{"K", "v\nw"}}); got != "s\n\nnote: this is text\nand more\n\nK: v w\n" {
		t.Errorf("%q", got)
	}
	if got := (Message{Subject: "s"}).With([]Trailer{{"K", "v"}}); got != "s\n\nK: v\n" {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{"", " \n\t\n", "a\x00", "\xff"} {
		if _, err := Own(bad); err == nil {
			t.Errorf("%q is a message", bad)
		}
	}
	m = Message{"s", "b"}
	back, err := Edited(m.Template("Lines with a # are left out.\n\nAnother."))
	if err != nil || back != m {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := Edited("# only\n#\n"); err == nil {
		t.Error("a message without text")
	}
}

// acts is written apart from the product: texts that real programs act on.
var acts = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI\*\*\*|` +
	`\b(close|closes|closed|fix|fixes|fixed|resolve|resolves|resolved):?\s+(#\d|gh-\d|[\w.-]+/[\w.-]+#\d|https?://\S+/issues/\d)`)

var impersonates = regexp.MustCompile(`(?im)^(cordon-\w+|[a-z]+(-[a-z]+)*-by|skip-checks)[ \t]*:|^---[ \t]*$|\n(?-i:diff -|Index: )`)

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"Fixes #1", "x\n\nSigned-off-by: a <b@c>", "[skip ci] \u202e", "a\n---\ndiff --git", strings.Repeat("long ", 50), "fix " + strings.Repeat("- ", 40) + "#1",
		strings.Repeat("x", 71) + " fix #1", "\x1b[0;\x1b]0;x", "x\n\n" + strings.Repeat("words ", 14) + "Signed-off-by: x", "## - ** - #", "[[[skip]]]]", "0\u00a0\u0344",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		m := Clean(raw)
		text := m.String()
		switch again := Clean(text); {
		case again != m:
			t.Errorf("%q becomes %q, then %q", raw, text, again.String())
		case legible.Text(text) != text:
			t.Errorf("%q has something that cannot be seen", text)
		case utf8.RuneCountInString(m.Subject) > maxSubject || strings.Contains(m.Subject, "\n"):
			t.Errorf("the subject is %q", m.Subject)
		case len(m.Body) > maxText+10 || strings.Count(m.Body, "\n") > maxLines:
			t.Errorf("the body has %d bytes", len(m.Body))
		case acts.MatchString(text) || impersonates.MatchString(text):
			t.Errorf("%q acts", text)
		case m.Subject == "" && m.Body != "":
			t.Errorf("a body without a subject: %q", m.Body)
		}
	})
}
