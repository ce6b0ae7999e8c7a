package client

// Canary is what a client would say about a call that no lease allows: a hook that
// works denies it. call is the name that the call gets.
func (d *Dialect) Canary(call, cwd string) map[string]any {
	said := map[string]any{
		d.Keys.Tool: d.shell(), d.Keys.Input: map[string]any{"command": "touch /cordon-canary"},
		d.Keys.Session: "cordon", d.Keys.Call: call, "cwd": cwd,
	}
	if d.Keys.Event != "" {
		said[d.Keys.Event] = d.wordOf(PreTool)
	}
	return said
}

// shell is what the shell is called among the client's tools.
func (d *Dialect) shell() string {
	for i := range d.Tools {
		if t := &d.Tools[i]; t.Kind == Shell {
			return t.Name
		}
	}
	return ""
}
