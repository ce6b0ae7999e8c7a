package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// Some programs have a language of commands: tmux, screen, socat, debuggers. Their
// languages are not read. Any word may begin a command, be a line of shell or name
// a file, and all that these would do is judged.

// maxLoosely bounds the words that are read so.
const maxLoosely = 48

// looselyUse reads a call of such a program.
func looselyUse(c commands.Call) commands.Use {
	w := newWrapping(c)
	w.use.Out = mark.Any
	w.loosely(c.Args[1:], true)
	if c.Fed {
		w.add(commands.Run{Code: c.Stdin, Lang: commands.Opaque, Why: "standard input"})
	}
	return w.done()
}

func (w *wrapping) loosely(words []string, outer bool) {
	if len(words) > maxLoosely {
		w.find(commands.Ask, "it has more words than cordon reads", "")
		words = words[:maxLoosely]
	}
	for i, word := range words {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "://") {
			w.args(words[i:], "operands")
		}
		if text, ok := w.call.FileText(word); ok {
			w.add(commands.Run{Code: text, Lang: commands.Opaque, Why: "operand"})
		}
		if text := spaced.Replace(word); outer && strings.Contains(text, " ") {
			w.code(typed.Replace(word), "operand")
			if strings.Contains(word, "(") {
				w.add(commands.Run{Code: word, Lang: commands.Opaque, Why: "operand"})
			}
			command, _, _ := strings.Cut(strings.ReplaceAll(text, "<", ">"), ">") // code has its redirections
			w.loosely(strings.Fields(command), false)
			continue
		}
		for _, path := range argtext.LooseArgument(word) {
			if dir := argtext.Parent(path); dir != "/usr/bin" && dir != "/bin" {
				w.touch(commands.Write, path, "operand")
			}
		}
	}
}

// spaced puts blanks around the commands that a word may hold.
var spaced = strings.NewReplacer("://", "://", "#(", " ", ")", " ", ";", " ", "!!", " ", ":", " ", ",", " ", `"`, " ", "'", " ",
	`\n`, " ", `\r`, " ", `\012`, " ", `\015`, " ", "^M", " ", "\n", " ")

// typed is the text that the names of keys stand for.
var typed = strings.NewReplacer(`\n`, "\n", `\r`, "\n", `\012`, "\n", `\015`, "\n", "^M", "\n")
