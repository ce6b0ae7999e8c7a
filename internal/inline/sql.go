package inline

import (
	"regexp"
	"strings"
	"sync"

	"cordon/internal/commands"
)

// scanSQL reads what sqlite3 and its like are given: statements, and the client's
// own commands, which begin with a dot or a backslash at the start of a line.
func scanSQL(rep *Report, code string) {
	var sql strings.Builder
	for line := range strings.Lines(code) {
		s := strings.TrimSpace(line)
		if strings.HasPrefix(s, ".") || strings.HasPrefix(s, `\`) || strings.HasPrefix(s, "source ") {
			clientCommand(rep, s)
			continue
		}
		sql.WriteString(line)
	}
	sqlText(rep, sql.String())
}

// clientCommand reads one command of a client. Names may be cut short: whichever it
// is, it may write to every file that it names.
func clientCommand(rep *Report, line string) {
	name, rest, _ := strings.Cut(line, " ")
	_, piped, pipes := strings.Cut(rest, "|")
	switch {
	case strings.HasPrefix(name, ".sh") || strings.HasPrefix(name, ".sy"):
		rep.run(commands.Run{Code: rest, Why: name})
		return
	case pipes:
		rep.run(commands.Run{Code: strings.Trim(piped, `"'`), Why: name})
		return
	case inSet("sql-opaque", name):
		rep.opaque(name + " of sqlite3 cannot be followed")
	}
	for word := range strings.FieldsSeq(rest) {
		if word = strings.Trim(word, `"';`); word != "" && word[0] != '-' {
			rep.role(commands.Write, strings.TrimPrefix(word, "file:"), name)
		}
	}
}

// sqlToken matches a comment, a string or a word of SQL.
var sqlToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)--[^\n]*|/\*.*?(?:\*/|$)|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\w+`)
})

// sqlText reads statements: a string that follows a word or a function which
// takes a file is a path, every other string is data.
func sqlText(rep *Report, src string) {
	prev := ""
	for _, loc := range sqlToken().FindAllStringIndex(src, -1) {
		s := src[loc[0]:loc[1]]
		switch s[0] {
		case '-', '/':
		case '\'', '"':
			quote := s[:1]
			sqlPath(rep, prev, strings.ReplaceAll(strings.TrimSuffix(s[1:], quote), quote+quote, quote))
			prev = quote
		default:
			prev = strings.ToLower(s)
			if prev == "load_extension" || prev == "edit" && strings.HasPrefix(src[loc[1]:], "(") {
				rep.opaque(prev + " of SQL cannot be followed")
			}
		}
	}
}

// sqlPath is a text after a word that says what is done with the file it names.
func sqlPath(rep *Report, prev, s string) {
	role, s := commands.Read, strings.TrimPrefix(s, "file:")
	if inSet("sql-writes", prev) {
		role = commands.Write
	}
	switch {
	case s == "" || s == ":memory:":
	case inSet("sql-files", prev), (inSet("sql-perhaps", prev) || strings.HasPrefix(prev, "read_")) && pathLike(s):
		rep.role(role, s, prev)
	}
}
