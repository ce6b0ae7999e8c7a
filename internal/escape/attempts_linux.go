package escape

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// attempt is how an attempt is done.
type attempt struct {
	prepare func(*Fixture) error            // on the host, before
	attack  func(*Arena) error              // inside; a shell line is run by shell
	judge   func(*Fixture) (string, error)  // on the host, after: what escaped, or ""
	during  func(*Fixture, <-chan struct{}) // on the host, while it runs

	tree   tree          // what the working directory is
	policy string        // of cordon, where the default says nothing about it
	alone  bool          // disturbs others, or is disturbed by them
	limit  time.Duration // for one run; 0: a few seconds
	tries  string        // a file of the machine without which there is no control
	twice  bool          // what the first run left is there for the second
	launch bool          // what is attacked is the launch itself: cordon may refuse it
	final  bool          // its judge has looked at files already, and changed them since
}

// tree is what an attack works in.
type tree int

const (
	treePlain  tree = iota // a directory that is no repository
	treeLinked             // a linked worktree of a repository that lies elsewhere
	treeMain               // a checkout with its own .git directory
)

// groups lists the groups in the order of the table.
var groups = []struct {
	name     string
	attempts func() []Attempt
}{
	{"files", files},
	{"metadata", metadata},
	{"proc", procs},
	{"descriptors", descriptors},
	{"namespaces", namespaces},
	{"mounts", mounts},
	{"devices", devices},
	{"secrets", secrets},
	{"processes", processes},
	{"ipc", ipc},
	{"network", network},
	{"syscalls", syscalls},
	{"terminal", terminal},
	{"git", gitRows},
	{"resources", resources},
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
	"secrets-(home-ssh-key|home-aws|home-npmrc|home-bash-history|way-rename|way-symlink|env-github-token|environ-parent|environ-any|sibling|checkout|state|shadow|other-home|in-tmp)",
	"processes-(kill|pidfd|sigio|nice|ptrace|vm-write|survive-session|survive-kill)",
	"ipc-(stream|abstract-stream|tree-stream|socketpair-sendmsg|socket-docker|agent-variable|sysv-shm|posix-mq|key-user)",
	"network-(tcp4|tcp6|udp4|raw|sniff|bind-tcp)",
	"syscalls-(int80-write|int80-kill|int80-unix|io-uring|bpf|userfaultfd|keyctl)",
	"terminal-(type-stdin|type-stderr|read-stderr|modes-stdin|other-write)",
	"git-launch-(fsmonitor|git-file|path)",
	"git-linked-(01-.*|04-.*|18-.*|19-.*|22a-.*|28-.*|36-.*|44-.*|56-.*)",
	"git-checkout-(01-.*|19b-.*)",
	"resources-(processes|memory|disk-tree)",
}

// Attempts lists every attempt.
func Attempts() []Attempt {
	var list []Attempt
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

func find(name string) (Attempt, error) {
	for _, a := range Attempts() {
		if a.Name == name {
			return a, nil
		}
	}
	return Attempt{}, fmt.Errorf("there is no attempt %q", name)
}
