package inline

import (
	"strings"

	"cordon/internal/mark"
	"cordon/internal/tool"
)

// powershell reads commands of PowerShell.
type powershell struct {
	rep   *Report
	src   string
	pos   int
	depth int
	vars  map[string]string
}

// psWord is a word of a command.
type psWord struct {
	s     string
	op    bool // ; | & > and their like
	quote bool
}

func scanPowerShell(rep *Report, code string, depth int) {
	if depth > maxDepth {
		rep.opaque("code inside of code, too deep to be followed")
		return
	}
	p := &powershell{rep: rep, src: code, depth: depth, vars: map[string]string{}}
	var cmd []psWord
	for p.pos < len(p.src) {
		w, ok := p.word()
		switch {
		case !ok:
		case w.op && strings.ContainsAny(w.s, ";|{}()\n&") && !(w.s == "&" && len(cmd) == 0):
			p.command(cmd)
			cmd = nil
		case w.s == "&" && w.op:
		default:
			cmd = append(cmd, w)
		}
	}
	p.command(cmd)
}

// word reads the next word or operator.
func (p *powershell) word() (psWord, bool) {
	c := p.src[p.pos]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == ',':
		p.pos++
		return psWord{}, false
	case c == '#':
		p.until('\n')
		return psWord{}, false
	case c == '`' && p.pos+1 < len(p.src) && p.src[p.pos+1] == '\n':
		p.pos += 2
		return psWord{}, false
	case strings.IndexByte(";|{}()\n&>=", c) >= 0:
		p.pos++
		if c == '>' && p.pos < len(p.src) && p.src[p.pos] == '>' {
			p.pos++
		}
		return psWord{s: string(c), op: true}, true
	}
	return p.plain(), true
}

func (p *powershell) until(c byte) string {
	at := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != c {
		p.pos++
	}
	return p.src[at:p.pos]
}

// plain reads a word made of quoted and bare pieces.
func (p *powershell) plain() psWord {
	var b strings.Builder
	w := psWord{}
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == '\'':
			p.pos++
			b.WriteString(p.until('\''))
			p.pos++
			w.quote = true
		case c == '"':
			p.pos++
			p.double(&b)
			w.quote = true
		case c == '`' && p.pos+1 < len(p.src):
			b.WriteByte(p.src[p.pos+1])
			p.pos += 2
		case c == '$':
			b.WriteString(p.variable())
		case strings.IndexByte(" \t\r\n;|{}()&>,", c) >= 0 || c == '=' && b.Len() > 0 && !w.quote && !strings.HasPrefix(b.String(), "-"):
			w.s = b.String()
			return w
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	w.s = b.String()
	return w
}

func (p *powershell) double(b *strings.Builder) {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			return
		case c == '`' && p.pos+1 < len(p.src):
			b.WriteByte(p.src[p.pos+1])
			p.pos += 2
		case c == '$':
			b.WriteString(p.variable())
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
}

// variable reads $name, ${name}, $env:NAME and $(…). As the first word of a
// statement it stays a name, because it may be assigned.
func (p *powershell) variable() string {
	p.pos++
	if p.pos >= len(p.src) {
		return "$"
	}
	if p.src[p.pos] == '(' {
		lx := &lexer{src: p.src, pos: p.pos}
		code := lx.braced()
		p.pos = lx.pos
		scanPowerShell(p.rep, code, p.depth+1)
		return mark.Any
	}
	var name string
	if p.src[p.pos] == '{' {
		lx := &lexer{src: p.src, pos: p.pos}
		name = lx.braced()
		p.pos = lx.pos
	} else {
		at := p.pos
		for p.pos < len(p.src) && (isWord(p.src[p.pos]) || p.src[p.pos] == ':') {
			p.pos++
		}
		name = p.src[at:p.pos]
	}
	name = strings.ToLower(name)
	if rest := strings.TrimLeft(p.src[min(p.pos, len(p.src)):], " "); strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") {
		return "$" + name
	}
	switch name {
	case "home", "env:home", "env:userprofile":
		return "~"
	case "pwd", "psscriptroot", "env:pwd":
		return "."
	case "env:temp", "env:tmp", "env:tmpdir":
		return mark.Scratch
	case "true", "false", "null", "_", "?":
		return mark.Atom
	}
	if v, ok := p.vars[name]; ok {
		return v
	}
	return mark.Any
}

// command judges one command.
func (p *powershell) command(all []psWord) {
	if len(all) > maxItems {
		p.rep.opaque("the code is too involved to be followed")
		return
	}
	var ws []psWord
	for i := 0; i < len(all); i++ {
		if all[i].op && all[i].s == ">" && i+1 < len(all) {
			i++
			p.rep.role(tool.Write, all[i].s, ">")
			continue
		}
		ws = append(ws, all[i])
	}
	if len(ws) == 0 {
		return
	}
	if len(ws) >= 2 && ws[1].op && ws[1].s == "=" {
		p.assign(ws)
		return
	}
	if ws[0].quote && len(ws) == 1 {
		p.weak(ws)
		return
	}
	p.invoke(ws)
}

// assign keeps $name = 'text', and judges a command on the right.
func (p *powershell) assign(ws []psWord) {
	name, ok := strings.CutPrefix(ws[0].s, "$")
	if !ok {
		return
	}
	if env, found := strings.CutPrefix(name, "env:"); found && len(ws) > 2 {
		if strings.HasPrefix(env, "git") {
			p.rep.role(tool.Enter, ws[2].s, "$env:"+strings.ToUpper(env))
		}
		return
	}
	delete(p.vars, name)
	if len(ws) == 3 && ws[2].quote {
		p.vars[name] = ws[2].s
		return
	}
	p.command(ws[2:])
}

func (p *powershell) weak(ws []psWord) {
	for _, w := range ws {
		if pathLike(w.s) {
			p.rep.add(Access{Access: tool.Access{Role: tool.Read, Path: w.s}, Weak: true})
		}
	}
}

// operands are what is no parameter and no parameter's value that is text.
func operands(ws []psWord) []string {
	var out []string
	for i := 0; i < len(ws); i++ {
		w := ws[i]
		if w.quote || !strings.HasPrefix(w.s, "-") {
			out = append(out, w.s)
			continue
		}
		switch strings.ToLower(w.s) {
		case "-value", "-itemtype", "-type", "-encoding", "-filter", "-pattern", "-inputobject", "-include", "-exclude", "-mode":
			i++
		}
	}
	return out
}

func (p *powershell) invoke(ws []psWord) {
	name := strings.ToLower(ws[0].s)
	args := operands(ws[1:])
	switch name {
	case "set-location", "cd", "sl", "chdir", "pushd", "push-location":
		p.each(tool.Enter, args)
	case "set-content", "sc", "add-content", "ac", "out-file":
		p.each(tool.Write, args[:min(1, len(args))])
	case "clear-content", "remove-item", "rm", "del", "rmdir", "ri", "erase", "new-item", "ni", "mkdir", "md", "move-item", "mv", "mi", "rename-item", "ren", "rni", "tee-object", "export-csv", "set-item", "set-itemproperty", "touch", "expand-archive", "compress-archive", "invoke-webrequest-outfile":
		p.each(tool.Write, args)
	case "copy-item", "cp", "copy", "cpi":
		p.each(tool.Read, args[:min(1, len(args))])
		p.each(tool.Write, args[min(1, len(args)):])
	case "get-content", "gc", "cat", "type", "get-childitem", "gci", "ls", "dir", "test-path", "get-item", "gi", "select-string", "sls", "import-csv", "resolve-path", "import-module", "ipmo", "get-filehash":
		p.each(tool.Read, args)
	case "invoke-expression", "iex":
		p.eval(args)
	case "start-process", "saps", "start":
		p.start(ws[1:])
	case "write-host", "write-output", "echo", "write-error", "write-verbose", "write-warning", "throw", "return", "if", "else", "elseif", "foreach", "for", "while", "function", "param", "try", "catch", "finally", "in", "join-path", "get-date", "get-location", "pwd", "exit", "foreach-object", "where-object", "select-object", "sort-object", "measure-object", "convertto-json", "convertfrom-json", "format-table", "out-string", "out-null", "%", "?", "split-path":
	case "add-type", "invoke-command", "icm", "new-object":
		p.rep.opaque(ws[0].s + " of PowerShell cannot be followed")
	default:
		p.other(ws, args)
	}
}

func (p *powershell) each(role tool.Role, paths []string) {
	for _, s := range paths {
		p.rep.role(role, s, "")
	}
}

func (p *powershell) eval(args []string) {
	for _, a := range args {
		if mark.In(a) {
			p.rep.opaque("the code evaluates text that is not known")
			continue
		}
		scanPowerShell(p.rep, a, p.depth+1)
	}
	if len(args) == 0 {
		p.rep.opaque("the code evaluates text that is not known")
	}
}

// start reads Start-Process FILE -ArgumentList A, B -WorkingDirectory D.
func (p *powershell) start(ws []psWord) {
	run := tool.Run{Why: "Start-Process"}
	for i := 0; i < len(ws); i++ {
		switch s := strings.ToLower(ws[i].s); {
		case s == "-workingdirectory" && i+1 < len(ws):
			i++
			run.Dir = ws[i].s
			p.rep.role(tool.Enter, ws[i].s, "-WorkingDirectory")
		case strings.HasPrefix(s, "-redirectstandard") && i+1 < len(ws):
			i++
			p.rep.role(tool.Write, ws[i].s, "-RedirectStandardOutput")
		case strings.HasPrefix(s, "-") && !ws[i].quote && len(run.Args) < 1, s == "-argumentlist", s == "-wait", s == "-nonewwindow", s == "-passthru":
		default:
			run.Args = append(run.Args, strings.Fields(ws[i].s)...)
		}
	}
	if len(run.Args) > 0 {
		p.rep.run(run)
	}
}

// other is a program, or a method of .NET.
func (p *powershell) other(ws []psWord, args []string) {
	name := ws[0].s
	if strings.HasPrefix(name, "[") {
		p.method(strings.ToLower(name))
		return
	}
	if strings.HasPrefix(name, "$") || strings.HasPrefix(name, "-") || name == mark.Atom { // a variable, an operator
		return
	}
	if mark.In(name) {
		if len(args) == 0 {
			return
		}
		p.rep.opaque("the code runs a command that is not known")
		return
	}
	argv := make([]string, len(ws))
	for i, w := range ws {
		argv[i] = w.s
	}
	p.rep.run(tool.Run{Args: argv})
}

// method reads [System.IO.File]::WriteAllText('path', …), whose arguments follow.
func (p *powershell) method(name string) {
	if !strings.HasPrefix(p.src[max(0, min(p.pos-1, len(p.src))):], "(") {
		return
	}
	w := psWord{}
	for at := p.pos; p.pos < len(p.src) && w.s == ""; {
		if w, _ = p.word(); p.pos <= at {
			break
		}
	}
	switch {
	case strings.Contains(name, "io.path]") || w.op:
	case strings.Contains(name, "io.") && (strings.Contains(name, "::read") || strings.Contains(name, "::exists") || strings.Contains(name, "::get") || strings.Contains(name, "::enumerate")):
		p.rep.role(tool.Read, w.s, name)
	case strings.Contains(name, "setcurrentdirectory"):
		p.rep.role(tool.Enter, w.s, name)
	case strings.Contains(name, "io."):
		p.rep.role(tool.Write, w.s, name)
	case strings.Contains(name, "process]::start"):
		p.rep.run(tool.Run{Code: w.s, Why: name})
	case strings.Contains(name, "setenvironmentvariable"):
		p.rep.opaque("the code changes its environment")
	case strings.Contains(name, "scriptblock]::create") || strings.Contains(name, "reflection") || strings.Contains(name, "convert]::frombase64"):
		p.rep.opaque(name + " of PowerShell cannot be followed")
	case strings.Contains(name, "interopservices") || strings.Contains(name, "activator"):
		p.rep.opaque(name + " of PowerShell cannot be followed")
	}
}
