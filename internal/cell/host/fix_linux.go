package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/cell/plan"
)

// namespaceSettings are the switches with which systems refuse user namespaces, the
// value that refuses, and what lets them be made. Those that always refuse let one be
// made and then take its rights away.
var namespaceSettings = []struct {
	name, refusing, NotHeldWithout, Fix string
	always                              bool
}{
	{
		"kernel/apparmor_restrict_unprivileged_userns", "1", "takes all rights in a new user namespace away",
		"install deploy/cordon.apparmor as /etc/apparmor.d/cordon and type sudo apparmor_parser -r /etc/apparmor.d/cordon " +
			"(or, for every program: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0)", true,
	},
	{"kernel/unprivileged_userns_clone", "0", "refuses user namespaces to ordinary users", "sudo sysctl kernel.unprivileged_userns_clone=1", false},
	{"user/max_user_namespaces", "0", "refuses user namespaces to everybody", "sudo sysctl user.max_user_namespaces=15000", false},
}

// MissingLayer is what an operator is told of a layer that failed.
func MissingLayer(e *plan.LayerError) plan.Missing {
	return plan.Missing{Layer: e.Layer, Why: e.Err.Error(), Means: plan.NotHeldWithout[e.Layer], Fix: Fix(e)}
}

// Fix is what would let a layer be put up, where that is known.
func Fix(failed *plan.LayerError) string {
	var old *tooOldError
	if errors.As(failed, &old) {
		return "Linux " + Floor + " or newer"
	}
	switch failed.Layer {
	case plan.Namespaces:
		if list := Restrictions(); len(list) > 0 {
			return lifted(list)
		}
		return "run cordon where user namespaces may be made: not inside another sandbox, a chroot or a container that forbids them (docs/containers.md)"
	case plan.CopyView:
		return "Linux 5.11 or newer with overlayfs, and XDG_STATE_HOME on a file system that can be an upper layer (ext4, xfs, btrfs, tmpfs): " +
			"in a container that is a volume, and cordon doctor names the line"
	case plan.Landlock:
		return "Linux 5.13 or newer with landlock in the kernel's list lsm="
	case plan.Network:
		return "a kernel in which the loopback of a new network namespace takes addresses and routes, or say network.via: proxy in the policy"
	case plan.Seccomp:
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
