package codex

import (
	"maps"
	"slices"
	"strings"

	"cordon/internal/agent"
)

// serverPins are the servers as values for -c: Codex reads no file beside its own.
func serverPins(servers []agent.Server) []string {
	var pins []string
	for _, s := range servers {
		parts := []string{"command=" + tomlString(s.Command), "args=" + tomlList(s.Args), "env=" + tomlTable(s.Env)}
		if s.URL != "" {
			parts = []string{"url=" + tomlString(s.URL), "http_headers=" + tomlTable(s.Headers)}
		}
		pins = append(pins, "mcp_servers."+s.Name+"={"+strings.Join(parts, ",")+"}")
	}
	return pins
}

func tomlList(list []string) string {
	var words []string
	for _, s := range list {
		words = append(words, tomlString(s))
	}
	return "[" + strings.Join(words, ",") + "]"
}

func tomlTable(table map[string]string) string {
	var entries []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		entries = append(entries, tomlString(name)+"="+tomlString(table[name]))
	}
	return "{" + strings.Join(entries, ",") + "}"
}
