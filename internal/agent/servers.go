package agent

import (
	"maps"
	"path"
)

// serversFile is where the servers stand for clients that read them from a file. What
// is on a command line can be read by every user of the machine, and a server may be
// given a key.
const serversFile = "mcp.json"

// AddServers adds the file, and returns where the client sees it; "" without servers.
func (k *Kit) AddServers(o Order, form func(Server) map[string]any) (string, error) {
	if len(o.Servers) == 0 {
		return "", nil
	}
	text, err := Compact(map[string]any{"mcpServers": o.serverTable(form)})
	if err != nil {
		return "", err
	}
	k.AddFile(serversFile, append(text, '\n'))
	return path.Join(o.Place, serversFile), nil
}

// serverTable has the servers by their names, each in the form of a client.
func (o Order) serverTable(form func(Server) map[string]any) map[string]any {
	table := map[string]any{}
	for _, s := range o.Servers {
		table[s.Name] = form(s)
	}
	return table
}

// WithServers puts the servers over settings. One of the same name that is there
// is replaced as a whole: half of each would be neither.
func (o Order) WithServers(settings map[string]any, key string, form func(Server) map[string]any) map[string]any {
	if len(o.Servers) == 0 {
		return settings
	}
	table := map[string]any{}
	if there, ok := settings[key].(map[string]any); ok {
		table = maps.Clone(there)
	}
	maps.Copy(table, o.serverTable(form))
	settings = maps.Clone(settings)
	settings[key] = table
	return settings
}

// CommonServer is a server as most clients have it. Without a type some take everything for a
// program.
func CommonServer(s Server) map[string]any {
	if s.URL != "" {
		return Filled(map[string]any{"type": "http", "url": s.URL}, "headers", s.Headers)
	}
	return Filled(map[string]any{"type": "stdio", "command": s.Command, "args": Listed(s.Args)}, "env", s.Env)
}

// Filled is an object with a table, where that has something in it.
func Filled(v map[string]any, key string, table map[string]string) map[string]any {
	if len(table) > 0 {
		v[key] = table
	}
	return v
}

// Listed is a list that JSON does not show as null.
func Listed(list []string) []string { return append([]string{}, list...) }
