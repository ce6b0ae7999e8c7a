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
	got = aliases(mounts, plan.Order{Home: "/home/me", Read: []string{"/"}})
	if want := []string{"/mnt/all/me", "/mnt/me", "/mnt/keys"}; !slices.Equal(got, want) {
		t.Errorf("of a home that begins empty: %v, want %v", got, want)
	}
	bound := append(slices.Clone(mounts[:2]), plan.MountPoint{At: "/home/me/.ssh", Type: "ext4", Dev: "8:1", Root: "/data/ssh"},
		plan.MountPoint{At: "/home/you", Type: "ext4", Dev: "8:1", Root: "/homes/you"}, plan.MountPoint{At: "/home/me/.cache", Type: "ext4", Dev: "8:1", Root: "/data/cache"})
	got = aliases(bound, plan.Order{Home: "/home/me", Hide: []string{"/home"}, Read: []string{"/"}, Over: []plan.Over{{At: "/home/me/.cache"}}})
	if want := []string{"/data/ssh", "/homes/you"}; !slices.Equal(got, want) {
		t.Errorf("of what is mounted in what is hidden: %v, want %v", got, want)
	}
	if got = aliases(mounts, plan.Order{Home: "/home/me", Read: []string{"/", "/home/me"}}); got != nil {
		t.Errorf("of a home that is read: %v", got)
	}
}

// Find tells a plan of them.
func TestFindNamesOtherMounts(t *testing.T) {
	mounts := []plan.MountPoint{{At: "/", Type: "ext4", Dev: "8:1", Root: "/"}, {At: "/mnt/all", Type: "ext4", Dev: "8:1", Root: "/"}}
	for hidden, want := range map[string][]string{"/home/me/.ssh": {"/mnt/all/home/me/.ssh"}, "": nil} {
		o := plan.Order{}
		if hidden != "" {
			o.Hide = []string{hidden}
		}
		h, err := Find(o, Survey{host: plan.Host{Mounts: mounts, Kinds: map[string]plan.Kind{}, Lists: map[string][]plan.Entry{}}})
		if err != nil || !slices.Equal(h.Aliases, want) {
			t.Errorf("%q is hidden: %v, %v, want %v", hidden, h.Aliases, err, want)
		}
	}
}
