package commands

import (
	"strings"

	"cordon/internal/mark"
)

// gitSetting is a key of git's configuration that leads elsewhere or runs
// something. A key has a section, perhaps a subsection, and a name; "*" is any
// name. The kinds are in git_value.go.
type gitSetting struct {
	section string
	sub     subsection
	name    string
	kind    string
}

// subsection says whether a key has one.
type subsection int

const (
	without subsection = iota
	with
	either
)

// gitSettings is the table, in the order of the sections. Only what is a path,
// an address or runs has a row: everything else is a matter of taste.
var gitSettings = []gitSetting{
	{"alias", either, "*", "bang"},
	{"blame", without, "ignorerevsfile", "read"},
	{"branch", with, "pushremote", "to"},
	{"branch", with, "remote", "from"},
	{"browser", with, "cmd", "code"},
	{"browser", with, "path", "prog"},
	{"bundle", with, "uri", "from"},
	{"commit", without, "template", "read"},
	{"core", without, "alternaterefscommand", "code"},
	{"core", without, "askpass", "prog"},
	{"core", without, "attributesfile", "read"},
	{"core", without, "editor", "editor"},
	{"core", without, "excludesfile", "read"},
	{"core", without, "fsmonitor", "switch"},
	{"core", without, "gitproxy", "code"},
	{"core", without, "hookspath", "hooks"},
	{"core", without, "pager", "pager"},
	{"core", without, "sshcommand", "code"},
	{"core", without, "virtualfilesystem", "code"},
	{"core", without, "worktree", "enter"},
	{"credential", either, "helper", "helper"},
	{"diff", without, "external", "code"},
	{"diff", without, "orderfile", "read"},
	{"diff", with, "command", "code"},
	{"diff", with, "textconv", "filter"},
	{"difftool", with, "cmd", "code"},
	{"difftool", with, "path", "prog"},
	{"fetch", without, "bundleuri", "from"},
	{"filter", with, "clean", "filter"},
	{"filter", with, "process", "filter"},
	{"filter", with, "smudge", "filter"},
	{"format", without, "outputdirectory", "write"},
	{"format", without, "signaturefile", "read"},
	{"fsck", either, "skiplist", "read"},
	{"gc", without, "recentobjectshook", "code"},
	{"gpg", either, "program", "prog"},
	{"gpg", with, "allowedsignersfile", "read"},
	{"gpg", with, "defaultkeycommand", "code"},
	{"gpg", with, "revocationfile", "read"},
	{"guitool", with, "cmd", "code"},
	{"help", without, "browser", "prog"},
	{"hook", with, "command", "code"},
	{"http", either, "cookiefile", "read"},
	{"http", either, "sslcainfo", "read"},
	{"http", either, "sslcert", "read"},
	{"http", either, "sslkey", "read"},
	{"imap", without, "tunnel", "code"},
	{"include", without, "path", "setup"},
	{"includeif", with, "path", "setup"},
	{"init", without, "templatedir", "hooks"},
	{"instaweb", without, "browser", "prog"},
	{"instaweb", without, "httpd", "code"},
	{"instaweb", without, "modulepath", "exec"},
	{"interactive", without, "difffilter", "filter"},
	{"lfs", with, "clean", "filter"},
	{"lfs", with, "path", "prog"},
	{"lfs", with, "smudge", "filter"},
	{"lfs", without, "storage", "write"},
	{"lfs", without, "url", "from"},
	{"mailmap", without, "file", "read"},
	{"man", with, "cmd", "code"},
	{"man", with, "path", "prog"},
	{"man", without, "viewer", "prog"},
	{"merge", with, "driver", "code"},
	{"mergetool", with, "cmd", "code"},
	{"mergetool", with, "path", "prog"},
	{"pager", either, "*", "pager"},
	{"receive", with, "skiplist", "read"},
	{"remote", with, "pushurl", "to"},
	{"remote", with, "receivepack", "code"},
	{"remote", with, "uploadpack", "code"},
	{"remote", with, "url", "to"},
	{"remote", without, "pushdefault", "to"},
	{"sendemail", either, "cccmd", "code"},
	{"sendemail", either, "headercmd", "code"},
	{"sendemail", either, "sendmailcmd", "code"},
	{"sendemail", either, "tocmd", "code"},
	{"sequence", without, "editor", "editor"},
	{"submodule", with, "update", "bang"},
	{"submodule", with, "url", "from"},
	{"tar", with, "command", "filter"},
	{"trace2", without, "eventtarget", "trace"},
	{"trace2", without, "normaltarget", "trace"},
	{"trace2", without, "perftarget", "trace"},
	{"trailer", with, "cmd", "code"},
	{"trailer", with, "command", "code"},
	{"uploadpack", without, "packobjectshook", "code"},
	{"web", without, "browser", "prog"},
}

// settingKind returns the kind of a key's value, and "" if it is harmless.
func settingKind(key string) string {
	section, sub, name := splitKey(key)
	for i := range gitSettings {
		s := &gitSettings[i]
		if s.section != section || s.name != "*" && s.name != name {
			continue
		}
		if s.sub == either || (s.sub == with) == (sub != "") {
			return s.kind
		}
	}
	return ""
}

// splitKey splits a key at its first and its last dot. Section and name are the
// same in any case.
func splitKey(key string) (section, sub, name string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key), "", ""
	}
	if first < last {
		sub = key[first+1 : last]
	}
	return strings.ToLower(key[:first]), sub, strings.ToLower(key[last+1:])
}

// set takes a setting, for one call or for good.
func (g *gitCall) set(s gitSet) {
	section, sub, name := splitKey(s.key)
	why := s.why
	if why == "" || why == "-c" {
		why = s.key
	}
	switch {
	case mark.Has(s.key, mark.Any):
		g.ask("which setting of git this is cannot be told", "write the key out")
	case section == "url" && (name == "insteadof" || name == "pushinsteadof"):
		g.address(Write, sub, s.key)
	case section == "remote" && sub != "" && name == "push":
		g.act(GitPushes, sub, s.value)
	case section == "remote" && sub != "" && name == "fetch":
		g.fetched(s.value)
	case section == "remote" && sub != "" && name == "vcs":
		g.ask("it makes git run the remote helper "+s.value, "use the remote as it is configured")
	case section == "sendemail" && name == "smtpserver" && strings.HasPrefix(s.value, "/"):
		g.value("prog", s.value, why)
	default:
		g.value(settingKind(s.key), s.value, why)
	}
}
