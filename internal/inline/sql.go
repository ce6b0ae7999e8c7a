package inline

import (
	"strings"

	"cordon/internal/tool"
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
	is := func(full string, least int) bool { return len(name) >= least && strings.HasPrefix(full, name) }
	switch {
	case is("shell", 2) || is("system", 2):
		_, rest, _ := strings.Cut(line, " ")
		rep.run(tool.Run{Code: rest, Why: line[:min(len(line), 8)]})
	case is("output", 1) || is("once", 2) || is("log", 3) || is("trace", 1):
		toFile(rep, last, name)
	case is("backup", 1) || is("save", 2) || is("clone", 2) || is("open", 2) || is("archive", 2) || is("session", 3) || is("testcase", 5):
		toFile(rep, last, name)
	case is("read", 3):
		fromFile(rep, last, name)
	case is("import", 1) || is("restore", 3):
		if len(args) > 0 {
			fromFile(rep, firstOperand(args), name)
		}
	case is("cd", 2):
		rep.role(tool.Enter, last, ".cd")
	case is("load", 2) || is("excel", 2) || is("www", 1) || is("connection", 5) || is("filectrl", 5) || is("vfsname", 7):
		if pathLike(last) {
			rep.role(tool.Read, last, "."+name)
		}
		rep.opaque("." + name + " of sqlite3 cannot be followed")
	}
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
		rep.run(tool.Run{Code: s[1:], Why: "." + why})
	default:
		rep.role(tool.Write, strings.TrimPrefix(s, "file:"), "."+why)
	}
}

func fromFile(rep *Report, s, why string) {
	if strings.HasPrefix(s, "|") {
		rep.run(tool.Run{Code: s[1:], Why: "." + why})
	} else if s != "" {
		rep.role(tool.Read, s, "."+why)
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
			if strings.HasPrefix(body, "|") && !strings.HasSuffix(rest, " ") {
				continue
			}
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

func sqlPath(rep *Report, prev, before, s string) {
	switch {
	case prev == "attach" || prev == "database" && before == "attach" || prev == "into" && before == "vacuum":
		if s != "" && s != ":memory:" {
			rep.role(tool.Write, strings.TrimPrefix(s, "file:"), prev)
		}
	case prev == "outfile" || prev == "dumpfile" || prev == "lo_export":
		rep.role(tool.Write, s, prev)
	case prev == "infile" || prev == "load_file" || prev == "pg_read_file" || prev == "file" && pathLike(s) || prev == "lo_import":
		rep.role(tool.Read, s, prev)
	case prev == "to" && pathLike(s) || prev == "writefile":
		rep.role(tool.Write, s, prev)
	case (prev == "from" || strings.HasPrefix(prev, "read_")) && pathLike(s) || prev == "readfile" || prev == "fsdir" || prev == "lsdir":
		rep.role(tool.Read, s, prev)
	case prev == "data_store_directory" || prev == "temp_store_directory":
		rep.role(tool.Write, s, prev)
	}
}
