package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

var (
	ownProfile = runtimeLine{
		"--security-opt seccomp=cordon-seccomp.json", "--security-opt seccomp=cordon-seccomp.json",
		"securityContext.seccompProfile: {type: Localhost, localhostProfile: cordon-seccomp.json}",
	}
	unmasked  = runtimeLine{"--security-opt systempaths=unconfined", "--security-opt unmask=ALL", "hostUsers: false and securityContext.procMount: Unmasked"}
	noArmor   = runtimeLine{"--security-opt apparmor=unconfined", "--security-opt apparmor=unconfined", "securityContext.appArmorProfile: {type: Unconfined}"}
	noLabel   = runtimeLine{"--security-opt label=disable", "--security-opt label=disable", "securityContext.seLinuxOptions: {type: spc_t}"}
	aVolume   = runtimeLine{"-v cordon-state:%s", "-v cordon-state:%s", "volumeMounts: [{name: state, mountPath: %s}] and volumes: [{name: state, emptyDir: {}}]"}
	whereFrom = " (deploy/ and docs/containers.md of cordon have the files)"
)

// Container names the container runtime around this program; "": none was seen.
func Container() string {
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	switch {
	case os.Getenv("KUBERNETES_SERVICE_HOST") != "", there("/var/run/secrets/kubernetes.io"):
		return "Kubernetes"
	case there("/run/.containerenv"), os.Getenv("container") == "podman":
		return "podman"
	case there("/.dockerenv"):
		return "Docker"
	case os.Getenv("container") != "", filtered() && len(maskedProc()) > 0:
		return "a container"
	}
	return ""
}

// say is the runtimeLine in the words of a runtime, or of all where it is not known.
func (o runtimeLine) say(runtime string) string {
	switch runtime {
	case "Docker":
		return "docker run " + o.docker
	case "podman":
		return "podman run " + o.podman
	case "Kubernetes":
		return "in the pod: " + o.pod
	}
	return fmt.Sprintf("Docker: %s; podman: %s; Kubernetes: %s", o.docker, o.podman, o.pod)
}

// VolumeLine says how a container is given a volume for a directory; "": there is no
// container around.
func VolumeLine(dir string) string {
	runtime := Container()
	if runtime == "" {
		return ""
	}
	return strings.ReplaceAll(aVolume.say(runtime), "%s", dir)
}

// Restrictions looks for what keeps namespaces from being made and mounts from being
// made in them. It is asked when that has failed.
func Restrictions() []Restriction {
	var list []Restriction
	refused, err := refusedCalls()
	for _, s := range namespaceSettings {
		if setting(s.name) == s.refusing && (err != nil || s.always && os.Getuid() != 0) {
			name := strings.ReplaceAll(s.name, "/", ".")
			list = append(list, Restriction{Name: "sysctl", What: fmt.Sprintf("%s=%s %s", name, s.refusing, s.NotHeldWithout), Lift: s.Fix})
		}
	}
	if err != nil && len(list) == 0 && filtered() {
		refused = []string{"clone with new namespaces"}
	}
	if len(refused) > 0 {
		list = append(list, Restriction{Name: "seccomp", What: "the profile around cordon refuses " + strings.Join(refused, ", "), line: ownProfile})
	}
	if masked := maskedProc(); len(masked) > 0 {
		list = append(list, Restriction{Name: "/proc", What: "masked at " + shortList(masked) + ", so the kernel refuses a new one to a cell", line: unmasked})
	}
	if label := securityLabel(); strings.Contains(label, ":container_t:") {
		list = append(list, Restriction{Name: "SELinux", What: "label " + label + " refuses mounts", line: noLabel})
	} else if name, enforced := strings.CutSuffix(label, " (enforce)"); enforced && name != "cordon" && name != "unconfined" {
		list = append(list, Restriction{Name: "AppArmor", What: "profile " + name + " may refuse namespaces and mounts", line: noArmor})
	}
	runtime := Container()
	for i, r := range list {
		if r.line != (runtimeLine{}) {
			list[i].Lift = r.line.say(runtime)
		}
	}
	return list
}

// lifted is one text with the lines of all restrictions.
func lifted(list []Restriction) string {
	var joined runtimeLine
	var rest []string
	for _, r := range list {
		if r.line == (runtimeLine{}) {
			rest = append(rest, r.Lift)
			continue
		}
		join := func(to *string, separator, text string) { *to = strings.TrimPrefix(*to+separator+text, separator) }
		join(&joined.docker, " ", r.line.docker)
		join(&joined.podman, " ", r.line.podman)
		join(&joined.pod, ", ", r.line.pod)
	}
	if joined != (runtimeLine{}) {
		rest = append(rest, joined.say(Container())+whereFrom)
	}
	return strings.Join(rest, "; ")
}

func shortList(list []string) string {
	if len(list) > 3 {
		return strings.Join(list[:3], ", ") + fmt.Sprintf(" and %d more places", len(list)-3)
	}
	return strings.Join(list, ", ")
}

// filtered reports whether a seccomp filter is on this process already.
func filtered() bool {
	status, _ := os.ReadFile("/proc/self/status") // without it nothing is known
	return bytes.Contains(status, []byte("\nSeccomp:\t2\n"))
}

// maskedProc lists what is mounted below /proc.
func maskedProc() []string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	mounts, err := ParseMounts(text)
	if err != nil {
		return nil
	}
	var list []string
	for _, m := range mounts {
		if strings.HasPrefix(m.At, "/proc/") && m.At != "/proc/sys/fs/binfmt_misc" {
			list = append(list, m.At)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// securityLabel is what the security module calls this process.
func securityLabel() string {
	for _, name := range []string{"apparmor/current", "current"} {
		if text, err := os.ReadFile(filepath.Join("/proc/self/attr", name)); err == nil {
			return strings.TrimRight(string(text), "\x00\n")
		}
	}
	return ""
}

// FailedLayer is the layer that a launch failed for; nil: it did not fail for one. A call
// that something around cordon refuses is one that namespaces are built with.
func FailedLayer(err error) *plan.LayerError {
	var about *plan.LayerError
	if err == nil || errors.As(err, &about) {
		return about
	}
	if !strings.HasSuffix(err.Error(), unix.EPERM.Error()) && !strings.HasSuffix(err.Error(), unix.ENOSYS.Error()) {
		return nil
	}
	if calls, cerr := refusedCalls(); cerr != nil || len(calls) == 0 {
		return nil
	}
	return &plan.LayerError{Layer: plan.Namespaces, Err: err}
}

// CallsWord is how cordon starts itself to see which calls are refused.
const CallsWord = "cell-calls"

// buildingCalls are what a cell is built with. Each is made with arguments that the
// kernel refuses before it does anything: EPERM and ENOSYS are not its answers then.
var buildingCalls = []struct {
	name   string
	number uintptr
	args   [5]uintptr
}{
	{"mount", unix.SYS_MOUNT, [5]uintptr{1, 1, 1}},
	{"umount2", unix.SYS_UMOUNT2, [5]uintptr{1, 0x7fffffff}},
	{"pivot_root", unix.SYS_PIVOT_ROOT, [5]uintptr{1, 1}},
	{"open_tree", unix.SYS_OPEN_TREE, [5]uintptr{^uintptr(0), 1, 0x7fffffff}},
	{"move_mount", unix.SYS_MOVE_MOUNT, [5]uintptr{^uintptr(0), 1, ^uintptr(0), 1, 0x7fffffff}},
	{"mount_setattr", unix.SYS_MOUNT_SETATTR, [5]uintptr{^uintptr(0), 1, 0x7fffffff, 1}},
	{"fsopen", unix.SYS_FSOPEN, [5]uintptr{1, 0x7fffffff}},
	{"fsconfig", unix.SYS_FSCONFIG, [5]uintptr{^uintptr(0), 0x7fffffff}},
	{"fsmount", unix.SYS_FSMOUNT, [5]uintptr{^uintptr(0), 0x7fffffff}},
}

// refusedCalls starts this program in a user namespace of its own, where every one
// of the calls may be made, and lists those that are refused all the same.
func refusedCalls() ([]string, error) {
	var out bytes.Buffer
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"cordon", CallsWord}
	cmd.Dir, cmd.Env, cmd.Stdout = "/", []string{}, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return strings.Fields(out.String()), nil
}

// TryCalls is what is started: it prints the names of the calls that are refused.
func TryCalls() int {
	for _, c := range buildingCalls {
		_, _, errno := unix.Syscall6(c.number, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], 0)
		if errno == unix.EPERM || errno == unix.ENOSYS {
			fmt.Println(c.name)
		}
	}
	return 0
}
