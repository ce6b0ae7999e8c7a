package git

import (
	_ "embed"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// gitKeys are the settings and variables that lead git elsewhere or make it run
// something.
//
//go:embed git.txt
var gitKeys string

// settingKind returns the kind of a key's value, and "" if it is harmless.
func settingKind(key string) string {
	section, sub, name := splitKey(key)
	if !strings.Contains(gitKeys, "\n"+section+".") {
		return ""
	}
	for _, k := range [...]string{section + "." + argtext.When(sub != "", "*.") + name, section + ".?." + name, section + ".?.*"} {
		if _, rest, ok := strings.Cut(gitKeys, "\n"+k+" "); ok {
			kind, _, _ := strings.Cut(rest, "\n")
			return kind
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
		g.ask("cordon cannot tell which git setting this is", "write the key out")
	case section == "url" && (name == "insteadof" || name == "pushinsteadof"):
		g.address(commands.Write, sub, s.key)
	case section == "remote" && sub != "" && name == "push":
		g.act(commands.GitPushes, sub, s.value)
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
