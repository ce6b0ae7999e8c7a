package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// socatUse is socat: two addresses, each of which may be a file or a command.
func socatUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "socat")
	w.takeAll(s)
	for _, address := range s.Operands {
		for half := range strings.SplitSeq(address, "!!") {
			w.address(half)
		}
	}
	w.use.Out = mark.Any
	return w.done()
}

// address is one address of socat.
func (w *wrapping) address(text string) {
	kind, rest, ok := strings.Cut(text, ":")
	value, options := cutAddress(rest)
	if !ok || strings.Contains(kind, "/") {
		value, options = cutAddress(text)
		if strings.Contains(value, "/") {
			w.touch(commands.Write, value, "address")
		}
		kind = ""
	}
	outer := w.dir
	for option := range strings.SplitSeq(options, ",") {
		if name, dir, _ := strings.Cut(option, "="); name == "chdir" || name == "cd" || name == "chroot" {
			w.enter(dir, name)
		}
	}
	switch strings.ToUpper(kind) {
	case "EXEC", "SYSTEM", "SHELL":
		w.served(value, strings.ToUpper(kind))
	case "OPEN", "FILE", "GOPEN":
		role := commands.Write
		if strings.Contains(","+options+",", ",rdonly,") {
			role = commands.Read
		}
		w.touch(role, value, kind)
	case "CREATE", "CREAT", "PIPE", "FIFO", "UNIX-LISTEN", "UNIX-L", "UNIX-RECV", "UNIX-RECVFROM", "PTY":
		w.touch(commands.Write, value, kind)
	case "UNIX", "UNIX-CONNECT", "UNIX-CLIENT", "UNIX-SENDTO":
		w.touch(commands.Write, value, kind)
	}
	for option := range strings.SplitSeq(options, ",") {
		if name, file, _ := strings.Cut(option, "="); name == "link" || name == "symbolic-link" || name == "lockfile" || name == "waitlock" {
			w.touch(commands.Write, file, name)
		}
	}
	w.dir = outer
}

// served runs a line of shell whose input comes from the other end.
func (w *wrapping) served(line, why string) {
	r := w.again(why)
	r.Code, r.Fed, r.Stdin = line, true, mark.Any
	if line != "" {
		w.add(r)
	}
}

// cutAddress separates the argument of an address from its options: at the first
// comma that is not quoted or in braces.
func cutAddress(text string) (value, options string) {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case quote == 0 && ch == ',':
			return b.String(), text[i+1:]
		case quote == 0 && (ch == '"' || ch == '\''):
			quote = ch
			if !(i == 0) {
				b.WriteByte(ch)
			}
		case ch == quote && quote != 0:
			quote = 0
			if text[0] != ch || i+1 < len(text) && text[i+1] != ',' {
				b.WriteByte(ch)
			}
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), ""
}

// ncUse is netcat in its versions, some of which run a command for a connection.
func ncUse(name string, c commands.Call) commands.Use {
	if name != "ncat" {
		name = "nc"
	}
	w := newWrapping(c)
	s := scanAll(c.Args[1:], name)
	w.takeAll(s)
	for _, line := range w.codes {
		w.served(line, "-e")
	}
	w.codes = nil
	if s.Has("-U") && len(s.Operands) > 0 {
		w.touch(commands.Write, s.Operands[0], "-U")
	}
	w.use.Out = mark.Any
	return w.done()
}
