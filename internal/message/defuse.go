package message

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// expression is a regular expression that is compiled when it is first used: cordon hook
// starts for every tool call and uses none.
type expression = func() *regexp.Regexp

func lazy(text string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// The lines that are removed: those that a program or a reader would take for the word of
// somebody else. A dash of any kind counts as one.
var removed = append([]expression{
	lazy(`(?i)^[\s>]*cordon-[\w-]*\s*:`),                                                        // cordon's own trailers
	lazy(`(?i)^[\s>]*[a-z][a-z-]*-(by|off)\s*:`),                                                // Signed-off-by, Co-authored-by, Reviewed-by, …
	lazy(`(?i)^[\s>]*(signed-off|approved|acked|reviewed|author|committer|cc)\s*:[^<]*<[^>]*>`), // the same in other words
	lazy(`(?i)^[\s>]*(signed[ -]off|(co[ -]?)?author(ed)?|review(ed)?|approved|acked|accepted|tested|verified|committed|merged|landed) by\s*:`),
}, obeyed...)

// obeyed are lines that make a program act, or end a message.
var obeyed = []expression{
	lazy(`(?i)^[\s>]*skip[ -]checks\s*:`), // GitHub
	// Gerrit, git svn, release-please, Phabricator, GitHub and Chromium: another change, revision or version, and checks.
	lazy(`(?i)^[\s>]*(change-id|git-svn-id|release-as|differential revision|on-behalf-of|reviewed-on|auditors|no-(try|presubmit|tree-checks))\s*:`),
	lazy(`(?i)^[\s>]*/tag\b`),              // GitLab tags a commit
	lazy(`^\s*-{3,}\s*$`),                  // git am and interpret-trailers end a message here
	lazy(`(?i)^[\s-]*(>8|8<|>%|%<)[\s-]*`), // so does a pair of scissors
}

// patch are beginnings of lines at which git am stops reading a message and begins to
// read a patch, or a header that replaces the author.
var patch = lazy(`^(diff -|Index: |--- |\+\+\+ |@@ |>?From |(?i:From|Date|Subject|In-Reply-To|Message-ID)\s*:)`)

// diff are those of them at which git am applies the rest of a message.
var diff = lazy(`^(diff -|Index: |--- )`)

// harmless removes lines, with those that continue them, and indents others.
func harmless(lines []string) []string {
	var out []string
	gone := false
	for _, line := range lines {
		plain := PlainDashes(line)
		continued := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if gone = gone && continued && strings.TrimSpace(line) != "" ||
			slices.ContainsFunc(removed, func(r expression) bool { return r().MatchString(plain) }); gone {
			continue
		}
		if patch().MatchString(line) {
			line = "  " + line
		}
		out = append(out, line)
	}
	return out
}

// PlainDashes is a text with the plain dash and colon in the place of every other.
func PlainDashes(text string) string { return strings.Map(dashed, text) }

func dashed(r rune) rune {
	switch {
	case unicode.In(r, unicode.Pd) || r == '\u2212':
		return '-'
	case r == '\uff1a' || r == '\ufe55' || r == '\u2236':
		return ':'
	}
	return r
}

// rebase are the prefixes that make git rebase --autosquash put a commit into another one.
var rebase = lazy(`(?i)^((fixup|squash|amend)!\s*)+`)

// phrase is a text that makes a program act, and what is written in its place.
type phrase struct {
	found expression
	to    string
}

// phrases are read by forges, continuous integration, trackers and editors.
var phrases = []phrase{
	// [skip ci], [ci_skip], [ciskip], [no ci], [skip-actions], [skip azp], [nobuild] and all
	// others in brackets that skip something.
	{lazy(`(?i)\[([^\[\]\n]{0,60}skip[^\[\]\n]{0,60})\]`), "“$1”"},
	{lazy(`(?i)\[\s*(no[\s_-]*(?:ci|cd|build|deploy|tests?|actions|pipelines?|release))\s*\]`), "“$1”"},
	{lazy(`(?i)\[\s*((?:ci|cd|build|deploy)[\s_-]*(?:no|off|ignore|disable))\s*\]`), "“$1”"},
	{lazy(`(?i)\*{2,}\s*(no[_\s-]ci)\s*\*{2,}`), "“$1”"},
	{lazy(`(?i)--+(skip|no)[-_](ci|cd|build|checks)\b`), "“$1 $2”"},
	{lazy(`(?i)\bskip-checks\s*:\s*`), "skip checks, "},
	// The next version, for GitVersion, semantic-release and programs that tag.
	{lazy(`(?i)\bbreaking([ -]changes?)\s*:`), "breaking$1,"},
	{lazy(`(?m)^(\s*\w+(?:\([^()\n]*\))?)!:`), "$1:"},
	{lazy(`(?i)\+semver\s*:[ \t]*`), "semver "},
	{lazy(`(?i)(^|\s)#+(major|minor|patch|none|skip)\b`), "$1$2"},
	// Modelines of editors.
	{lazy(`(?i)(^|\s)(vim?|ex)([<=>]?\d*):[ \t]*`), "$1$2$3 "},
	{lazy(`-\*-`), "*"},
	{lazy(`(?i)\blocal variables:`), "local variables"},
}

// closing is a word that closes an issue, the issue that it closes, and all that may stand
// between them. The words are those of GitHub, GitLab, Gitea, Jira, Linear, Pivotal and
// Azure Boards; an issue is #12, GH-12, owner/name#12, AB#12, !12, KEY-12 or a URL.
var closing = lazy(`(?i)(\b|_)(clos|fix|resolv|implement|complet|finish|deliver|reopen)(e[sd]?|ing|s|es|ed|d|)` +
	`([\s:*_~'"“”‘’(\[<\x60-]*` +
	`(?:(?:the|this|a|an|in|for|issues?|bugs?|tickets?|tasks?|story|stories|merge|pull|requests?|mr|pr)\b[\s:*_'"(\[<\x60-]*){0,4})` +
	`(#\d|!\d|gh-\d|ab#\d|[\w.-]+(?:/[\w.-]+)+[#!]\d|[\w.-]+#\d|[a-z][a-z0-9_]*-\d|t\d|` +
	`https?://\S*(?:issue|pull|merge_request|work_item|browse|ticket|bug|task|stor))`)

// A tracker obeys words with a # beside the key of an issue: PROJ-12 #close, #PROJ-12 Fixed.
var (
	issueKey = lazy(`(?i)\b[a-z][a-z0-9_]*-\d`)
	command  = lazy(`(^|[^\w&/])[#^]+([A-Za-z])`)
)

// Acts reports whether a text would make git, a forge, a tracker or an editor act.
func Acts(text string) bool {
	if rebase().MatchString(text) || defuse(text) != text {
		return true
	}
	for line := range strings.Lines(text) {
		plain := PlainDashes(line)
		if diff().MatchString(line) || slices.ContainsFunc(obeyed, func(r expression) bool { return r().MatchString(plain) }) {
			return true
		}
	}
	return false
}

// defuse rewords what would make a program act.
func defuse(text string) string {
	for _, p := range phrases {
		text = p.found().ReplaceAllString(text, p.to)
	}
	if issueKey().MatchString(text) {
		text = command().ReplaceAllString(text, "$1$2")
	}
	return closing().ReplaceAllStringFunc(text, func(s string) string {
		part := closing().FindStringSubmatch(s)
		return part[1] + addressed(part[2], strings.ToLower(part[3])) + part[4] + part[5]
	})
}

// addressed is the word "address" in the form and the case of another verb. No tracker
// acts on it.
func addressed(stem, ending string) string {
	word := "address"
	switch {
	case strings.HasSuffix(ending, "ing"):
		word = "addressing"
	case strings.HasSuffix(ending, "d"):
		word = "addressed"
	case strings.HasSuffix(ending, "s"):
		word = "addresses"
	}
	switch {
	case stem == strings.ToUpper(stem):
		return strings.ToUpper(word)
	case unicode.IsUpper(rune(stem[0])):
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}
