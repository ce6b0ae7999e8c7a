package guard

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// act is one path that a process gave to the kernel.
type act struct {
	program string // that made it, by its name
	by      string // the program that started it
	call    string // the system call
	role    role
	path    string // physical
	typed   string // as the program gave it, made absolute
	failed  bool
}

// role is what an act does. Looking is less than reading: it tells that something
// is there, and no more.
type role string

const (
	looks  role = "looks at"
	reads  role = "reads"
	writes role = "writes"
	enters role = "enters"
	starts role = "runs"
)

// operand says where a system call has a path.
type operand struct {
	at, path int // arguments; at is -1 without a directory
	role     role
	last     bool // a link as the last component is followed
}

// operands are those of a system call; false is a call that has none.
func operands(name string) ([]operand, bool) {
	switch name {
	case "open", "creat":
		return []operand{{-1, 0, reads, true}}, true
	case "openat", "openat2":
		return []operand{{0, 1, reads, true}}, true
	case "execve":
		return []operand{{-1, 0, starts, true}}, true
	case "execveat":
		return []operand{{0, 1, starts, true}}, true
	case "chdir", "chroot":
		return []operand{{-1, 0, enters, true}}, true
	case "inotify_add_watch":
		return []operand{{-1, 1, reads, true}}, true
	case "stat", "access", "statfs", "getxattr", "listxattr":
		return []operand{{-1, 0, looks, true}}, true
	case "lstat", "readlink", "lgetxattr", "llistxattr":
		return []operand{{-1, 0, looks, false}}, true
	case "newfstatat", "statx", "faccessat", "faccessat2", "readlinkat", "name_to_handle_at":
		return []operand{{0, 1, looks, false}}, true
	case "mkdir", "rmdir", "unlink", "mknod", "lchown", "lsetxattr", "lremovexattr":
		return []operand{{-1, 0, writes, false}}, true
	case "chmod", "chown", "truncate", "utime", "utimes", "setxattr", "removexattr":
		return []operand{{-1, 0, writes, true}}, true
	case "mkdirat", "unlinkat", "mknodat":
		return []operand{{0, 1, writes, false}}, true
	case "fchmodat", "fchmodat2", "fchownat", "utimensat", "futimesat":
		return []operand{{0, 1, writes, true}}, true
	case "rename":
		return []operand{{-1, 0, writes, false}, {-1, 1, writes, false}}, true
	case "renameat", "renameat2":
		return []operand{{0, 1, writes, false}, {2, 3, writes, false}}, true
	case "link":
		return []operand{{-1, 0, reads, false}, {-1, 1, writes, false}}, true
	case "linkat":
		return []operand{{0, 1, reads, false}, {2, 3, writes, false}}, true
	case "symlink":
		return []operand{{-1, 1, writes, false}}, true
	case "symlinkat":
		return []operand{{1, 2, writes, false}}, true
	case "mount", "umount2", "umount", "pivot_root", "swapon", "acct", "quotactl":
		return []operand{{-1, 0, writes, true}}, true
	}
	return nil, false
}

// pathless are the calls of the filter that name no path, or only print one.
func pathless(name string) bool {
	switch name {
	case "???": // a call that its process was ended in
		return true
	case "getcwd", "fchdir", "clone", "clone3", "fork", "vfork", "wait4", "waitid", "exit", "exit_group", "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal":
		return true
	}
	return false
}

// trace is what strace wrote, read again.
type trace struct {
	acts    []act
	strange []string // lines that are not understood
}

// process is what the reader knows about one.
type process struct{ dir, program, by string }

// reader reads a trace line by line.
type reader struct {
	trace
	files   moved             // for links of the fixture
	links   map[string]string // that the commands made
	parents map[string]string
	known   map[string]*process
	begun   map[string]string // calls that are not finished
	start   string
}

// readTrace understands what strace -f -y wrote.
func readTrace(text string, files moved, start string) trace {
	r := &reader{files: files, links: map[string]string{}, parents: map[string]string{}, known: map[string]*process{}, begun: map[string]string{}, start: start}
	var lines [][3]string // process, call, result
	for line := range strings.Lines(text) {
		pid, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if call, result, ok := r.whole(pid, strings.TrimLeft(rest, " ")); ok {
			lines = append(lines, [3]string{pid, call, result})
			if forks(call) {
				r.parents[strings.Fields(result + " ?")[0]] = pid
			}
		}
	}
	for _, l := range lines {
		r.line(l[0], l[1], l[2])
	}
	return r.trace
}

func forks(call string) bool {
	return strings.HasPrefix(call, "clone") || strings.HasPrefix(call, "fork") || strings.HasPrefix(call, "vfork")
}

// whole joins the two halves of a call that another process interrupted.
func (r *reader) whole(pid, line string) (call, result string, ok bool) {
	if strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---") || line == "" {
		return "", "", false
	}
	if head, found := strings.CutSuffix(line, " <unfinished ...>"); found {
		r.begun[pid] = head
		return "", "", false
	}
	if rest, found := strings.CutPrefix(line, "<... "); found {
		_, rest, _ = strings.Cut(rest, " resumed>")
		line = r.begun[pid] + rest
		delete(r.begun, pid)
	}
	i := strings.LastIndex(line, " = ")
	if i < 0 {
		return line, "?", true
	}
	return strings.TrimRight(line[:i], " "), line[i+3:], true
}

// process is the one with an id; a new one has what its parent has.
func (r *reader) process(pid string) *process {
	if p := r.known[pid]; p != nil {
		return p
	}
	p := &process{dir: r.start, program: "bash"}
	if parent := r.parents[pid]; parent != "" && parent != pid {
		*p = *r.process(parent)
	}
	r.known[pid] = p
	return p
}

// line understands one call.
func (r *reader) line(pid, call, result string) {
	name, rest, ok := strings.Cut(call, "(")
	args := arguments(strings.TrimSuffix(rest, ")"))
	failed := strings.HasPrefix(result, "-1")
	p := r.process(pid)
	list, named := operands(name)
	switch {
	case !ok || !named && !pathless(name):
		r.strange = append(r.strange, call)
	case name == "fchdir" && !failed && len(args) > 0:
		p.dir = annotation(args[0])
		r.acts = append(r.acts, act{p.program, p.by, name, enters, p.dir, p.dir, false})
	}
	for _, o := range list {
		if a, ok := r.act(p, name, args, o, result); ok {
			a.failed = failed
			r.acts = append(r.acts, a)
			r.after(p, a, args)
		}
	}
}

// act is one operand of a call.
func (r *reader) act(p *process, name string, args []string, o operand, result string) (act, bool) {
	if o.path >= len(args) {
		return act{}, false
	}
	given, ok := unquoted(args[o.path])
	if !ok || given == "" {
		return act{}, false // of a descriptor, which was opened before
	}
	dir := p.dir
	if o.at >= 0 {
		if at := annotation(args[o.at]); at != "" {
			dir = at
		}
	}
	flags := strings.Join(args[o.path+1:], " ")
	last := o.last && !strings.Contains(flags, "NOFOLLOW")
	typed := given
	if !strings.HasPrefix(given, "/") {
		typed = dir + "/" + given
	}
	a := act{program: p.program, by: p.by, call: name, role: o.role, path: r.resolve(typed, last), typed: path.Clean(typed)}
	if strings.HasPrefix(name, "open") || name == "creat" {
		if at := annotation(result); at != "" {
			a.path = strings.TrimSuffix(at, " (deleted)")
		}
		if name == "creat" || strings.Contains(flags, "O_WRONLY") || strings.Contains(flags, "O_RDWR") || strings.Contains(flags, "O_CREAT") || strings.Contains(flags, "O_TRUNC") {
			a.role = writes
		}
		if strings.Contains(flags, "O_PATH") {
			a.role = looks
		}
	}
	return a, true
}

// after keeps what a call changed: the directory, the program, a link.
func (r *reader) after(p *process, a act, args []string) {
	if a.failed {
		return
	}
	switch a.call {
	case "chdir":
		p.dir = a.path
	case "execve", "execveat":
		p.by, p.program = p.program, path.Base(a.path)
		if given, ok := unquoted(args[0]); ok && a.call == "execve" {
			p.program = path.Base(given)
		}
	case "symlink", "symlinkat":
		if to, ok := unquoted(args[0]); ok {
			r.links[a.path] = to
		}
	}
}

// resolve follows a path as the kernel did.
func (r *reader) resolve(p string, last bool) string {
	j := &judge{scope: &Scope{Files: traced{r.files, r.links}}, seen: newSeen(), links: map[string]string{}}
	if last {
		return j.follow(p).path
	}
	p = strings.TrimRight(p, "/")
	parent, name := path.Split(p)
	if name == ".." || name == "." || name == "" {
		return j.follow(p).path
	}
	return path.Join(j.follow(parent).path, name)
}

// traced is the fixture with the links that commands made in it.
type traced struct {
	moved
	made map[string]string
}

func (t traced) Readlink(p string) (string, error) {
	if to, ok := t.made[p]; ok {
		return to, nil
	}
	if !strings.HasPrefix(p, "/w/") && !strings.HasPrefix(p, "/home/agent/") {
		return os.Readlink(p)
	}
	return t.moved.Readlink(p)
}

// arguments splits the arguments of a call at its own commas.
func arguments(s string) []string {
	var list []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return append(list, strings.TrimSpace(s[from:]))
}

// annotation is the path that strace gives with a descriptor: 3</a/b>.
func annotation(s string) string {
	i := strings.IndexByte(s, '<')
	if i < 0 || !strings.HasPrefix(s[i:], "</") {
		return ""
	}
	return octal(strings.TrimSuffix(strings.TrimRight(s[i+1:], " "), ">"))
}

// unquoted is the text of a C string.
func unquoted(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' {
		return "", false
	}
	return octal(strings.TrimSuffix(s[1:], `"`)), true
}

// octal undoes the escapes of strace.
func octal(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		n := 0
		for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
			n++
		}
		if v, err := strconv.ParseUint(s[i:i+n], 8, 8); n > 0 && err == nil {
			b.WriteByte(byte(v))
			i += n - 1
			continue
		}
		if k := strings.IndexByte("ntrvf", s[i]); k >= 0 {
			b.WriteByte("\n\t\r\v\f"[k])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
