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

// SshSetting is the kind and the value of a setting of ssh, NAME=VALUE.
func SshSetting(setting string) (kind, value string) {
	i := strings.IndexAny(setting, "= \t")
	if i < 0 {
		return "", ""
	}
	value = strings.TrimSpace(strings.TrimLeft(setting[i:], "= \t"))
	if value == "none" {
		return "", ""
	}
	switch strings.ToLower(setting[:i]) {
	case "proxycommand", "localcommand", "knownhostscommand":
		return "code", value
	case "match":
		_, line, _ := strings.Cut(value, "exec ")
		return "code", strings.Trim(line, `"`)
	case "remotecommand":
		return "remote", value
	case "hostname":
		return "host", value
	case "identityfile", "certificatefile", "include", "globalknownhostsfile", "revokedhostkeys":
		return "read", value
	case "userknownhostsfile", "controlpath":
		return "write", value
	case "pkcs11provider", "securitykeyprovider", "xauthlocation":
		return "exec", value
	}
	return "", ""
}
