package inline

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"cordon/internal/commands"
)

// scanSQL reads what sqlite3 is given: statements and the shell's own commands,
// which begin with a dot at the start of a line.
func scanSQL(rep *Report, code string) {
	var sql strings.Builder
	for line := range strings.Lines(code) {
		if s := strings.TrimSpace(line); strings.HasPrefix(s, ".") {
			dotCommand(rep, s)
			continue
		}
		if f := strings.Fields(line); len(f) == 2 && (f[0] == "source" || f[0] == `\.` || f[0] == `\i`) {
			fromFile(rep, strings.TrimSuffix(f[1], ";"), f[0])
			continue
		}
		sql.WriteString(line)
	}
	sqlText(rep, sql.String())
}

// dotCommand reads one command of sqlite3's shell. Names may be cut short.
func dotCommand(rep *Report, line string) {
	words := dotWord().FindAllString(line, -1)
	name := strings.TrimPrefix(words[0], ".")
	args := words[1:]
	for i, a := range args {
		args[i] = strings.Trim(a, `"'`)
	}
	first, last := "", ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			first, last = cmp.Or(first, a), a
		}
	}
	switch dotKind(name) {
	case "shell":
		_, rest, _ := strings.Cut(line, " ")
		rep.run(commands.Run{Code: rest, Why: line[:min(len(line), 8)]})
	case "write":
		toFile(rep, last, name)
	case "read":
		fromFile(rep, last, name)
	case "import":
		fromFile(rep, first, name)
	case "enter":
		rep.role(commands.Enter, last, ".cd")
	case "opaque":
		if pathLike(last) {
			rep.role(commands.Read, last, "."+name)
		}
		rep.opaque("." + name + " of sqlite3 cannot be followed")
	}
}

// dotCommands are the commands of sqlite3's shell: the letters before the bar are
// needed, the others may be left out.
var dotCommands = [...]struct{ kind, names string }{
	{"shell", "sh|ell sy|stem"},
	{"write", "o|utput on|ce log| t|race b|ackup sa|ve cl|one op|en ar|chive ses|sion testc|ase"},
	{"read", "rea|d"},
	{"import", "i|mport res|tore"},
	{"enter", "cd|"},
	{"opaque", "lo|ad ex|cel w|ww conne|ction filec|trl vfsname|"},
}

// dotKind is the kind of a command of sqlite3's shell.
func dotKind(name string) string {
	for _, d := range dotCommands {
		for full := range strings.FieldsSeq(d.names) {
			least, rest, _ := strings.Cut(full, "|")
			if strings.HasPrefix(name, least) && strings.HasPrefix(least+rest, name) {
				return d.kind
			}
		}
	}
	return ""
}

func toFile(rep *Report, s, why string) {
	switch {
	case s == "" || s == "stdout" || s == "off" || s == "on" || s == "stderr":
	case strings.HasPrefix(s, "|"):
		rep.run(commands.Run{Code: s[1:], Why: "." + why})
	default:
		rep.role(commands.Write, strings.TrimPrefix(s, "file:"), "."+why)
	}
}

func fromFile(rep *Report, s, why string) {
	if strings.HasPrefix(s, "|") {
		rep.run(commands.Run{Code: s[1:], Why: "." + why})
	} else if s != "" {
		rep.role(commands.Read, s, "."+why)
	}
}

// dotWord matches a word of a line; one that begins with | takes the rest.
var dotWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\|.*|"[^"]*"|'[^']*'|[^\s|]\S*`)
})

// sqlToken matches a comment, a string or a word of SQL.
var sqlToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)--[^\n]*|/\*.*?(?:\*/|$)|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\w+`)
})

// sqlText reads statements: a string that follows a word or a function which
// takes a file is a path, every other string is data.
func sqlText(rep *Report, src string) {
	prev, before := "", ""
	for _, loc := range sqlToken().FindAllStringIndex(src, -1) {
		s := src[loc[0]:loc[1]]
		switch s[0] {
		case '-', '/':
		case '\'', '"':
			quote := s[:1]
			s = strings.TrimSuffix(s[1:], quote)
			sqlPath(rep, prev, before, strings.ReplaceAll(s, quote+quote, quote))
			before, prev = prev, quote
		default:
			before, prev = prev, strings.ToLower(s)
			if prev == "load_extension" || prev == "edit" && strings.HasPrefix(src[loc[1]:], "(") {
				rep.opaque(prev + " of SQL cannot be followed")
			}
		}
	}
}

// sqlPath is a text after a word that says what is done with the file it names.
func sqlPath(rep *Report, prev, before, s string) {
	switch prev {
	case "database", "into":
		if prev == "database" && before != "attach" || prev == "into" && before != "vacuum" {
			return
		}
		fallthrough
	case "attach":
		if s != "" && s != ":memory:" {
			rep.role(commands.Write, strings.TrimPrefix(s, "file:"), prev)
		}
	case "outfile", "dumpfile", "lo_export", "writefile", "data_store_directory", "temp_store_directory":
		rep.role(commands.Write, s, prev)
	case "infile", "load_file", "pg_read_file", "lo_import", "readfile", "fsdir", "lsdir":
		rep.role(commands.Read, s, prev)
	case "to":
		if pathLike(s) {
			rep.role(commands.Write, s, prev)
		}
	default:
		if (prev == "from" || prev == "file" || strings.HasPrefix(prev, "read_")) && pathLike(s) {
			rep.role(commands.Read, s, prev)
		}
	}
}
