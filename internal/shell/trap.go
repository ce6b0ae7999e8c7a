package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// trap remembers code for later. That for EXIT runs at the end, as the shell is
// then. That for a signal, an error or a return may run at any time: it runs at
// the end in a shell of its own, and what it sets is not known from now on.
func (m *Machine) trap(args []string) {
	args = trimDashes(args)
	if len(args) == 0 || args[0] == "-p" || args[0] == "-l" || args[0] == "-P" {
		return
	}
	code, signals := args[0], args[1:]
	if len(signals) == 0 { // trap INT
		code, signals = "-", args
	}
	alarms := map[string]string{}
	if len(m.traps) > 0 { // a subshell begins without
		alarms = maps.Clone(m.alarms)
	}
	for _, s := range signals {
		s = signalName(s)
		if old, ok := alarms[s]; ok && s != "EXIT" {
			m.runLater(old)
		}
		delete(alarms, s)
		if code != "-" && strings.TrimSpace(code) != "" {
			alarms[s] = code
			m.forgetTrapped(s, code)
		}
	}
	m.alarms = alarms
	m.traps = pendingTraps(alarms)
}

// pendingTraps is the code that runs at the end, that for EXIT last.
func pendingTraps(alarms map[string]string) []string {
	var list []string
	for _, s := range slices.Sorted(maps.Keys(alarms)) {
		code := "(" + alarms[s] + "\n)"
		if s != "EXIT" && alarms[s] != alarms["EXIT"] && !slices.Contains(list, code) {
			list = append(list, code)
		}
	}
	if code, ok := alarms["EXIT"]; ok {
		list = append(list, code)
	}
	return list
}

// signalName is a signal's name without its variations.
func signalName(s string) string {
	s = strings.TrimPrefix(strings.ToUpper(s), "SIG")
	if s == "0" {
		return "EXIT"
	}
	return s
}

// forgetTrapped makes unknown what the code of a trap sets, unless the shell ends
// with it.
func (m *Machine) forgetTrapped(signal, code string) {
	if signal == "EXIT" {
		return
	}
	f := m.parse(code)
	if f == nil || len(f.Stmts) == 0 || endsWithExit(f.Stmts[len(f.Stmts)-1]) {
		return
	}
	shaky := maps.Clone(m.shaky)
	if shaky == nil {
		shaky = map[string]bool{}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil {
			shaky[a.Name.Value] = true
		}
		return true
	})
	m.shaky = shaky
	for name := range shaky {
		if m.setByScript(name) {
			m.setPlain(name, mark.Any)
		}
	}
	if changesState(f) {
		m.world.Doubt(m, "a trap that changes the shell at any time")
	}
}

// endsWithExit recognises exit.
func endsWithExit(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "exit"
}

// changesState recognises code that sets what is not an assignment.
func changesState(f *syntax.File) bool {
	found := false
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			switch c.Args[0].Lit() {
			case "read", "mapfile", "readarray", "eval", "cd", "pushd", "popd", "shift", ".", "source":
				found = true
			}
		}
		if _, ok := n.(*syntax.Subshell); ok {
			return false
		}
		return !found
	})
	return found
}

// runReturnTrap runs the trap for RETURN, when a function ends.
func (m *Machine) runReturnTrap() {
	if code, ok := m.alarms["RETURN"]; ok && len(m.traps) > 0 {
		m.runLater(code)
	}
}
