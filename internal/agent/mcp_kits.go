package agent

import (
	"maps"
	"path"
	"slices"
	"strings"

	"cordon/internal/client"
)

// serversFile is where the servers stand for clients that read them from a file. What
// is on a command line can be read by every user of the machine, and a server may be
// given a key.
const serversFile = "mcp.json"

// servers adds the file, and returns where the client sees it; "" without servers.
func (k *Kit) servers(o Order, form func(Server) map[string]any) (string, error) {
	if len(o.Servers) == 0 {
		return "", nil
	}
	text, err := compact(map[string]any{"mcpServers": o.serverTable(form)})
	if err != nil {
		return "", err
	}
	k.file(serversFile, append(text, '\n'))
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

// withServers puts the servers over settings. One of the same name that is there
// is replaced as a whole: half of each would be neither.
func (o Order) withServers(settings map[string]any, key string, form func(Server) map[string]any) map[string]any {
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

// claudeServer is a server as Claude has it. Without a type it takes everything for a
// program.
func claudeServer(s Server) map[string]any {
	if s.URL != "" {
		return filled(map[string]any{"type": "http", "url": s.URL}, "headers", s.Headers)
	}
	return filled(map[string]any{"type": "stdio", "command": s.Command, "args": listed(s.Args)}, "env", s.Env)
}

// claudeAllowed are the rules that let the servers' tools run without a question.
func claudeAllowed(servers []Server) []string {
	var rules []string
	for _, s := range servers {
		rules = append(rules, "mcp__"+s.Name)
	}
	return rules
}

// copilotServer is a server as Copilot has it, with all of its tools.
func copilotServer(s Server) map[string]any {
	v := claudeServer(s)
	v["tools"] = []string{"*"}
	if s.URL == "" {
		v["type"] = "local"
	}
	return v
}

// geminiServer is a server as Gemini has it. By "url" it would mean an older
// transport.
func geminiServer(s Server) map[string]any {
	if s.URL != "" {
		return filled(map[string]any{"httpUrl": s.URL}, "headers", s.Headers)
	}
	return filled(map[string]any{"command": s.Command, "args": listed(s.Args)}, "env", s.Env)
}

// openCodeServer is a server as OpenCode has it. A program gets the directories back
// that are the client's own; see openCodeShell.
func openCodeServer(home string) func(Server) map[string]any {
	return func(s Server) map[string]any {
		if s.URL != "" {
			return filled(map[string]any{"type": "remote", "url": s.URL, "enabled": true}, "headers", s.Headers)
		}
		env := map[string]string{}
		for _, v := range openCodeShell(home) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		maps.Copy(env, s.Env)
		return map[string]any{"type": "local", "command": append([]string{s.Command}, s.Args...), "environment": env, "enabled": true}
	}
}

// codexServers are the servers as values for -c: Codex reads no file beside its own.
func codexServers(servers []Server) []string {
	var pins []string
	for _, s := range servers {
		parts := []string{"command=" + client.TOMLString(s.Command), "args=" + tomlList(s.Args), "env=" + tomlTable(s.Env)}
		if s.URL != "" {
			parts = []string{"url=" + client.TOMLString(s.URL), "http_headers=" + tomlTable(s.Headers)}
		}
		pins = append(pins, "mcp_servers."+s.Name+"={"+strings.Join(parts, ",")+"}")
	}
	return pins
}

func tomlList(list []string) string {
	var words []string
	for _, s := range list {
		words = append(words, client.TOMLString(s))
	}
	return "[" + strings.Join(words, ",") + "]"
}

func tomlTable(table map[string]string) string {
	var entries []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		entries = append(entries, client.TOMLString(name)+"="+client.TOMLString(table[name]))
	}
	return "{" + strings.Join(entries, ",") + "}"
}

// filled is an object with a table, where that has something in it.
func filled(v map[string]any, key string, table map[string]string) map[string]any {
	if len(table) > 0 {
		v[key] = table
	}
	return v
}

// listed is a list that JSON does not show as null.
func listed(list []string) []string { return append([]string{}, list...) }
