package wrap

import (
	"cordon/internal/commands"
	"cordon/internal/mark"
)

// served runs a line of shell whose input comes from the other end.
func (w *wrapping) served(line, why string) {
	r := w.again(why)
	r.Code, r.Fed, r.Stdin = line, true, mark.Any
	if line != "" {
		w.add(r)
	}
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
