package client

// Canary is what a client would say about a call that no lease allows: a hook that
// works denies it. call is the name that the call gets.
func Canary(n Name, call, cwd string) map[string]any {
	d := n.dialect()
	said := map[string]any{
		d.tool: shellOf(n), d.input: map[string]any{"command": "touch /cordon-canary"},
		d.session: "cordon", d.call: call, "cwd": cwd,
	}
	if d.event != "" {
		said[d.event] = wordOf(n, PreTool)
	}
	return said
}

// shellOf is what the shell is called among a client's tools.
func shellOf(n Name) string {
	for _, t := range toolsOf(n) {
		if t.kind == Shell {
			return t.name
		}
	}
	return ""
}

func wordOf(n Name, e Event) string {
	for i := range events {
		if events[i].event == e {
			return events[i].word(n)
		}
	}
	return ""
}
