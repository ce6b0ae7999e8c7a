package agent

import (
	"slices"
	"strings"
)

// SignsIn reports whether a variable of Variables signs the client in, or leads it to a server
// that may want no login.
func (a *Adapter) SignsIn(name string) bool {
	if slices.Contains(a.Addresses, name) {
		return true
	}
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "AUTH", "_USE_"}, func(part string) bool { return strings.Contains(name, part) })
}

// OwnLogin reports whether the operator's settings or arguments say how to sign in. What cannot be
// read says nothing.
func (a *Adapter) OwnLogin(own map[string][]byte, args []string) bool {
	for _, in := range a.LoginSettings {
		settings, err := a.readSettings(own[in.File])
		if err == nil && !isEmpty(memberOf(settings, in.Key)) {
			return true
		}
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		return slices.ContainsFunc(a.LoginArgs, func(part string) bool { return strings.Contains(arg, part) })
	})
}
