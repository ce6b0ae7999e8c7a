package codex

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"cordon/internal/agent"
)

// systemConfig is read below every other configuration. Servers stand there: other users of the
// machine can read a command line.
const systemConfig = "/etc/codex/config.toml"

// addServers adds the configuration with the servers. That of the machine stays, but for servers of the
// same names.
func addServers(k *agent.Kit, o agent.Order) error {
	if len(o.Servers) == 0 || !o.Managed {
		return nil
	}
	all := map[string]any{}
	if toml.Unmarshal(o.Machine[systemConfig], &all) != nil {
		return errors.New(systemConfig + " of this machine is not understood") // the decoder's error could show a value
	}
	text, err := toml.Marshal(o.WithServers(all, "mcp_servers", serverForm))
	if err != nil {
		return err
	}
	k.AddFile("config.toml", text)
	k.Shown = append(k.Shown, agent.Shown{Name: "config.toml", At: systemConfig})
	return nil
}

func serverForm(s agent.Server) map[string]any {
	if s.URL != "" {
		return agent.Filled(map[string]any{"url": s.URL}, "http_headers", s.Headers)
	}
	return agent.Filled(map[string]any{"command": s.Command, "args": agent.Listed(s.Args)}, "env", s.Env)
}

// serverPins are the servers as values for -c, where no file can be shown.
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
