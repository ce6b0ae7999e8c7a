package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// OwnServers are the MCP servers in the files of Adapter.ServerFiles. The directory is
// that of the operator's checkout: some clients keep servers for each. lookup gives the
// variables that values may name.
func (a *Adapter) OwnServers(files map[string][]byte, checkout string, lookup func(string) (string, bool)) ([]Server, error) {
	if a.ReadServers == nil {
		return nil, nil
	}
	list, err := a.ReadServers(files, checkout)
	if err != nil {
		return nil, fmt.Errorf("the MCP servers of %s: %w", a.Name, err)
	}
	for i := range list {
		list[i] = list[i].expanded(a.Expand, lookup)
	}
	slices.SortFunc(list, func(x, y Server) int { return strings.Compare(x.Name, y.Name) })
	return list, nil
}

// errNotObject is a file of settings that has another shape.
var errNotObject = errors.New("it is not an object")

// JSONObject reads settings, with the comments that clients allow in them. No text is no
// settings.
func JSONObject(text []byte) (map[string]any, error) {
	if len(strings.TrimSpace(string(text))) == 0 {
		return map[string]any{}, nil
	}
	var m map[string]any
	if err := json.Unmarshal(plainJSON(text), &m); err != nil || m == nil {
		return nil, errNotObject // the error of the decoder could show a value
	}
	return m, nil
}

// ServerTable are the servers of a table, each made by a function of its members. What a
// function does not understand, and names that a tool's name cannot hold, are left out:
// the client may use them, and a cell does not.
func ServerTable(table any, read func(members map[string]any) (Server, bool)) []Server {
	rows, _ := table.(map[string]any)
	var list []Server
	for name, row := range rows {
		members, ok := row.(map[string]any)
		if !ok || !serverName().MatchString(name) {
			continue
		}
		s, ok := read(members)
		s.Name = name
		if ok && s.check("") == nil {
			list = append(list, s)
		}
	}
	return list
}

// UsualServer reads a server in the form that most clients share. A server that is off,
// and one of an older transport, is none.
func UsualServer(m map[string]any) (Server, bool) {
	if off, _ := m["disabled"].(bool); off {
		return Server{}, false
	}
	switch kind, _ := m["type"].(string); kind {
	case "", "stdio", "local", "http", "streamable-http":
	default:
		return Server{}, false
	}
	s := Server{Command: text(m["command"]), Args: texts(m["args"]), Env: textTable(m["env"]), URL: text(m["url"]), Headers: textTable(m["headers"])}
	if s.URL != "" {
		s.Command, s.Args, s.Env = "", nil, nil
	} else {
		s.Headers = nil
	}
	return s, true
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func texts(v any) []string {
	var list []string
	items, _ := v.([]any)
	for _, item := range items {
		list = append(list, fmt.Sprint(item))
	}
	return list
}

func textTable(v any) map[string]string {
	rows, _ := v.(map[string]any)
	if len(rows) == 0 {
		return nil
	}
	table := map[string]string{}
	for name, value := range rows {
		table[name] = fmt.Sprint(value)
	}
	return table
}

// expanded has the values of variables where the operator's settings name them: the cell
// does not have those variables.
func (s Server) expanded(expand func(string, func(string) (string, bool)) string, lookup func(string) (string, bool)) Server {
	if expand == nil || lookup == nil {
		return s
	}
	each := func(table map[string]string) map[string]string {
		if table == nil {
			return nil
		}
		out := map[string]string{}
		for name, v := range table {
			out[name] = expand(v, lookup)
		}
		return out
	}
	s.Command, s.URL, s.Env, s.Headers = expand(s.Command, lookup), expand(s.URL, lookup), each(s.Env), each(s.Headers)
	args := s.Args
	s.Args = nil
	for _, a := range args {
		s.Args = append(s.Args, expand(a, lookup))
	}
	return s
}

// variableUse finds ${NAME}, ${NAME:-otherwise} and $NAME.
var variableUse = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))`)
})

// Expanded is a value of a client's settings with the variables that it names, as ${NAME},
// ${NAME:-otherwise} or $NAME. A name without a value stays as it is.
func Expanded(value string, lookup func(string) (string, bool)) string {
	return expand(value, true, lookup)
}

// ExpandedBraces is Expanded for clients that know only the forms with braces.
func ExpandedBraces(value string, lookup func(string) (string, bool)) string {
	return expand(value, false, lookup)
}

func expand(value string, bare bool, lookup func(string) (string, bool)) string {
	return variableUse().ReplaceAllStringFunc(value, func(use string) string {
		m := variableUse().FindStringSubmatch(use)
		name, otherwise := m[1], m[2]
		if name == "" && bare {
			name = m[3]
		}
		if v, ok := lookup(name); ok && name != "" {
			return v
		}
		if strings.Contains(use, ":-") {
			return otherwise
		}
		return use
	})
}
