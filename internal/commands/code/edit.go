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
			addAsk(&u, "cordon does not read files of keys for vim to press", "give the commands with -c")
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

// powershellUse reads pwsh: a script, or arguments that hold code somewhere.
func powershellUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	code := strings.Join(c.Args[1:], " ")
	for i, a := range c.Args[1:] {
		if strings.HasSuffix(strings.ToLower(a), ".ps1") {
			runScript(&u, c, commands.Opaque, c.Args[i+1:])
			return u
		}
		if s, ok := encoded(a); ok {
			code += "\n" + s
		}
	}
	u.Runs = append(u.Runs, commands.Run{Code: code, Lang: commands.Opaque, Why: "arguments"})
	if c.Fed {
		runInput(&u, c, commands.Opaque)
	}
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

// macroUse reads dc and m4, which compute, and whose input can run commands and
// include files.
func macroUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	p := readProgram(table.Lookup(c.Args[0]), &u, c.Args[1:])
	for _, o := range p.Operands {
		addPath(&u, commands.Read, o, "operand")
	}
	if c.Fed {
		p.code = append(p.code, c.Stdin)
	}
	code := strings.Join(p.code, "\n")
	if strings.ContainsAny(code, "!"+mark.Any) || strings.Contains(code, "syscmd") || strings.Contains(code, "include") {
		u.Runs = append(u.Runs, commands.Run{Code: code, Lang: commands.Opaque, Why: "input"})
	}
	if _, line, ok := strings.Cut(code, "!"); ok {
		u.Runs = append(u.Runs, commands.Run{Code: line, Why: "!"})
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
	case "dotnet script", "crystal eval", "scala-cli eval":
		u.Runs = append(u.Runs, commands.Run{Code: strings.Join(args, " "), Lang: commands.Opaque, Why: verb})
	default:
		return u, false
	}
	return u, true
}
