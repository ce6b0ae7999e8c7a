package policy

import (
	"testing"

	"cordon/internal/paths"
)

// Hides says what the expanded denies say.
func TestHidesAgrees(t *testing.T) {
	p := Default()
	p.Filesystem.DenyRead = []string{DefaultUnread, "secrets/**", "*.key", "~/notes", "../../**"}
	p.Filesystem.ReadRoots = []string{"/", "~/.npmrc"}
	for _, tree := range []string{"/w/repo/.worktrees/s1", "/home/a/.local/state/cordon/x/trees/one", "/var/log/tree"} {
		r, err := Compile(p, Location{Worktree: tree, Home: "/home/a"})
		if err != nil {
			t.Fatal(err)
		}
		places := []string{tree, tree + "/src/x", tree + "/secrets/x", tree + "/a.key", "/etc/passwd", "/etc/shadow", "/etc/shadowy", "/etc/ssh/ssh_host_rsa_key", "/home/a", "/home/a/notes/x", "/home/a/.npmrc", "/w/repo/x", "/w/x", "/var/log/syslog", "/var/logs"}
		for _, row := range UnreadByDefault() {
			place := row.Entry
			if place[0] == '~' {
				place = "/home/a" + place[1:]
			}
			places = append(places, place, place+"/below", place+"x", place[:len(place)-1])
		}
		denies := r.DenyRead()
		for _, place := range places {
			want := false
			for _, d := range denies {
				want = want || d.Covers(place)
			}
			if paths.Within(place, tree) { // built-in rows are not about the tree
				want = false
				for _, d := range r.denyRead {
					want = want || d.Covers(place)
				}
			}
			if got := r.Hides(place); got != want {
				t.Errorf("in %s: Hides(%s) is %v, the denies say %v", tree, place, got, want)
			}
		}
	}
}
