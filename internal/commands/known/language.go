package known

import "strings"

// language does what the kinds say whose values are a small language.
func (g *reading) language(kind, v, why string) {
	switch kind {
	case "socket": // who may talk to a container service may do everything
		if strings.HasSuffix(v, "docker.sock") || strings.HasSuffix(v, "podman.sock") || strings.HasSuffix(v, "containerd.sock") {
			g.ask("it talks to the container engine", "")
			return
		}
		g.value("read", v, why)
	case "ldflags":
		for _, f := range strings.Fields(v) {
			if strings.HasPrefix(strings.TrimLeft(f, "-"), "ext") || strings.HasPrefix(f, "../") || strings.HasPrefix(f, "/") {
				g.value("loose", f, why)
			}
		}
	case "macro": // of rpm: %(command)
		if _, code, ok := strings.Cut(v, "%("); ok {
			g.value("code", strings.TrimSuffix(code, ")"), why)
		}
	case "tex":
		if strings.HasPrefix(v, `\`) {
			g.value("opaque", v, why)
			return
		}
		g.value("read", v, why)
	case "hgconfig": // some settings of Mercurial and its like run something
		_, value, _ := strings.Cut(v, "=")
		g.value("code", strings.TrimPrefix(value, "!"), why)
		g.value("loose", v, why)
	case "expression": // the program of yq, which may load files, or the file alone
		if strings.Contains(v, "load") {
			g.value("loose", v, why)
			return
		}
		g.value("spec", v, why)
	case "target": // of bazel: //package:name, or an argument of what it runs
		if !strings.HasPrefix(v, "//") && !strings.HasPrefix(v, "@") && !strings.HasPrefix(v, ":") {
			g.value("arg", v, why)
		}
	}
}

// atStart is what less and its like do first, after a plus: a ! runs a command.
func (g *reading) atStart() {
	for _, a := range g.call.Args[1:] {
		if code, ok := strings.CutPrefix(strings.TrimLeft(a, "+"), "!"); ok && a[0] == '+' {
			g.value("code", code, "+!")
		}
	}
}
