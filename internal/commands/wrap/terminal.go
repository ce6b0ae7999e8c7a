package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// screenUse is screen: a command in a terminal of its own, or a command for a
// screen that runs already.
func screenUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "screen")
	w.takeAll(s)
	switch {
	case s.Has("-X") || s.Has("-Q"):
		w.screenCommand(s.Operands)
	case (s.Has("-r") || s.Has("-x") || s.Has("-R")) && !s.Has("-m"):
	default:
		w.command(s.Operands, 0)
	}
	return w.done()
}

func (w *wrapping) screenCommand(rest []string) {
	if len(rest) == 0 {
		return
	}
	w.later = true
	switch rest[0] {
	case "stuff":
		w.find(commands.Ask, "it types into a terminal whose directory is not known", "run the command directly")
		w.code(unescapeKeys(strings.Join(rest[1:], " ")), "stuff")
	case "exec", "screen":
		w.args(screenWords(rest[1:]), rest[0])
	case "chdir":
		w.enter(strings.Join(rest[1:], " "), "chdir")
	case "hardcopy", "logfile", "writebuf", "source", "readbuf", "writebuf-file":
		for _, file := range rest[1:] {
			if !strings.HasPrefix(file, "-") {
				w.touch(commands.Write, file, rest[0])
			}
		}
	case "eval":
		w.find(commands.Ask, "it gives a screen commands that are not read", "run the command directly")
	}
}

// screenWords drops the options and the pattern of descriptors.
func screenWords(words []string) []string {
	for len(words) > 1 && (strings.HasPrefix(words[0], "-") || strings.Trim(words[0], ".!:|") == "") {
		words = words[1:]
	}
	return words
}

func unescapeKeys(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\r`, "\n", `\015`, "\n", `\012`, "\n", "^M", "\n", "\r", "\n").Replace(text)
}

// maxTmux bounds commands of tmux inside of commands of tmux.
const maxTmux = 4

// tmuxUse is tmux: one or more of its own commands, with ; between them.
func tmuxUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "tmux")
	w.takeAll(s)
	w.tmux(s.Operands, 0)
	return w.done()
}

// tmux reads the commands in a list of words.
func (w *wrapping) tmux(words []string, depth int) {
	if depth > maxTmux {
		w.find(commands.Ask, "tmux is given commands inside of commands too deep", "")
		return
	}
	start := 0
	for i, word := range words {
		if word == ";" || word == `\;` {
			w.tmuxOne(words[start:i], depth)
			start = i + 1
		} else if strings.HasSuffix(word, ";") && !strings.HasSuffix(word, `\;`) && i+1 < len(words) {
			w.tmuxOne(append(append([]string{}, words[start:i]...), word[:len(word)-1]), depth)
			start = i + 1
		}
	}
	w.tmuxOne(words[start:], depth)
}

// tmuxOne is one command of tmux.
func (w *wrapping) tmuxOne(words []string, depth int) {
	if len(words) == 0 {
		return
	}
	for _, word := range words[1:] {
		w.tmuxFormat(word)
	}
	outer := w.dir
	defer func() { w.dir, w.unsure, w.later = outer, false, false }()
	rest := words[1:]
	switch words[0] {
	case "new-session", "new", "new-window", "neww", "respawn-pane", "respawnp", "respawn-window", "respawnw":
		w.command(w.options(rest, "tmux new-window"), table.Lone)
	case "split-window", "splitw":
		w.command(w.options(rest, "tmux split-window"), table.Lone)
	case "display-popup", "popup":
		w.command(w.options(rest, "tmux display-popup"), table.Lone)
	case "run-shell", "run":
		w.command(w.options(rest, "tmux run-shell"), table.Joined)
	case "pipe-pane", "pipep":
		w.command(w.options(rest, "tmux pipe-pane"), table.Joined)
	case "if-shell", "if":
		w.tmuxIf(w.options(rest, "tmux if-shell"), depth)
	case "send-keys", "send":
		w.later = true
		w.code(typed(Scan(rest, "tmux send-keys").Operands), "send-keys")
	default:
		w.tmuxOther(words[0], rest, depth)
	}
}

// tmuxOther is a command of tmux that reads or writes, or that holds others.
func (w *wrapping) tmuxOther(name string, rest []string, depth int) {
	switch name {
	case "attach-session", "attach":
		w.options(rest, "tmux attach-session")
	case "source-file", "source":
		for _, file := range Scan(rest, "tmux source-file").Operands {
			w.touch(commands.Read, file, name)
			w.add(commands.Run{File: file, Lang: commands.Opaque, Dir: w.dir, Why: name})
		}
	case "save-buffer", "saveb":
		w.operands(w.options(rest, "tmux save-buffer"), "write")
	case "load-buffer", "loadb":
		w.operands(w.options(rest, "tmux load-buffer"), "read")
	case "set-option", "set", "set-window-option", "setw":
		if s := Scan(rest, "tmux set-option"); len(s.Operands) > 1 && strings.HasPrefix(s.Operands[0], "default-") {
			w.code(strings.Join(s.Operands[1:], " "), s.Operands[0])
		}
	case "set-hook":
		w.tmuxWords(Scan(rest, "tmux set-hook").Operands, depth)
	case "bind-key", "bind":
		w.tmuxWords(Scan(rest, "tmux bind-key").Operands, depth)
	case "confirm-before", "confirm", "command-prompt":
		w.tmuxWords(append([]string{""}, Scan(rest, "tmux confirm-before").Operands...), depth)
	}
}

// tmuxWords reads a command that follows a name, as words or as one.
func (w *wrapping) tmuxWords(rest []string, depth int) {
	switch {
	case len(rest) < 2:
	case len(rest) == 2:
		w.tmux(argtext.SplitWords(rest[1], nil), depth+1)
	default:
		w.tmux(rest[1:], depth+1)
	}
}

func (w *wrapping) tmuxIf(rest []string, depth int) {
	for i, text := range rest {
		if i == 0 {
			w.code(text, "if-shell")
			continue
		}
		w.tmux(argtext.SplitWords(text, nil), depth+1)
	}
}

// tmuxFormat runs the commands that a format holds: #(line).
func (w *wrapping) tmuxFormat(word string) {
	_, line, ok := strings.Cut(word, "#(")
	if i := strings.LastIndexByte(line, ')'); ok && i >= 0 {
		w.code(line[:i], "#()")
	}
}

// typed is the text that some keys type.
func typed(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		switch key {
		case "Enter", "C-m", "C-j", "KPEnter":
			b.WriteByte('\n')
		case "Space":
			b.WriteByte(' ')
		case "Tab", "BTab", "Escape", "Up", "Down", "Left", "Right", "BSpace", "Home", "End", "DC", "NPage", "PPage":
		case mark.Any:
			b.WriteString(mark.Any)
		default:
			if len(key) == 3 && (key[:2] == "C-" || key[:2] == "M-") {
				b.WriteByte('\n')
				break
			}
			b.WriteString(key)
		}
	}
	return strings.TrimSpace(b.String())
}
