package git

import (
	"path"
	"strings"
)

// Word is a part of a setting's value that can name a file.
type Word struct {
	Text    string
	Command bool // stands where a command does: without a slash it is looked for on PATH
	Place   bool // is meant as a file or a directory, whatever lies there
}

// inert are the keys whose values name nothing that git runs or obeys: text, refs,
// urls and the like. Every other key counts, also one that no git knows yet.
// A * stands for one section, subsection or name.
var inert = []string{
	"user.name", "user.email", "author.*", "committer.*", "commit.*", "tag.*",
	"init.defaultbranch", "branch.*", "branch.*.*", "remote.*", "remote.*.fetch", "remote.*.push", "remote.*.tagopt", "remote.*.prune",
	"push.*", "pull.*", "fetch.*", "fetch.*.*", "clone.*", "checkout.*", "rebase.*", "rerere.*", "stash.*", "status.*",
	"color.*", "color.*.*", "column.*", "advice.*", "pretty.*", "format.*", "log.*", "notes.*", "notes.*.*", "blame.*", "mailmap.*", "grep.*",
	"help.*", "i18n.*", "versionsort.*", "gc.auto", "gc.autopacklimit", "gc.autodetach", "gc.*expire*", "gc.*.reflogexpire*", "maintenance.*", "maintenance.*.*", "pack.*", "index.*", "feature.*", "extensions.*", "safe.*",
	"transfer.*", "receive.*", "bundle.*", "gui.*",
	"submodule.*.url", "submodule.*.path", "submodule.*.branch", "submodule.active", "submodule.*.active",
	"diff.*.xfuncname", "diff.*.funcname", "diff.*.wordregex", "diff.wordregex", "merge.*.name", "credential.*.username", "credential.username",
	"http.useragent", "http.*.useragent", "http.extraheader", "http.*.extraheader", "core.worktree", "core.commentchar", "core.commentstring",
	// variables
	"git_dir", "git_work_tree", "git_common_dir", "git_index_file", "git_object_directory", "git_alternate_object_directories", "git_namespace",
	"git_ceiling_directories", "git_prefix", "git_reflog_action", "git_author_*", "git_committer_*", "git_default_*", "git_terminal_prompt",
}

// place are the keys whose whole value is a file or a directory.
var place = []string{
	"core.hookspath", "init.templatedir", "include.path", "includeif.*.path", "core.attributesfile", "core.excludesfile",
	"http.sslcapath", "http.*.sslcapath", "git_template_dir", "git_exec_path", filesKey,
}

// is reports whether a setting's key is one of a list.
func (s Setting) is(list []string) bool {
	section, sub, last := s.parts()
	key := last
	if section != "" {
		key = section + "." + last
	}
	if sub != "" {
		key = section + ".x." + last
	}
	for _, pattern := range list {
		if ok, err := path.Match(pattern, key); err == nil && ok && strings.Count(pattern, ".") == strings.Count(key, ".") {
			return true
		}
	}
	return false
}

// Alias reports whether git obeys the setting only when the operator types its name.
func (s Setting) Alias() bool { return strings.HasPrefix(strings.ToLower(s.Key), "alias.") }

// Hooks reports whether the value is a directory of hooks.
func (s Setting) Hooks() bool { return s.is([]string{"core.hookspath"}) }

// Words lists what in a setting can name a file. A url.BASE.insteadOf has it in its key.
func (s Setting) Words() []Word {
	section, sub, _ := s.parts()
	switch {
	case section == "url":
		return words(sub)
	case s.is(inert):
		return nil
	case s.is(place):
		return []Word{{Text: s.Value, Place: true}}
	case s.Alias() && !strings.HasPrefix(strings.TrimSpace(s.Value), "!"):
		return words("git " + s.Value) // arguments of git
	}
	if strings.Contains(s.Value, " ") { // a path may hold blanks
		return append(words(s.Value), Word{Text: s.Value})
	}
	return words(s.Value)
}

// words reads a value as a shell would, as far as that matters: quotes, escapes,
// operators and assignments. What stands in quotes may be a command line again.
func words(value string) []Word {
	l := lexer{command: true}
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && i+1 < len(value):
			i++
			l.text = append(l.text, value[i])
		case c == '\'' || c == '"':
			end := strings.IndexByte(value[i+1:], c)
			if end < 0 {
				end = len(value) - i - 1
			}
			inside := value[i+1 : min(i+1+end, len(value))]
			l.text = append(l.text, inside...)
			if strings.ContainsAny(inside, " \t\n;|&$`") {
				l.found = append(l.found, words(inside)...)
			}
			i += end + 1
		case strings.IndexByte(" \t\r\n", c) >= 0:
			l.end(false)
		case strings.IndexByte(";|&()<>`!{}", c) >= 0:
			l.end(true)
		default:
			l.text = append(l.text, c)
		}
	}
	l.end(false)
	return l.found
}

type lexer struct {
	found   []Word
	text    []byte
	command bool // the next word is a command
	enters  bool // the next word is a directory to work in
}

// end ends a word.
func (l *lexer) end(operator bool) {
	text := string(l.text)
	l.text = l.text[:0]
	if text != "" {
		l.word(text)
	}
	if operator {
		l.command, l.enters = true, false
	}
}

func (l *lexer) word(text string) {
	name, value, assigned := strings.Cut(text, "=")
	switch {
	case assigned && value != "" && (strings.HasPrefix(name, "-") || identifier(name)):
		for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ',' || r == '=' }) {
			l.found = append(l.found, Word{Text: part, Place: identifier(name)})
		}
		l.found = append(l.found, Word{Text: value})
		if strings.HasPrefix(name, "-") || !l.command {
			l.command = false
		}
		return
	case len(text) > 2 && text[0] == '-' && text[1] != '-':
		l.found = append(l.found, Word{Text: text[2:]})
	}
	l.found = append(l.found, Word{Text: text, Command: l.command, Place: l.enters})
	if strings.ContainsAny(text, ":,@=") {
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(":,@=", r) }) {
			l.found = append(l.found, Word{Text: part})
		}
	}
	l.enters = text == "cd" || text == "pushd" || text == "-C" || text == "-I"
	l.command = false
}

func identifier(name string) bool {
	for i, c := range name {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
