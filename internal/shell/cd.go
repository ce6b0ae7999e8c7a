package shell

import (
	"path"
	"strings"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// join names a path absolutely, as the shell does: by text. A path that begins
// with a mark for absolute paths stays as it is.
func (m *Machine) join(p string) string {
	if absolute(p) {
		return p
	}
	return m.dir + "/" + p
}

func absolute(p string) bool {
	if strings.HasPrefix(p, "/") {
		return true
	}
	for _, k := range []string{mark.Any, mark.Scratch, mark.System, mark.Outside, mark.Inside} {
		if strings.HasPrefix(p, k) {
			return true
		}
	}
	return false
}

// cd changes the directory.
func (m *Machine) cd(args []string) Status {
	physical := m.options.physical
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if args[0] == "--" {
			args = args[1:]
			break
		}
		if i := strings.LastIndexAny(args[0], "LP"); i > 0 {
			physical = args[0][i] == 'P'
		}
		args = args[1:]
	}
	target := m.wholeText("HOME")
	switch {
	case len(args) > 1: // bash refuses; other shells do not
		for _, dir := range args {
			m.world.Enter(m, partial.Clean(m.join(dir)), dir)
		}
		return Unsure
	case len(args) == 1 && args[0] == "-":
		target = m.wholeText("OLDPWD")
		if _, moved := m.vars["OLDPWD"]; !moved {
			return Unsure // nowhere to go back to
		}
	case len(args) == 1 && args[0] == "":
		return Succeeds
	case len(args) == 1:
		target = args[0]
		m.searchCDPATH(target)
		if v, ok := m.vars[target]; ok && m.options.vars {
			target = v.String()
		}
	}
	return m.enterDir(target, physical)
}

// searchCDPATH looks where CDPATH may lead. Which of its directories has the name is
// only known to the disk, so each counts.
func (m *Machine) searchCDPATH(target string) {
	v, ok := m.vars["CDPATH"]
	if !ok || absolute(target) || target == "." || target == ".." || strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		return
	}
	for _, dir := range strings.Split(v.String(), ":") {
		if dir != "" {
			m.world.Enter(m, partial.Clean(m.join(dir)+"/"+target), target)
		}
	}
}

// enterDir changes to a directory. A change that may fail leaves the shell where it
// was on one of the ways through the script.
func (m *Machine) enterDir(typed string, physical bool) Status {
	dir := m.join(typed)
	if physical || strings.HasPrefix(dir, "/proc/") { // whose links are different for everybody
		dir = m.world.Real(dir)
	}
	dir = partial.Clean(dir)
	m.world.Enter(m, dir, typed)
	kind, known := m.world.Present(m, dir, true)
	unlikely := known && kind != Directory
	if (unlikely || m.falls > 0) && m.line != nil && !m.run.decide(m.line.Pos()) {
		m.run.lost = m.run.lost || unlikely && m.falls == 0
		return Fails
	}
	m.vars["OLDPWD"] = text(m.dir)
	delete(m.vars, "PWD")
	m.dir = dir
	if known || m.falls > 0 {
		return Succeeds
	}
	return Unsure
}

// pushd, popd and dirs.
func (m *Machine) pushd(args []string) Status {
	if turnsStack(args) {
		m.world.Doubt(m, "a rotation of the directory stack")
	}
	args = withoutFlags(args)
	if len(args) == 0 {
		if len(m.stack) == 0 {
			return Fails
		}
		was := m.dir
		status := m.enterDir(m.stack[0], m.options.physical)
		m.stack[0] = was
		return status
	}
	if strings.HasPrefix(args[0], "+") || len(args[0]) > 1 && args[0][0] == '-' {
		for _, d := range m.stack { // a rotation: any of them
			m.enterDir(d, m.options.physical)
		}
		return Unsure
	}
	m.run.grow(16*len(m.stack) + len(m.dir))
	m.stack = append([]string{m.dir}, m.stack...)
	m.searchCDPATH(args[0])
	status := m.enterDir(args[0], m.options.physical)
	m.Print(m.dir + "\n")
	return status
}

func (m *Machine) popd(args []string) Status {
	if turnsStack(args) {
		m.world.Doubt(m, "a rotation of the directory stack")
	}
	if len(m.stack) == 0 {
		return Fails
	}
	m.enterDir(m.stack[0], m.options.physical)
	m.stack = m.stack[1:]
	return Succeeds
}

// turnsStack reports whether pushd or popd is called in a way that is not followed.
func turnsStack(args []string) bool {
	return len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '+' || args[0][0] == '-' && args[0] != "--")
}

func withoutFlags(args []string) []string {
	for len(args) > 0 && args[0] == "-n" {
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return args
}

// pwd prints the directory.
func (m *Machine) pwd(args []string) Status {
	dir := m.dir
	physical := m.options.physical
	for _, a := range args {
		physical = physical && a != "-L" || a == "-P"
	}
	if physical {
		dir = m.world.Real(dir)
	}
	m.Print(path.Clean(dir) + "\n")
	return Succeeds
}
