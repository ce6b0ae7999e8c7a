package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// sshUse is ssh. What it runs on another host is not judged; on this one it is a
// line of shell that begins in the home.
func sshUse(name string, c commands.Call) commands.Use {
	w := newWrapping(c)
	s := Scan(c.Args[1:], name)
	w.takeAll(s)
	host, rest := "", s.Operands
	if len(rest) > 0 {
		after := Scan(rest[1:], name)
		w.takeAll(after)
		s.Options = append(s.Options, after.Options...)
		host, rest = rest[0], after.Operands
	}
	w.use.Out = mark.Any
	remote := ""
	for _, o := range s.Options {
		switch kind, value := SshSetting(o.Value); {
		case o.First() != "-o" || value == "":
		case kind == "host":
			host = value
		case kind == "remote":
			remote = value
		default:
			w.take(table.Option{Kind: kind, Value: value, At: "-o"})
		}
	}
	if !argtext.IsLocalHost(host) {
		return w.done()
	}
	w.enter("~", "the home on this host")
	switch {
	case len(rest) > 0:
		w.code(strings.Join(rest, " "), "command")
	case remote != "":
		w.code(remote, "RemoteCommand")
	default:
		w.input(nil)
	}
	return w.done()
}

// sshSettings are the settings of ssh that matter, with their kinds.
const sshSettings = " proxycommand=code localcommand=code knownhostscommand=code match=code remotecommand=remote hostname=host" +
	" identityfile=read certificatefile=read include=read globalknownhostsfile=read revokedhostkeys=read userknownhostsfile=write" +
	" controlpath=write pkcs11provider=exec securitykeyprovider=exec xauthlocation=exec "

// SshSetting is the kind and the value of a setting of ssh, NAME=VALUE.
func SshSetting(setting string) (kind, value string) {
	i := max(strings.IndexAny(setting, "= \t"), 0)
	value = strings.TrimSpace(strings.TrimLeft(setting[i:], "= \t"))
	_, rest, known := strings.Cut(sshSettings, " "+strings.ToLower(setting[:i])+"=")
	if !known || value == "none" {
		return "", ""
	}
	if strings.EqualFold(setting[:i], "match") {
		_, value, _ = strings.Cut(value, "exec ")
		value = strings.Trim(value, `"`)
	}
	kind, _, _ = strings.Cut(rest, " ")
	return kind, value
}
