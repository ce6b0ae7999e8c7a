package host

import (
	"slices"
	"testing"

	"cordon/internal/cell/plan"
)

// A file system that is mounted twice shows what is hidden twice.
func TestAttackOtherMounts(t *testing.T) {
	mounts := []plan.MountPoint{
		{At: "/", Type: "ext4", Dev: "8:1", Root: "/"}, {At: "/home", Type: "ext4", Dev: "8:2", Root: "/"},
		{At: "/mnt/all", Type: "ext4", Dev: "8:2", Root: "/"}, {At: "/mnt/me", Type: "ext4", Dev: "8:2", Root: "/me"},
		{At: "/mnt/keys", Type: "ext4", Dev: "8:2", Root: "/me/.ssh"}, {At: "/mnt/other", Type: "ext4", Dev: "8:2", Root: "/you"},
	}
	got := aliases(mounts, plan.Order{Hide: []string{"/home/me/.ssh", "/etc/shadow"}})
	if want := []string{"/mnt/all/me/.ssh", "/mnt/me/.ssh", "/mnt/keys"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
