package escape

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"cordon/internal/escape/arena"
	"cordon/internal/escape/channels"
	"cordon/internal/escape/files"
	"cordon/internal/escape/kernel"
)

// groups lists the groups in the order of the table.
var groups = []struct {
	name     string
	attempts func() []arena.Attempt
}{
	{"files", files.Files},
	{"metadata", files.Metadata},
	{"proc", kernel.Procs},
	{"descriptors", channels.Descriptors},
	{"namespaces", kernel.Namespaces},
	{"mounts", kernel.Mounts},
	{"devices", kernel.Devices},
	{"secrets", files.Secrets},
	{"processes", channels.Processes},
	{"ipc", channels.Ipc},
	{"network", channels.Network},
	{"syscalls", kernel.Syscalls},
	{"terminal", channels.Terminal},
	{"git", files.Git},
	{"resources", kernel.Resources},
}

// quick names a few attempts of every kind, for who has seconds and not minutes.
// It is made when it is asked for: who starts cordon for anything else, a hook
// above all, does not wait for it.
var quick = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(` + strings.Join(quickly[:], "|") + `)$`) })

var quickly = [...]string{
	"files-(write|create|unlink|rename-exchange|link-in|tmpfile|through-symlink|symlink-race|moved-directory|self-root|parent-root|any-root|tree-rename|mmap|io-uring)",
	"files-(hard-link-write|home-bashrc|home-authorized-keys|place-tmp|place-etc)",
	"metadata-(chmod|fchmodat2|utimes|setxattr|acl|inode-flags|file-setattr|chown|tree-setuid|tree-setuid-create)",
	"proc-(mem-write|environ|cmdline|fd-walk|oom-score-adj|core-pattern|kmsg-read)",
	"descriptors-(inherited-write|inherited-reopen|inherited-directory|inherited-socket|stdin-reopen|stdin-directory|stdin-secret|stdout-reopen)",
	"namespaces-(setns-mount|user-capabilities|user-unmask|user-bind|pidfd-getfd|no-new-privileges|seccomp-off|capabilities-effective|same-.*)",
	"mounts-(bind|remount|fsmount|open-tree-below|chroot|umount|handle-write|release-agent)",
	"devices-(mknod|disk|open-fuse)",
	"secrets-(home-unknown-file|home-other-repository|home-names|toolchain-is-link)",
	"secrets-(home-ssh-key|home-aws|home-npmrc|home-bash-history|way-rename|way-symlink|env-github-token|environ-parent|environ-any|sibling|checkout|state|shadow|other-home|other-home-mount|closed-mount|in-tmp)",
	"processes-(kill|pidfd|sigio|nice|ptrace|vm-write|traced-.*|survive-session|survive-kill)",
	"ipc-(stream|abstract-stream|tree-stream|socketpair-sendmsg|socket-docker|agent-variable|sysv-shm|posix-mq|key-user)",
	"network-(tcp4|tcp6|udp4|raw|sniff|bind-tcp)",
	"syscalls-(int80-write|int80-kill|int80-unix|io-uring|bpf|userfaultfd|keyctl)",
	"terminal-(type-stdin|type-stderr|read-stderr|modes-stdin|other-write)",
	"git-launch-(fsmonitor|git-file|path)",
	"git-(placed-.*|lost-stash)",
	"git-linked-(01-.*|04-.*|18-.*|19-.*|22a-.*|28-.*|36-.*|44-.*|56-.*)",
	"git-checkout-(01-.*|19b-.*)",
	"resources-(processes|memory|hidden-thread|hidden-descriptors|hidden-name|disk-tree)",
}

// Attempts lists every attempt.
func Attempts() []arena.Attempt {
	var list []arena.Attempt
	for _, g := range groups {
		for _, a := range g.attempts() {
			a.Group = g.name
			a.Name = g.name + "-" + a.Name
			a.Quick = quick().MatchString(a.Name)
			list = append(list, a)
		}
	}
	return list
}

func find(name string) (arena.Attempt, error) {
	for _, a := range Attempts() {
		if a.Name == name {
			return a, nil
		}
	}
	return arena.Attempt{}, fmt.Errorf("there is no attempt %q", name)
}

// Main runs one attack: its name and its Arena as JSON. It is what the confined
// side of an attempt executes, and returns the exit status.
func Main(args []string) int {
	if len(args) > 0 && args[0] == arena.VictimMode {
		return arena.RunVictim(args[1:])
	}
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: attempt NAME ARENA")
		return 2
	}
	at, err := find(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	a := &arena.Arena{}
	if err := json.Unmarshal([]byte(args[1]), a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if a.Stage == "" {
		a.Reached()
	}
	if err := at.Attack(a); err != nil {
		a.Note("ended: %v", err)
		return 1
	}
	a.Note("ended: done")
	return 0
}
