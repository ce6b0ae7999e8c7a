package git

import (
	"path"
	"strings"

	"cordon/internal/codewords"
)

// Word is a part of a setting's value that can name a file.
type Word = codewords.Word

// words lists the words of a value that a shell reads.
func words(value string) []Word { return codewords.Of(value, ofSetting) }

// ScriptWords lists the words of a shell script in the same way, without its comments.
func ScriptWords(text string) []Word { return codewords.OfScript(text, ofSetting) }

func ofSetting(key, value string) []Word { return Setting{Key: key, Value: value}.Words() }

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
	"*.*file", "*.*.*file", "http.*key", "http.*.*key", "http.*cert", "http.*.*cert", "git_ssl_cert", "git_ssl_key", "git_ssl_ca*",
	"http.sslcapath", "http.*.sslcapath", "git_template_dir", "git_exec_path", "gnupghome", filesKey,
}

// whole are the keys whose whole value is a program: git gives it to no shell, and it
// can hold blanks.
var whole = []string{"gpg.program", "gpg.*.program", "*.*.path", "core.askpass", "sendemail.smtpserver", "*_askpass", "git_ssh"}

// remote are the keys whose value is a remote: its name, its URL, or the command of the
// transport ext.
var remote = []string{"branch.*.remote", "branch.*.pushremote", "remote.pushdefault", "submodule.*.url"}

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
	case s.is(remote) && strings.Contains(s.Value, "::"):
		return words(s.Value)
	case s.is(inert):
		return nil
	case s.is(place):
		return []Word{{Text: s.Value, Place: true, Absent: true, Exact: true}}
	case s.Alias() && !strings.HasPrefix(strings.TrimSpace(s.Value), "!"):
		return words("git " + s.Value) // arguments of git
	}
	return append(words(s.Value), Word{Text: s.Value, Command: !strings.Contains(s.Value, " "), Exact: s.is(whole)}) // a path may hold blanks
}
