package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// container is one row: what a runtime is told, as an OCI bundle.
type container struct {
	root    bool     // uid 0 with Docker's capabilities; otherwise uid 1000 with none
	users   bool     // a user namespace of its own, as hostUsers: false gives
	masked  bool     // /proc as runtimes mask it
	profile *profile // of seccomp; nil: unconfined
	overlay bool     // the root is an overlay, as real runtimes have it
	inRoot  bool     // cordon's state is on the root, and not on a volume
	env     []string
	files   []string // empty ones in the root, by which a runtime is known
}

// profile is a seccomp profile in the form that runtimes are given.
type profile struct {
	DefaultAction   string        `json:"defaultAction"`
	DefaultErrnoRet *uint         `json:"defaultErrnoRet,omitempty"`
	Architectures   []string      `json:"architectures"`
	Syscalls        []profileRule `json:"syscalls"`
}

type profileRule struct {
	Names    []string        `json:"names"`
	Action   string          `json:"action"`
	ErrnoRet *uint           `json:"errnoRet,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Includes struct {
		Caps   []string `json:"caps"`
		Arches []string `json:"arches"`
	} `json:"includes,omitzero"`
	Excludes struct {
		Caps []string `json:"caps"`
	} `json:"excludes,omitzero"`
}

func readProfile(t *testing.T, path string) *profile {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &profile{}
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
	// As a runtime reads it for a container without capabilities on this machine.
	p.Syscalls = slices.DeleteFunc(p.Syscalls, func(r profileRule) bool {
		return len(r.Includes.Caps) > 0 || len(r.Includes.Arches) > 0 && !slices.Contains(r.Includes.Arches, "amd64")
	})
	for i := range p.Syscalls {
		p.Syscalls[i].Includes.Arches, p.Syscalls[i].Excludes.Caps = nil, nil
	}
	return p
}

// without is the profile that we ship, less some of the calls that it adds.
func (p profile) without(calls ...string) *profile {
	p.Syscalls = slices.Clone(p.Syscalls)
	last := &p.Syscalls[len(p.Syscalls)-1]
	last.Names = slices.DeleteFunc(slices.Clone(last.Names), func(name string) bool { return slices.Contains(calls, name) })
	if slices.Contains(calls, "clone") { // without new namespaces it is allowed
		p.Syscalls = append(p.Syscalls, profileRule{
			Names: []string{"clone"}, Action: "SCMP_ACT_ALLOW", Args: json.RawMessage(`[{"index": 0, "value": 2114060288, "op": "SCMP_CMP_MASKED_EQ"}]`),
		})
	}
	return &p
}

// dockerDefault is what Docker and containerd give a container that asks for nothing.
func (p profile) dockerDefault() *profile {
	d := p.without(p.Syscalls[len(p.Syscalls)-1].Names...)
	enosys := uint(unix.ENOSYS)
	d.Syscalls = slices.DeleteFunc(d.Syscalls, func(r profileRule) bool { return len(r.Names) == 0 })
	d.Syscalls = append(d.Syscalls, profileRule{Names: []string{"clone3"}, Action: "SCMP_ACT_ERRNO", ErrnoRet: &enosys})
	return d
}

const (
	containerState = "/home/u/.local/state/cordon"
	mappedTo       = 100000 // where the ids of a container with its own users begin
)

// containerScript is what runs inside: every front door once.
const containerScript = `cd /home/u && git init -q -b main repo && cd repo && echo a >a && git add a && git commit -q -m base || exit 99
echo "== exec"; cordon exec -v -- true; echo "rc=$?"
echo "== run"; cordon run --merge -- sh -c 'echo b >b'; echo "rc=$?"
echo "== doctor"; cordon doctor; echo "rc=$?"
`

// containerRun is what came out of a container.
type containerRun struct {
	text  string
	parts map[string]string // by front door; the last line is its exit status
}

func (r containerRun) rc(door string) string {
	_, rc, _ := strings.Cut(r.parts[door], "\nrc=")
	if rc == "" {
		rc, _ = strings.CutPrefix(r.parts[door], "rc=")
	}
	return strings.TrimSpace(rc)
}

// runIn runs a script in a container, with runc.
func (c container) runIn(t *testing.T, script string) containerRun {
	t.Helper()
	bundle, err := os.MkdirTemp("/var/tmp", "cordon-bundle-") // the users of a container go through it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(bundle) })
	c.build(t, bundle)
	spec, err := json.MarshalIndent(c.spec(bundle, script), "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(bundle, "config.json"), spec, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	id := filepath.Base(bundle)
	cmd := exec.CommandContext(t.Context(), "runc", "--root", filepath.Join(bundle, "runc"), "run", "--bundle", bundle, id)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "rc=") {
		t.Fatalf("runc: %v\n%s", err, out)
	}
	return parseRun(string(out))
}

func parseRun(text string) containerRun {
	r := containerRun{text: text, parts: map[string]string{}}
	for _, part := range strings.Split(r.text, "== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		r.parts[name] = text
	}
	return r
}

// build lays out a root: the system's own /usr, and an /etc and a home of its own.
func (c container) build(t *testing.T, bundle string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(bundle, 0o755))
	lower := filepath.Join(bundle, "lower")
	for _, dir := range []string{
		"rootfs", "upper", "work", "state",
		"lower/proc", "lower/sys", "lower/dev", "lower/usr", "lower/etc", "lower/tmp", "lower/var/tmp", "lower/run", "lower/home/u/.cache",
	} {
		must(os.MkdirAll(filepath.Join(bundle, dir), 0o755))
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		must(os.Symlink("usr/"+name, filepath.Join(lower, name)))
	}
	for name, text := range map[string]string{
		"etc/passwd": "root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\n", "etc/group": "root:x:0:\nu:x:1000:\n",
		"etc/hosts": "127.0.0.1 localhost\n", "etc/hostname": "box\n", "etc/resolv.conf": "", "etc/gshadow": "root:*::\n",
		"home/u/.gitconfig": "[user]\n\tname = u\n\temail = u@example.invalid\n",
	} {
		must(os.WriteFile(filepath.Join(lower, name), []byte(text), 0o644))
	}
	for _, name := range c.files {
		must(os.WriteFile(filepath.Join(lower, name), nil, 0o644))
	}
	for _, dir := range []string{"tmp", "var/tmp"} {
		must(os.Chmod(filepath.Join(lower, dir), 0o1777))
	}
	must(filepath.WalkDir(lower, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(lower, path)
		owner := 0
		if !c.root && (rel == "home/u" || strings.HasPrefix(rel, "home/u/")) {
			owner = 1000
		}
		return chownOnce(err, path, c.onHost(owner))
	}))
	uid := 1000
	if c.root {
		uid = 0
	}
	must(chownOnce(nil, filepath.Join(bundle, "state"), c.onHost(uid)))
	must(chownOnce(nil, filepath.Join(bundle, "upper"), c.onHost(0)))
	root := filepath.Join(bundle, "rootfs")
	if c.overlay {
		must(unix.Mount("overlay", root, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", lower, bundle, bundle)))
	} else {
		must(unix.Mount(lower, root, "", unix.MS_BIND, ""))
	}
	t.Cleanup(func() {
		if err := unix.Unmount(root, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func chownOnce(err error, path string, id int) error {
	if err != nil {
		return err
	}
	return os.Lchown(path, id, id)
}

func (c container) onHost(id int) int {
	if c.users {
		return mappedTo + id
	}
	return id
}

// spec is the runtime's configuration, as Docker and Kubernetes write it.
func (c container) spec(bundle, script string) map[string]any {
	type object = map[string]any
	bind := func(from, at string, options ...string) object {
		return object{"destination": at, "type": "bind", "source": from, "options": append([]string{"rbind"}, options...)}
	}
	etc := filepath.Join(bundle, "lower/etc")
	mounts := []object{
		{"destination": "/proc", "type": "proc", "source": "proc"},
		{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}},
		{"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
		{"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": []string{"nosuid", "noexec", "nodev"}},
		{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": []string{"nosuid", "noexec", "nodev", "ro"}},
		bind("/usr", "/usr", "ro"), bind(filepath.Dir(containerProgram), "/opt/cordon", "ro"),
		bind(etc+"/hosts", "/etc/hosts"), bind(etc+"/hostname", "/etc/hostname"), bind(etc+"/resolv.conf", "/etc/resolv.conf"),
	}
	if !c.inRoot {
		mounts = append(mounts, bind(filepath.Join(bundle, "state"), containerState, "rw"))
	}
	caps, uid := []string{}, 1000
	if c.root {
		uid, caps = 0, []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID",
			"CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE"}
	}
	linux := object{"namespaces": []object{{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}}}
	if c.users {
		linux["namespaces"] = append(linux["namespaces"].([]object), object{"type": "user"})
		ids := []object{{"containerID": 0, "hostID": mappedTo, "size": 65536}}
		linux["uidMappings"], linux["gidMappings"] = ids, ids
	}
	if c.masked {
		linux["maskedPaths"] = []string{"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
			"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"}
		linux["readonlyPaths"] = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
	}
	if c.profile != nil {
		linux["seccomp"] = c.profile
	}
	return object{
		"ociVersion": "1.0.2", "hostname": "box", "root": object{"path": "rootfs"}, "mounts": mounts, "linux": linux,
		"process": object{
			"user": object{"uid": uid, "gid": uid}, "args": []string{"/bin/sh", "-c", "exec 2>&1\n" + script}, "cwd": "/", "noNewPrivileges": !c.root,
			"env":          append([]string{"PATH=/opt/cordon:/usr/bin:/bin", "HOME=/home/u", "TERM=xterm", "GIT_CONFIG_NOSYSTEM=1"}, c.env...),
			"capabilities": object{"bounding": caps, "effective": caps, "permitted": caps},
		},
	}
}

// containerProgram is the real program, in a directory of its own.
var containerProgram string

// needsRuntime ends a test that cannot run: a missing runtime is not a pass.
func needsRuntime(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("containers are started by root here")
	}
	if _, err := exec.LookPath("runc"); err != nil {
		t.Fatal("there is no runc: apt-get install runc (.ci/run does)")
	}
	containerProgram = realProgram(t)
}
