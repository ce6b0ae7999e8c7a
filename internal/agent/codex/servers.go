package codex

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"cordon/internal/agent"
)

// systemConfig is read below every other configuration. Servers and the operator's provider stand
// there: other users of the machine can read a command line.
const systemConfig = "/etc/codex/config.toml"

// addConfig adds the configuration with the servers and the operator's provider, or the same as values for
// -c where no file can be shown. That of the machine stays, but for what has the same names.
func addConfig(k *agent.Kit, o *agent.Order) (pins []string, err error) {
	name, provider, err := givenProvider(*o)
	if err != nil {
		return nil, err
	}
	if o.Chosen[providerKey] != nil && o.Own == nil { // it is given no login, and no servers of its own
		o.Chosen = maps.Clone(o.Chosen)
		delete(o.Chosen, providerKey)
		delete(o.Chosen, "model")
	}
	if !o.Managed {
		pins = serverPins(o.Servers)
		if name != "" {
			value, err := inlineTOML(provider)
			if err != nil {
				return nil, err
			}
			pins = append(pins, providerTable+"."+name+"="+value)
		}
		k.Private = append(k.Private, pins...)
		return pins, nil
	}
	if len(o.Servers) == 0 && name == "" {
		return nil, nil
	}
	all := map[string]any{}
	if toml.Unmarshal(o.Machine[systemConfig], &all) != nil {
		return nil, errors.New(systemConfig + " of this machine is not understood") // the decoder's error could show a value
	}
	if len(o.Servers) > 0 {
		all = o.WithServers(all, "mcp_servers", serverForm)
	}
	if name != "" {
		table, _ := all[providerTable].(map[string]any)
		table = maps.Clone(table)
		if table == nil {
			table = map[string]any{}
		}
		table[name] = provider
		all[providerTable] = table
	}
	text, err := toml.Marshal(all)
	if err != nil {
		return nil, err
	}
	k.AddFile("config.toml", text)
	k.Shown = append(k.Shown, agent.Shown{Name: "config.toml", At: systemConfig})
	return nil, nil
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
