package code

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf16"

	"cordon/internal/commands"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// vimUse reads the family of vi: commands in options, and files that they edit.
func vimUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	in := table.Lookup("vim")
	reads := slices.Contains([]string{"view", "rview", "vimdiff"}, c.Args[0])
	ex := c.Args[0] == "ex"
	var args []string
	for i, a := range c.Args[1:] {
		switch {
		case strings.HasPrefix(a, "+") && a != "+" && (i == 0 || c.Args[i] != "--"):
			args = append(args, "-c", a[1:])
		case a == "-S" && i+2 < len(c.Args):
			u.Runs = append(u.Runs, commands.Run{File: c.Args[i+2], Lang: commands.Opaque, Why: "-S"})
			args = append(args, a)
		case !strings.HasPrefix(a, "--") && strings.HasPrefix(a, "-") && strings.ContainsAny(a[1:], "eE") && len(a) < 5:
			ex = true
		case slices.Contains([]string{"-R", "-M", "-d"}, a):
			reads = true
		case a == "-s" && ex:
		case a == "-s" && i+2 < len(c.Args):
			args = append(args, "-S")
			addAsk(&u, "the keys in a file that vim is to press are not read", "give the commands with -c")
		default:
			args = append(args, a)
		}
	}
	p := readProgram(in, &u, args)
	role := commands.Write
	if reads {
		role = commands.Read
	}
	for _, o := range p.Operands {
		addPath(&u, role, o, "operand")
	}
	if p.coded {
		u.Runs = append(u.Runs, commands.Run{Code: strings.Join(p.code, "\n"), Lang: commands.Opaque, Why: "-c"})
	}
	if ex && c.Fed {
		runInput(&u, c, commands.Opaque)
	}
	return u
}

// edUse reads ed, whose commands are on its standard input.
func edUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	for i := 1; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case a == "-p" || a == "--prompt":
			i++
		case strings.HasPrefix(a, "!"):
			u.Runs = append(u.Runs, commands.Run{Code: a[1:], Why: "operand"})
		case !strings.HasPrefix(a, "-"):
			addEdited(&u, a)
		}
	}
	runInput(&u, c, commands.Opaque)
	return u
}

// sqliteUse reads sqlite3: a database, and statements.
func sqliteUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	p := readProgram(table.Lookup("sqlite3"), &u, c.Args[1:])
	if p.filed {
		u.Runs = append(u.Runs, commands.Run{File: p.file, Lang: commands.SQL, Why: "-init"})
	}
	if len(p.Operands) > 0 {
		role := commands.Write
		if p.Has("readonly") {
			role = commands.Read
		}
		if db := strings.TrimPrefix(p.Operands[0], "file:"); db != ":memory:" {
			db, _, _ = strings.Cut(db, "?mode=")
			addPath(&u, role, db, "database")
		}
		p.code = append(p.code, p.Operands[1:]...)
	}
	if len(p.code) > 0 {
		u.Runs = append(u.Runs, commands.Run{Code: strings.Join(p.code, "\n"), Lang: commands.SQL, Why: "statements"})
	}
	if len(p.Operands) < 2 {
		runInput(&u, c, commands.SQL)
	}
	return u
}

// powershellUse reads pwsh, whose options are in any case and may be cut short.
func powershellUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	args := c.Args[1:]
	for i := 0; i < len(args); i++ {
		name := strings.ToLower(strings.TrimLeft(args[i], "-/"))
		rest := args[i+1:]
		is := func(full string, least int) bool {
			return strings.HasPrefix(args[i], "-") && len(name) >= least && strings.HasPrefix(full, name)
		}
		switch {
		case is("commandwithargs", 8), name == "cwa" && strings.HasPrefix(args[i], "-"), is("command", 1):
			if len(rest) == 1 && rest[0] == "-" {
				runInput(&u, c, commands.Opaque)
			} else {
				u.Runs = append(u.Runs, commands.Run{Code: strings.Join(rest, " "), Lang: commands.Opaque, Why: args[i]})
			}
			return u
		case is("encodedcommand", 1), name == "ec":
			code, lang := strings.Join(rest, " "), commands.Opaque
			if s, ok := encoded(code); ok {
				code, lang = s, commands.Opaque
			}
			u.Runs = append(u.Runs, commands.Run{Code: code, Lang: lang, Why: args[i]})
			return u
		case is("file", 1):
			if len(rest) > 0 {
				runScript(&u, c, commands.Opaque, rest)
			}
			return u
		case is("workingdirectory", 1) && len(rest) > 0:
			addPath(&u, commands.Enter, rest[0], args[i])
			i++
		case is("executionpolicy", 2), is("outputformat", 1), is("inputformat", 2), is("windowstyle", 2), is("version", 1), is("configurationname", 6),
			is("custompipename", 2):
			i++
		case is("settingsfile", 1), is("configurationfile", 7):
			i++
		case !strings.HasPrefix(args[i], "-"):
			if c.Args[0] == "pwsh" && strings.HasSuffix(name, ".ps1") {
				runScript(&u, c, commands.Opaque, args[i:])
			} else {
				u.Runs = append(u.Runs, commands.Run{Code: strings.Join(args[i:], " "), Lang: commands.Opaque, Why: "operand"})
			}
			return u
		}
	}
	runInput(&u, c, commands.Opaque)
	return u
}

// encoded is a command of PowerShell in base64 of UTF-16.
func encoded(s string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
	if err != nil || len(b) == 0 || len(b)%2 != 0 {
		return "", false
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	code := string(utf16.Decode(units))
	return code, mark.Clean(code)
}

// dcUse reads dc, which computes, and runs what follows an exclamation mark.
func dcUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	in := table.Lookup("dc")
	p := readProgram(in, &u, c.Args[1:])
	for _, o := range p.Operands {
		addPath(&u, commands.Read, o, "operand")
	}
	for line := range strings.Lines(strings.Join(append(p.code, c.Stdin), "\n")) {
		i := strings.IndexByte(line, '!')
		if i >= 0 && i+1 < len(line) && strings.IndexByte("<>=", line[i+1]) < 0 {
			u.Runs = append(u.Runs, commands.Run{Code: strings.TrimSpace(line[i+1:]), Why: "!"})
		}
	}
	return u
}

// runnerUse reads the commands of frameworks that run code; their others are
// somebody else's.
func runnerUse(c commands.Call) (commands.Use, bool) {
	u := commands.Use{Known: true, Out: mark.Any}
	if len(c.Args) < 3 {
		return u, false
	}
	verb, args := c.Args[1], c.Args[2:]
	switch c.Args[0] + " " + verb {
	case "rails runner", "rails r":
		in := table.Lookup("rails runner")
		p := readProgram(in, &u, args)
		if len(p.Operands) == 0 {
			return u, true
		}
		if s := p.Operands[0]; strings.HasSuffix(s, ".rb") || s == "-" {
			runScript(&u, c, commands.Ruby, p.Operands)
		} else {
			u.Runs = append(u.Runs, commands.Run{Code: s, Lang: commands.Ruby, Params: p.Operands, Why: verb})
		}
	case "dotnet script":
		if args[0] == "eval" {
			u.Runs = append(u.Runs, commands.Run{Code: strings.Join(args[1:], " "), Lang: commands.Opaque, Why: "eval"})
		} else {
			runScript(&u, c, commands.Opaque, args)
		}
	case "crystal eval", "scala-cli eval":
		u.Runs = append(u.Runs, commands.Run{Code: strings.Join(args, " "), Lang: commands.Opaque, Why: "eval"})
	case "crystal run", "crystal build", "crystal spec":
		for _, a := range args {
			addArgument(&u, a)
		}
	default:
		return u, false
	}
	return u, true
}

// bcUse reads bc, which computes and can do nothing else.
func bcUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Atom}
	in := table.Lookup("bc")
	for _, o := range readProgram(in, &u, c.Args[1:]).Operands {
		addPath(&u, commands.Read, o, "operand")
	}
	return u
}

// m4Use reads m4, whose input can run commands and include files.
func m4Use(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	in := table.Lookup("m4")
	for _, o := range readProgram(in, &u, c.Args[1:]).Operands {
		addPath(&u, commands.Read, o, "operand")
	}
	if !c.Fed {
		return u
	}
	for _, s := range macros(c.Stdin, "syscmd(") {
		u.Runs = append(u.Runs, commands.Run{Code: s, Why: "syscmd"})
	}
	for _, s := range macros(c.Stdin, "include(") {
		addPath(&u, commands.Read, s, "include")
	}
	if mark.Has(c.Stdin, mark.Any) || strings.Contains(c.Stdin, "syscmd") {
		runInput(&u, c, commands.Opaque)
	}
	return u
}

// macros are the arguments of a macro of m4 wherever it is called.
func macros(text, name string) []string {
	var found []string
	for len(found) < 64 {
		_, rest, ok := strings.Cut(text, name)
		if !ok {
			break
		}
		arg, after, _ := strings.Cut(rest, ")")
		found = append(found, strings.Trim(arg, "`' \n"))
		text = after
	}
	return found
}
