package wrap

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// containerUse is the client of a container engine. What runs inside a container
// is not judged; what of this host it is given is.
func containerUse(name string, c commands.Call) (commands.Use, bool) {
	w := newWrapping(c)
	w.use.Out = mark.Any
	rest := c.Args[1:]
	if strings.HasSuffix(name, "-compose") {
		w.compose(rest)
		return w.done(), true
	}
	s := Scan(rest, "docker")
	w.takeAll(s)
	rest = s.Operands
	for len(rest) > 1 && isContainerGroup(rest[0]) {
		rest = Scan(rest[1:], "docker buildx").Operands
	}
	if len(rest) == 0 {
		return w.done(), true
	}
	w.container(rest[0], rest[1:])
	return w.done(), true
}

func isContainerGroup(word string) bool {
	return slices.Contains([]string{"container", "image", "builder", "buildx", "kube", "machine"}, word)
}

// container is one subcommand.
func (w *wrapping) container(sub string, rest []string) {
	switch sub {
	case "run", "create", "exec":
		w.containerRun(rest)
	case "build", "b":
		w.containerBuild(rest)
	case "bake":
		w.options(rest, "docker bake")
	case "compose":
		w.compose(rest)
	case "cp":
		w.containerCopy(scanAll(rest, "docker cp").Operands)
	case "save", "export":
		w.takeAll(scanAll(rest, "docker save"))
	case "load":
		w.takeAll(scanAll(rest, "docker load"))
	case "import":
		w.firstPath(scanAll(rest, "docker import").Operands)
	case "volume":
		w.takeAll(scanAll(rest, "docker volume"))
	case "unshare":
		w.command(w.options(rest, "docker unshare"), table.Shelled)
	case "ps", "ls", "images", "list":
		w.identities(scanAll(rest, "docker ps"))
	case "stack", "config", "secret", "play", "generate", "apply", "down", "up":
		s := scanAll(rest, "docker stack")
		w.takeAll(s)
		for _, word := range s.Operands {
			if argtext.LooksLikePath(word) {
				w.touch(commands.Read, word, "operand")
			}
		}
	}
}

// identities are the words that -q prints.
func (w *wrapping) identities(s *table.Parsed) {
	if s.Has("-q") && !s.Has("--format") {
		w.use.Out = mark.Atom + "\n"
	}
}

// firstPath reads an operand that is a file, an address or -.
func (w *wrapping) firstPath(rest []string) {
	if len(rest) > 0 && !strings.Contains(rest[0], "://") {
		w.touch(commands.Read, rest[0], "operand")
	}
}

// containerRun is run, create and exec. Its own options end at the image.
func (w *wrapping) containerRun(rest []string) {
	s := Scan(rest, "docker run")
	w.takeAll(s)
	w.unsure = false
	if s.Has("--rootfs") {
		w.operands(s.Operands, "write")
	}
	if s.Has("--privileged") {
		w.hostControl("--privileged")
	}
	if pid, _ := s.Value("--pid"); pid == "host" {
		w.hostControl("--pid=host")
	}
}

func (w *wrapping) hostControl(option string) {
	w.find(commands.Ask, "a container with "+option+" is not isolated from this host", "leave out "+option)
}

// volume is SOURCE:TARGET[:MODE]. A source without a slash is a volume's name.
func (w *wrapping) volume(text string) {
	src, rest, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	_, mode, _ := strings.Cut(rest, ":")
	readOnly := false
	for m := range strings.SplitSeq(mode, ",") {
		readOnly = readOnly || m == "ro" || m == "readonly"
	}
	w.bind(src, readOnly, "-v")
}

// bind gives a container a directory of this host.
func (w *wrapping) bind(src string, readOnly bool, why string) {
	if src == "" || !strings.ContainsAny(src, "/") && src[0] != '.' && src[0] != '~' && !mark.In(src) {
		return
	}
	if strings.HasSuffix(src, "docker.sock") || strings.HasSuffix(src, "podman.sock") || strings.HasSuffix(src, "containerd.sock") {
		w.find(commands.Deny, "it gives a container control of the container engine", "run it without the engine's socket")
		return
	}
	role := commands.Write
	if readOnly {
		role = commands.Read
	}
	w.touch(role, src, why)
}

// mount is --mount type=bind,source=…,target=….
func (w *wrapping) mount(text string) {
	src, kind, readOnly := "", "volume", false
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.Trim(field, `"`), "=")
		switch name {
		case "type":
			kind = value
		case "src", "source":
			src = value
		case "ro", "readonly":
			readOnly = value != "false" && value != "0"
		case "volume-opt":
			if device, path, _ := strings.Cut(value, "="); device == "device" {
				w.touch(commands.Write, path, "--mount")
			}
		}
	}
	if kind == "bind" || strings.Contains(src, "/") {
		if !strings.Contains(src, "/") {
			src = "./" + src
		}
		w.bind(src, readOnly, "--mount")
	}
}

// containerBuild is build: its operand is the directory it is made of.
func (w *wrapping) containerBuild(rest []string) {
	s := scanAll(rest, "docker build")
	w.takeAll(s)
	w.unsure = false
	w.firstPath(s.Operands)
}

// resource does what the kinds say that only container engines have.
func (w *wrapping) resource(o table.Option) {
	switch o.Kind {
	case "volume":
		w.volume(o.Value)
	case "mount":
		w.mount(o.Value)
	case "device":
		src, _, _ := strings.Cut(o.Value, ":")
		w.touch(commands.Write, src, o.At)
	case "context":
		if _, dir, ok := strings.Cut(o.Value, "="); ok && !strings.Contains(dir, ":") {
			w.touch(commands.Read, dir, o.At)
		}
	case "dest":
		w.buildField(o.Value, "dest", commands.Write, o.At)
	case "src":
		w.buildField(o.Value, "src", commands.Read, o.At)
		w.buildField(o.Value, "source", commands.Read, o.At)
	case "driver":
		w.buildField(o.Value+",", "device", commands.Write, o.At)
	}
}

// buildField takes one field out of an option such as type=local,dest=DIR.
func (w *wrapping) buildField(text, field string, role commands.Role, why string) {
	if !strings.Contains(text, "=") && role == commands.Write {
		w.touch(role, text, why)
		return
	}
	for part := range strings.SplitSeq(text, ",") {
		if name, value, _ := strings.Cut(part, "="); name == field {
			w.touch(role, value, why)
		}
	}
}

// containerCopy is cp: what has a colon is inside a container.
func (w *wrapping) containerCopy(operands []string) {
	for i, word := range operands {
		if at := strings.IndexByte(word, ':'); at > 0 && !strings.Contains(word[:at], "/") || word == "-" {
			continue
		}
		role := commands.Read
		if i == len(operands)-1 {
			role = commands.Write
		}
		w.touch(role, word, "operand")
	}
}

// compose is compose. What its files say is the project's business.
func (w *wrapping) compose(rest []string) {
	s := Scan(rest, "docker compose")
	// Files are named from where the caller is, not from the project's directory.
	for _, o := range s.Options {
		if o.Kind == "read" {
			w.take(o)
		}
	}
	for _, o := range s.Options {
		if o.Kind != "read" {
			w.take(o)
		}
	}
	w.unsure = false
	if len(s.Operands) == 0 {
		return
	}
	switch sub, rest := s.Operands[0], s.Operands[1:]; sub {
	case "run", "exec", "create":
		w.containerRun(rest)
	case "cp":
		w.container(sub, rest)
	case "config", "convert", "export":
		w.takeAll(scanAll(rest, "docker compose config"))
	}
}
