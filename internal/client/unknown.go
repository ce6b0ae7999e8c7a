package client

import (
	"slices"
	"strings"
)

// What a tool does that nobody has described is guessed from its name and from the
// names in its input. Where they say that it runs or writes something, and what
// that is was not found, the guess is not good enough.

var (
	runningWords = [...]string{
		"run", "exec", "execute", "terminal", "shell", "eval", "command", "script", "bash", "sh", "zsh", "cmd", "powershell", "pwsh", "repl", "spawn",
	}
	// statedWords end the names of what is never a command, even of a tool that runs
	// something: queries, addresses, functions of a web page, and what is said about
	// the call.
	statedWords = [...]string{
		"sql", "query", "url", "endpoint", "route", "selector", "xpath", "regex", "type", "mode", "format", "encoding", "language", "lang",
		"description", "title", "reason", "function",
	}
	// globWords are in the names of tools whose patterns are of files.
	globWords = [...]string{"glob", "find", "files", "list", "ls", "tree", "walk"}
)

// unknown looks through the input of a tool that is not in the tables.
func (r *Request) unknown(t *Tool, input value) error {
	s := scan{r: r, writing: t.writes(), tool: t.Name}
	s.object(input, 0)
	if s.writing && len(r.Paths)+len(r.Commands) == 0 {
		for _, p := range s.loose {
			r.Paths = append(r.Paths, Path{p, true})
		}
	}
	if foreignName(t.Name, input) || s.unread && len(r.Commands) == 0 && anyWord(t.Name, runningWords[:]) {
		r.Dangers = append(r.Dangers, Opaque)
	}
	return s.err
}

// foreignName reports whether a name is in letters that no interface to a model
// takes for one: a letter that looks like another hides the word it is in.
func foreignName(tool string, input value) bool {
	odd := func(name string) bool { return strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) }
	return odd(tool) || slices.ContainsFunc(input.members, func(m member) bool { return odd(m.key) })
}

// globs reports whether a text is a pattern of files outside of where the tool is.
// Patterns of tools that read are mostly of text.
func (s *scan) globs(text string, list []string) bool {
	switch {
	case !shaped(text):
		return false
	case lastWord(list, []string{"glob", "globs"}):
		return true
	}
	return lastWord(list, []string{"pattern", "patterns"}) && (s.writing || anyWord(s.tool, globWords[:]))
}

// prose is a text under a name of what is only said or stored.
func (s *scan) prose(text string, list []string) {
	if lastWord(list, statedWords[:]) {
		return
	}
	if wholePath(text) {
		s.loose = append(s.loose, text)
	}
	s.unread = s.unread || !plain(text)
}

// wholePath reports whether a text is a path and nothing else. A word behind a
// slash is more often said to a bot.
func wholePath(s string) bool {
	return shaped(s) && !strings.ContainsAny(s, " \t") && (s[0] != '/' || strings.Contains(s[1:], "/"))
}

// plain reports whether a text is one word that a shell does nothing with, and that
// names nothing outside of where it is.
func plain(s string) bool {
	return s == "" || !shaped(s) && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:@/+-", r))
	})
}
