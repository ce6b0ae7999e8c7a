package cell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// namespaceSettings are the switches with which systems refuse user namespaces,
// the value that refuses, and what lets them be made.
var namespaceSettings = []struct{ name, refusing, fix string }{
	{"kernel/apparmor_restrict_unprivileged_userns", "1", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for cordon with userns"},
	{"kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"},
	{"user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=15000"},
}

// missing is what an operator is told of a layer that failed.
func (e *layerError) missing() Missing {
	return Missing{Layer: e.layer, Why: e.err.Error(), Means: means[e.layer], Fix: fix(e)}
}

// fix is what would let a layer be put up, where that is known.
func fix(failed *layerError) string {
	var old *tooOldError
	if errors.As(failed, &old) {
		return "Linux " + Floor + " or newer"
	}
	switch failed.layer {
	case Namespaces:
		for _, s := range namespaceSettings {
			if setting(s.name) == s.refusing {
				return s.fix
			}
		}
		if _, err := os.Stat("/.dockerenv"); err == nil {
			return "run the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
		}
		return "run cordon where user namespaces may be made: not inside another sandbox or a container that forbids them"
	case CopyView:
		return "Linux 5.11 or newer with overlayfs, and XDG_STATE_HOME on a file system that can be an upper layer (ext4, xfs, btrfs, tmpfs)"
	case Landlock:
		return "Linux 5.13 or newer with landlock among the kernel's lsm="
	case Network:
		return "a kernel in which the loopback of a new network namespace takes addresses and routes, or say network.via: proxy in the policy"
	case Seccomp:
		return "a kernel with CONFIG_SECCOMP_FILTER, on amd64 or arm64"
	}
	return ""
}

func setting(name string) string {
	text, err := os.ReadFile(filepath.Join("/proc/sys", name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
