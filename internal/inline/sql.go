package inline

import (
	"strings"

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
	words := dotWords(line)
	name := strings.TrimPrefix(words[0], ".")
	args := words[1:]
	last := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			last = a
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
		if len(args) > 0 {
			fromFile(rep, firstOperand(args), name)
		}
	case "enter":
		rep.role(commands.Enter, last, ".cd")
	case "opaque":
		if pathLike(last) {
			rep.role(commands.Read, last, "."+name)
		}
		rep.opaque("." + name + " of sqlite3 cannot be followed")
	}
}

// dotKind is what a command of sqlite3's shell does, by a name that may be cut
// short to a number of letters.
func dotKind(name string) string {
	for _, d := range [...]struct {
		name  string
		least int
		kind  string
	}{
		{"shell", 2, "shell"}, {"system", 2, "shell"},
		{"output", 1, "write"}, {"once", 2, "write"}, {"log", 3, "write"}, {"trace", 1, "write"},
		{"backup", 1, "write"}, {"save", 2, "write"}, {"clone", 2, "write"}, {"open", 2, "write"}, {"archive", 2, "write"},
		{"session", 3, "write"}, {"testcase", 5, "write"},
		{"read", 3, "read"}, {"import", 1, "import"}, {"restore", 3, "import"}, {"cd", 2, "enter"},
		{"load", 2, "opaque"}, {"excel", 2, "opaque"}, {"www", 1, "opaque"}, {"connection", 5, "opaque"}, {"filectrl", 5, "opaque"},
		{"vfsname", 7, "opaque"},
	} {
		if len(name) >= d.least && strings.HasPrefix(d.name, name) {
			return d.kind
		}
	}
	return ""
}

func firstOperand(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
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

// dotWords splits a line with quotes; a word that begins with | takes the rest.
func dotWords(line string) []string {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " \t") {
		switch q := line[0]; {
		case q == '"' || q == '\'':
			body, rest, _ := strings.Cut(line[1:], string(q))
			words = append(words, body)
			line = rest
		case q == '|':
			return append(words, line)
		default:
			i := strings.IndexAny(line, " \t")
			if i < 0 {
				i = len(line)
			}
			words = append(words, line[:i])
			line = line[i:]
		}
	}
	if len(words) == 0 {
		return []string{""}
	}
	return words
}

// sqlText reads statements: a string that follows a word or a function which
// takes a file is a path, every other string is data.
func sqlText(rep *Report, src string) {
	prev, before := "", ""
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case strings.HasPrefix(src[i:], "--"):
			n := strings.IndexByte(src[i:], '\n')
			if n < 0 {
				return
			}
			i += n
		case strings.HasPrefix(src[i:], "/*"):
			n := strings.Index(src[i:], "*/")
			if n < 0 {
				return
			}
			i += n + 2
		case c == '\'' || c == '"':
			s, n := sqlString(src[i:], c)
			sqlPath(rep, strings.ToLower(prev), strings.ToLower(before), s)
			i += n
			before, prev = prev, "'"
		case isWord(c):
			at := i
			for i < len(src) && isWord(src[i]) {
				i++
			}
			before, prev = prev, src[at:i]
			if p := strings.ToLower(prev); p == "load_extension" || p == "edit" && strings.HasPrefix(src[i:], "(") {
				rep.opaque(p + " of SQL cannot be followed")
			}
		default:
			i++
		}
	}
}

// sqlString reads a string whose quotes are doubled inside of it.
func sqlString(src string, q byte) (string, int) {
	var b strings.Builder
	for i := 1; i < len(src); i++ {
		if src[i] == q {
			if i+1 < len(src) && src[i+1] == q {
				i++
			} else {
				return b.String(), i + 1
			}
		}
		b.WriteByte(src[i])
	}
	return b.String(), len(src)
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
