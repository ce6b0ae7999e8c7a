package desk

import (
	"strings"
	"unicode"
)

// Language is as much of one as helps a reader: its words, how a comment begins, and which signs are
// around its strings. A line is looked at by itself.
type Language struct {
	words   string // with a space after each
	comment string
	quotes  string
}

// The words that many languages share keep the table short.
const (
	braces = "if else for while do switch case default break continue return const new try catch finally throw class import export this null true false "
	goLike = "func package var type struct interface map chan go defer range select fallthrough nil string int bool error byte any "
	cLike  = "static void int long short char float double unsigned struct enum union typedef sizeof extern inline public private protected "
	jsLike = "function let var async await typeof instanceof of in from interface type extends implements readonly undefined yield "
	rust   = "fn let mut pub use mod impl trait enum struct match loop move ref self Self crate where async await dyn unsafe Some None Ok Err "
	python = "def class if elif else for while try except finally with as import from return raise yield lambda pass break continue and or not in is " +
		"None True False self async await "
	shellish = "if then elif else fi for while do done case esac in function return exit export local set unset echo cd "
	sqlLike  = "select from where insert into values update set delete create table index drop alter join left on and or not null primary key "
	values   = "true false null "
)

// LanguageOf knows a language by the name of a file; nil: it is shown as it is.
func LanguageOf(name string) *Language {
	_, ending, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
	switch ending[strings.LastIndexByte(ending, '.')+1:] {
	case "go":
		return &Language{braces + goLike, "//", "\"'`"}
	case "c", "h", "cc", "cpp", "hpp", "java", "cs", "kt", "swift", "php":
		return &Language{braces + cLike, "//", `"'`}
	case "js", "jsx", "ts", "tsx", "mjs", "cjs":
		return &Language{braces + jsLike, "//", "\"'`"}
	case "rs":
		return &Language{braces + rust, "//", `"`}
	case "py":
		return &Language{python, "#", `"'`}
	case "sh", "bash", "zsh":
		return &Language{shellish, "#", `"'`}
	case "rb":
		return &Language{python + "end do module nil require unless begin rescue ", "#", `"'`}
	case "sql":
		return &Language{sqlLike + strings.ToUpper(sqlLike), "--", `'`}
	case "yaml", "yml", "toml", "ini", "conf":
		return &Language{values, "#", `"'`}
	case "json":
		return &Language{values, "", `"`}
	}
	return nil
}

// Kind is what a part of a line is to a reader.
type Kind byte

const (
	Keyword Kind = iota + 1
	Quoted
	Remark
	Called
)

// Span is a part of a line, in letters.
type Span struct {
	From, To int
	Kind     Kind
}

// Spans are the parts of a line that are not plain, in their order. A letter is a character with its marks.
func (g *Language) Spans(letters []string) (list []Span) {
	if g == nil {
		return nil
	}
	for at := 0; at < len(letters); {
		end, kind := g.span(letters, at)
		if kind > 0 {
			list = append(list, Span{at, end, kind})
		}
		at = end
	}
	return list
}

// span is the part that begins at a letter. Its kind is 0 if it is plain.
func (g *Language) span(letters []string, at int) (end int, kind Kind) {
	switch {
	case g.comment != "" && begins(letters[at:], g.comment):
		return len(letters), Remark
	case strings.Contains(g.quotes, letters[at]):
		return closing(letters, at), Quoted
	case !inName(letters[at]):
		return at + 1, 0
	}
	for end = at; end < len(letters) && inName(letters[end]); end++ {
	}
	switch {
	case strings.Contains(" "+g.words, " "+strings.Join(letters[at:end], "")+" "):
		return end, Keyword
	case end < len(letters) && letters[end] == "(":
		return end, Called
	}
	return end, 0
}

func begins(letters []string, s string) bool {
	return len(letters) >= len(s) && strings.Join(letters[:len(s)], "") == s
}

// closing is the end of a string that begins at a place, or of the line.
func closing(letters []string, at int) int {
	for i := at + 1; i < len(letters); i++ {
		if letters[i] == `\` {
			i++
			continue
		}
		if letters[i] == letters[at] {
			return i + 1
		}
	}
	return len(letters)
}

func inName(letter string) bool {
	for _, r := range letter {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return false
}
